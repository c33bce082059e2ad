"""The routes of a live run besides its stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.errors import UsageError
from plimsoll.report.charts.chart import config
from plimsoll.report.document.pictures import chart_spec
from plimsoll.server.answers import answer, problem
from plimsoll.server.messages import LiveCharts

if TYPE_CHECKING:
    from starlette.requests import Request

    from plimsoll.server.live.live import Live
    from plimsoll.server.live.stream import Viewers
    from plimsoll.stats.seconds import Key


def routes(live: Live, viewers: Viewers) -> list[Route]:
    async def stream(request: Request) -> Response:
        return viewers.response(endpoint_of(request))

    async def charts(request: Request) -> Response:
        endpoint = endpoint_of(request)
        live.look()
        return answer(await run_in_threadpool(_charts, live, endpoint))

    async def failures(_: Request) -> Response:
        return answer({"failures": (await viewers.fresh()).failures})

    async def exceptions(_: Request) -> Response:
        return answer({"exceptions": (await viewers.fresh()).exceptions})

    async def log(_: Request) -> Response:
        return answer({"log": live.lines()})

    async def metrics(request: Request) -> Response:
        # Imported when somebody asks: most runs are not scraped.
        from plimsoll.outputs.exposition import shown

        if (found := await run_in_threadpool(shown, request.headers.get("Accept", ""))) is None:
            return problem(404, "no run here shows its metrics: start one with --out prometheus")
        content, kind = found
        return Response(content, media_type=kind)

    return [
        Route("/metrics", metrics),
        Route("/api/live", stream),
        Route("/api/live/charts", charts),
        Route("/api/live/failures", failures),
        Route("/api/live/exceptions", exceptions),
        Route("/api/live/log", log),
    ]


def endpoint_of(request: Request) -> Key | None:
    """The value of `?endpoint=["GET", "/x"]`; None without one. Raises UsageError."""
    text = request.query_params.get("endpoint")
    if text is None:
        return None
    try:
        method, name = json.loads(text)
    except (ValueError, TypeError) as error:
        raise UsageError('endpoint: must be JSON of a method and a name: ["GET", "/x"]') from error
    return str(method), str(name)


def _charts(live: Live, endpoint: Key | None) -> LiveCharts:
    found, sequence = live.charts(endpoint)
    return LiveCharts(tuple(chart_spec(each) for each in found), config("page"), sequence)
