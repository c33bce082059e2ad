"""The downloads on Locust's page, for the run that the page shows: made from the stored run."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from plimsoll.errors import NotNowError
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import assess
from plimsoll.report.outputs import pieces
from plimsoll.report.render.locust_csv import CsvFiles
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.server.history.downloads import file_of, response_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from starlette.responses import Response

    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.server.live.live import Live

CSV = {
    "/stats/requests/csv": "requests",
    "/stats/requests_full_history/csv": "requests_full_history",
    "/stats/failures/csv": "failures",
    "/exceptions/csv": "exceptions",
}
"""Its part of the file name, by path."""
_KEPT = {
    "requests": "locust-stats.csv",
    "requests_full_history": "locust-full-history.csv",
    "failures": "locust-failures.csv",
    "exceptions": "locust-exceptions.csv",
}
"""Formats of `plimsoll.report.formats`."""
_TABLES = {"requests": "stats", "requests_full_history": "stats_history"}
"""Tables with another name in `CsvFiles`."""


class Files:
    """The files of a run under Locust's paths. place: the store."""

    def __init__(self, live: Live, place: OpenStore) -> None:
        self._live = live
        self._place = place

    def csv(self, what: str) -> Response:
        """Before the first run, the same as Locust: a header and no requests. Raises PlimsollError."""
        is_none = self._live.test is None
        text = file_of([_empty(what)]) if is_none else self._kept(_KEPT[what])
        return response_of(text, {"Content-Disposition": f"attachment;filename={self._name()}_{what}.csv"}, "text/csv")

    def report(self, *, is_download: bool) -> Response:
        """The HTML report of the run. Raises PlimsollError."""
        headers = {"Content-Disposition": f"attachment;filename={self._name()}.html"} if is_download else {}
        return response_of(self._kept("html"), headers, "text/html")

    def _kept(self, format: str) -> IO[bytes]:
        test = self._live.test
        if test is None:
            raise NotNowError("there is no run yet: start one")
        if not test.run:
            raise NotNowError("nothing of the run is kept yet")
        run = self._place.get().run(test.run)
        return file_of(pieces(RunSource.of(run), format, OutputRequest()))

    def _name(self) -> str:
        """Without characters that file names cannot have."""
        test = self._live.test
        began = datetime.fromtimestamp(test.started, UTC) if test is not None and test.started else datetime.now(UTC)
        name = re.sub(r"[^\w.-]+", "-", self._live.source) or "run"
        return f"Locust_{began:%Y-%m-%d-%Hh%M}_{name.encode('ascii', 'replace').decode().replace('?', '-')}"


def _empty(what: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        files, view = CsvFiles(f"{folder}/run"), RunView()
        files.begin()
        files.finish(view, assess(view, Manifest(), RunFacts(), "running"))
        return Path(folder, f"run_{_TABLES.get(what, what)}.csv").read_bytes()
