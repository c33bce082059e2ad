"""Stored data as files: the formats of `plimsoll report` and `plimsoll export`, and Locust's."""

from __future__ import annotations

import io
import tempfile
import zipfile
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from plimsoll.errors import FieldError, RefError
from plimsoll.experiment.refs import source_of_run
from plimsoll.report import outputs
from plimsoll.report.formats import all_formats, of_runs, of_studies
from plimsoll.report.render.analysis_csv import TABLES
from plimsoll.report.sources import OutputRequest, RunSource, StudySource
from plimsoll.server.history.pages import analysis_of, refs_of, wanted_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.server.history.open_store import OpenStore

_PIECE = 2**18
_WIDTH = 120
"""Line width of text tables."""
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
"""By suffix; all others are plain text."""


OF_RUNS = of_runs()
"""Formats of single runs, in addition to those of studies."""
OF_STUDIES = (
    *of_studies(),
    *(f"{name}{ZIP}" for name in of_studies() if all_formats()[name].study and all_formats()[name].files),
)
"""Several files are sent as a zip."""


class Downloads:
    """GET /api/runs/{id}/{format} and GET /api/report/{format}?ref=…

    Reports are made in turn. Waiting requests hold no thread.
    """

    def __init__(self, place: OpenStore) -> None:
        self._place = place

    async def of_run(self, request: Request) -> Response:
        return await self._made(self._of_run, request)

    async def of_study(self, request: Request) -> Response:
        return await self._made(self._of_study, request)

    async def _made(self, make: Callable[[Request], Response], request: Request) -> Response:
        async with self._place.turn():
            return await run_in_threadpool(make, request)

    def _of_run(self, request: Request) -> Response:
        format = request.path_params["format"]
        if format not in OF_RUNS and format not in OF_STUDIES:
            raise RefError(f"no format {format[:40]!r}; there are {', '.join(dict.fromkeys((*OF_RUNS, *OF_STUDIES)))}")
        store = self._place.get()
        run = store.run(request.path_params["id"])
        if format in OF_RUNS:
            content = outputs.pieces(RunSource.of(run), format, OutputRequest(width=_WIDTH))
            return _attachment(file_of(content), f"{run.id}.{all_formats()[format].suffix}")
        return _report(source_of_run(run, store), format, run.id, request)

    def _of_study(self, request: Request) -> Response:
        format = request.path_params["format"]
        if format not in OF_STUDIES:
            raise RefError(f"no format {format[:40]!r}; there are {', '.join(OF_STUDIES)}")
        refs = refs_of(request)
        store = self._place.get()
        wanted = [wanted_of(store, ref) for ref in refs]
        names = [each.ref for each in wanted]
        run = wanted[0].run if len(wanted) == 1 else None
        source = StudySource(analysis_of(store, names)) if run is None else source_of_run(run, store)
        return _report(source, format, " and ".join(names), request)


def _report(source: StudySource, format: str, name: str, request: Request) -> Response:
    table = request.query_params.get("table", "trials")
    if table not in TABLES:
        raise FieldError(f"no table {table[:40]!r}; there are {', '.join(TABLES)}", "table")
    plain = format.removesuffix(ZIP)
    row, wanted = all_formats()[plain], OutputRequest(width=_WIDTH, table=table)
    if row.study is None or format.endswith(ZIP):
        return _attachment(_zipped(outputs.files(source, plain, wanted)), f"{name}.{row.suffix}{ZIP}")
    return _attachment(file_of(outputs.pieces(source, format, wanted)), f"{name}.{row.suffix}")


def file_of(content: Iterable[bytes]) -> IO[bytes]:
    """A file without a name: it disappears even if the connection fails."""
    file = tempfile.TemporaryFile(prefix="plimsoll-")  # noqa: SIM115
    file.writelines(content)
    return file


def _zipped(files: Iterable[tuple[str, bytes]]) -> IO[bytes]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    file.seek(0)
    return file


def _attachment(file: IO[bytes], name: str) -> Response:
    headers = {
        "Content-Disposition": _disposition(name),
        # Browsers must not show it as a page of this server.
        "X-Content-Type-Options": "nosniff",
    }
    kind = MEDIA_TYPES.get(name.rpartition(".")[2], "text/plain; charset=utf-8")
    return response_of(file, headers, kind)


def response_of(file: IO[bytes], headers: dict[str, str], kind: str) -> Response:
    """The content of the file, in pieces: a reader that takes none holds one piece in memory. kind: its media type."""
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    headers = {**headers, "Content-Length": str(length), "Cache-Control": "no-store"}
    return StreamingResponse(_pieces(file), headers=headers, media_type=kind)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece


def _disposition(name: str) -> str:
    """RFC 6266, for names with any characters; a name cannot point to another folder."""
    plain = "".join(each if each.isprintable() and each not in '/\\:"' else "-" for each in name)
    ascii_only = "".join(each if each.isascii() else "-" for each in plain)
    encoded = quote(plain, safe="", errors="replace")
    return f"attachment; filename=\"{ascii_only}\"; filename*=UTF-8''{encoded}"
