"""What the page shows of the store: runs, experiments, their reports, and trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from plimsoll.server.history.downloads import Downloads
from plimsoll.server.history.experiments import ExperimentHistory
from plimsoll.server.history.pages import Pages
from plimsoll.server.history.runs import Runs
from plimsoll.server.history.trend import Trends

if TYPE_CHECKING:
    from plimsoll.server.history.open_store import OpenStore


def routes(place: OpenStore) -> list[Route]:
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
