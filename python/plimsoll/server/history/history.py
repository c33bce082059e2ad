"""What the page shows of the store: runs, experiments, their reports, and trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from plimsoll.server.history.downloads import Downloads
from plimsoll.server.history.experiments import ExperimentHistory
from plimsoll.server.history.open_store import OpenStore
from plimsoll.server.history.pages import Pages
from plimsoll.server.history.runs import Runs
from plimsoll.server.history.trend import Trends

if TYPE_CHECKING:
    from collections.abc import Sequence


class History:
    """The history in the store at a location, as `Store.open` takes it. Call `close` when its routes are gone."""

    def __init__(self, location: str | None) -> None:
        self.place = OpenStore(location)

    def routes(self) -> Sequence[Route]:
        place = self.place
        runs, experiments, trends = Runs(place), ExperimentHistory(place), Trends(place)
        pages, downloads = Pages(place), Downloads(place)
        return [
            Route("/api/runs", runs.list, methods=["GET"]),
            Route("/api/runs/{id}", runs.one, methods=["GET"]),
            Route("/api/runs/{id}", runs.label, methods=["PATCH"]),
            Route("/api/runs/{id}/{format}", downloads.of_run, methods=["GET"]),
            Route("/api/report/{format}", downloads.of_study, methods=["GET"]),
            Route("/api/experiments", experiments.list, methods=["GET"]),
            Route("/api/experiments/{name:path}", experiments.matrix, methods=["GET"]),
            Route("/api/experiments/{name:path}", experiments.label, methods=["PATCH"]),
            Route("/api/page", pages.page, methods=["GET"]),
            Route("/api/series", trends.series, methods=["GET"]),
            Route("/api/trend", trends.trend, methods=["GET"]),
        ]

    def close(self) -> None:
        self.place.close()
