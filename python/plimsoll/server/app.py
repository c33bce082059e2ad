"""All routes, behind one guard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route

from plimsoll.errors import UsageError
from plimsoll.server import static
from plimsoll.server.answers import ON_ERROR
from plimsoll.server.control import routes as control_routes
from plimsoll.server.control import scenarios as control_scenarios
from plimsoll.server.control.scenarios import MOST_SCENARIO, SCENARIO
from plimsoll.server.history.downloads import Downloads
from plimsoll.server.history.experiments import ExperimentHistory
from plimsoll.server.history.open_store import OpenStore
from plimsoll.server.history.pages import Pages
from plimsoll.server.history.runs import Runs
from plimsoll.server.history.trend import Trends
from plimsoll.server.live import routes as live_routes
from plimsoll.server.live.stream import Viewers
from plimsoll.server.security import login
from plimsoll.server.security.access import Guard
from plimsoll.server.security.login import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.routing import BaseRoute

    from plimsoll.server.control.scenarios import SentScenarios
    from plimsoll.server.control.session import PageSession
    from plimsoll.server.live.live import Live
    from plimsoll.server.security.access import Access

    MoreRoutes = Callable[[Live, PageSession, Viewers, OpenStore], Sequence[BaseRoute]]

SMALLEST_ZIPPED = 1000
"""Bytes."""
ZIP_LEVEL = 5
_BASE = re.compile(r"(/[A-Za-z0-9._~-]+)*")


def make_app(
    *,
    store: str | None,
    live: Live | None,
    control: PageSession | None,
    access: Access,
    base_path: str = "",
    more_routes: MoreRoutes | None = None,
    scenarios: SentScenarios | None = None,
) -> Starlette:
    """The page and its API. store: where runs are kept. live, control: None if no run can be started. base_path: the
    prefix of every path, e.g. "/load". more_routes: routes of a page that can start runs. scenarios: of such a page.
    Raises UsageError for an invalid base path.

    At the end call `app.state.viewers.dismiss()`, then `app.state.store.close()`. `app.state.base_path` is the suffix
    of the page's address.
    """
    base = base_path.rstrip("/")
    if not _BASE.fullmatch(base):
        raise UsageError(f"--web-base-path {base_path}: must be like /load, of letters, digits and - . _ ~")
    viewers, sessions, place = Viewers(live), Sessions(access), OpenStore(store)
    routes: list[BaseRoute] = [
        *login.routes(access, sessions, base),
        *control_routes.routes(store, live, control, access),
        *(live_routes.routes(live, viewers) if live is not None else ()),
        *(more_routes(live, control, viewers, place) if more_routes and live and control else ()),
        *(control_scenarios.routes(scenarios) if scenarios is not None else ()),
        *history_routes(place),
        *static.routes(),
    ]
    app = Starlette(
        routes=[Mount(base, routes=routes)] if base else routes,
        middleware=[
            Middleware(
                Guard, access=access, sessions=sessions, base_path=base, most_body={f"{base}{SCENARIO}": MOST_SCENARIO}
            ),
            Middleware(GZipMiddleware, minimum_size=SMALLEST_ZIPPED, compresslevel=ZIP_LEVEL),
        ],
        exception_handlers=ON_ERROR,
    )
    app.state.viewers = viewers
    app.state.store = place
    app.state.base_path = base
    return app


def history_routes(place: OpenStore) -> list[Route]:
    """Routes of stored data: runs, experiments, their reports, and trends."""
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
