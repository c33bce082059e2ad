"""What is stored as a file of another kind: the formats of `plimsoll report` and `plimsoll export`, and Locust's."""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import StreamingResponse

from plimsoll.errors import FieldError, RefError
from plimsoll.report import export as exports
from plimsoll.report import outputs
from plimsoll.report.assessment import assess
from plimsoll.report.html import html
from plimsoll.report.render import run_json
from plimsoll.report.render.analysis_csv import TABLES
from plimsoll.report.render.locust_json import locust_json
from plimsoll.report.render.locust_kept import csv_history, csv_tables
from plimsoll.server.history.pages import analysis_of, refs_of, wanted_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.stats.analysis import Analysis
    from plimsoll.store import StoredRun

_PIECE = 2**18
_WIDTH = 120
"""Of tables as text."""
ZIP = ".zip"

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xml": "application/xml",
    "zip": "application/zip",
    "parquet": "application/vnd.apache.parquet",
}
"""By suffix; others are plain text."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file of a run. write: into this folder, which is deleted once it is sent; the path of the file."""

    suffix: str
    write: Callable[[StoredRun, Path], Path]


def _exported(run: StoredRun, folder: Path, *, format: str) -> Path:
    path = folder / f"run.{format}"
    exports.export(run, format, str(path))
    return path


def _json(run: StoredRun, folder: Path) -> Path:
    view = RunView.of(run)
    return _text(folder, run_json.dumps(run_json.document(view, run, assess(view, run.manifest, run.facts))) + "\n")


def _html(run: StoredRun, folder: Path) -> Path:
    view = RunView.of(run)
    return _text(folder, html(view, run, assess(view, run.manifest, run.facts)))


def _locust_json(run: StoredRun, folder: Path) -> Path:
    return _text(folder, locust_json(RunView.of(run), run.started) + "\n")


def _locust_csv(run: StoredRun, folder: Path, *, what: str) -> Path:
    csv_tables(run, str(folder / "run"))
    return folder / f"run_{what}.csv"


def _locust_history(run: StoredRun, folder: Path, *, full: bool) -> Path:
    csv_history(run, str(folder / "run"), full)
    return folder / "run_stats_history.csv"


def _text(folder: Path, text: str) -> Path:
    path = folder / "run"
    path.write_text(text, encoding="utf-8", newline="")
    return path


OF_RUNS = {
    "html": Download("html", _html),
    "run.json": Download("run.json", _json),
    "hgrm": Download("hgrm", partial(_exported, format="hgrm")),
    "hlog": Download("hlog", partial(_exported, format="hlog")),
    "seconds.csv": Download("seconds.csv", partial(_exported, format="csv")),
    "seconds.json": Download("seconds.json", partial(_exported, format="json")),
    "parquet": Download("parquet", partial(_exported, format="parquet")),
    "locust-stats.csv": Download("stats.csv", partial(_locust_csv, what="stats")),
    "locust-failures.csv": Download("failures.csv", partial(_locust_csv, what="failures")),
    "locust-exceptions.csv": Download("exceptions.csv", partial(_locust_csv, what="exceptions")),
    "locust-stats-history.csv": Download("stats_history.csv", partial(_locust_history, full=False)),
    "locust-full-history.csv": Download("full_history.csv", partial(_locust_history, full=True)),
    "locust.json": Download("locust.json", _locust_json),
}
"""By what the page asks for, besides all formats of `plimsoll report`."""
OF_STUDIES = (*outputs.OUTPUTS, "md.zip", "csv.zip")
"""What is several files comes as a zip."""


class Downloads:
    """GET /api/runs/{id}/{format} and GET /api/report/{format}?ref=…"""

    def __init__(self, place: OpenStore) -> None:
        self._place = place

    def of_run(self, request: Request) -> Response:
        format = request.path_params["format"]
        if format not in OF_RUNS and format not in OF_STUDIES:
            raise RefError(f"no format {format[:40]!r}; there are {', '.join(dict.fromkeys((*OF_RUNS, *OF_STUDIES)))}")
        store = self._place.get()
        run = store.run(request.path_params["id"])
        if format in OF_RUNS:
            return _sent(OF_RUNS[format], run)
        return _told(analysis_of(store, [run.id]), format, run.id, request)

    def of_study(self, request: Request) -> Response:
        format = request.path_params["format"]
        if format not in OF_STUDIES:
            raise RefError(f"no format {format[:40]!r}; there are {', '.join(OF_STUDIES)}")
        refs = refs_of(request)
        store = self._place.get()
        wanted = [wanted_of(store, ref).ref for ref in refs]
        return _told(analysis_of(store, wanted), format, " and ".join(wanted), request)


def _sent(download: Download, run: StoredRun) -> Response:
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        # The open file outlives its name: nothing is left behind, whatever becomes of the connection.
        file = download.write(run, Path(folder)).open("rb")
    return _attachment(file, f"{run.id}.{download.suffix}")


def _told(analysis: Analysis, format: str, name: str, request: Request) -> Response:
    table = request.query_params.get("table", "trials")
    if table not in TABLES:
        raise FieldError(f"no table {table[:40]!r}; there are {', '.join(TABLES)}", "table")
    output = outputs.OUTPUTS[format.removesuffix(ZIP)]
    wish = outputs.OutputRequest(width=_WIDTH, table=table)
    if output.files is not None and (output.text is None or format.endswith(ZIP)):
        return _attachment(_zipped(output.files(analysis, wish)), f"{name}.{output.suffix}{ZIP}")
    text = outputs.text(analysis, format, wish).encode()
    return _attachment(io.BytesIO(text), f"{name}.{output.suffix}")


def _zipped(files: Iterable[tuple[str, bytes]]) -> IO[bytes]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    file.seek(0)
    return file


def _attachment(file: IO[bytes], name: str) -> Response:
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    headers = {
        "Content-Disposition": _disposition(name),
        "Content-Length": str(length),
        "Cache-Control": "no-store",
        # Whatever somebody makes of it, it is not a page of this server.
        "X-Content-Type-Options": "nosniff",
    }
    kind = MEDIA_TYPES.get(name.rpartition(".")[2], "text/plain; charset=utf-8")
    return StreamingResponse(_pieces(file), headers=headers, media_type=kind)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece


def _disposition(name: str) -> str:
    """RFC 6266, for names of any characters; none of them leads to another folder."""
    plain = "".join(each if each.isprintable() and each not in '/\\:"' else "-" for each in name)
    ascii_only = "".join(each if each.isascii() else "-" for each in plain)
    encoded = quote(plain, safe="", errors="replace")
    return f"attachment; filename=\"{ascii_only}\"; filename*=UTF-8''{encoded}"
