"""The routes that programs written for Locust's page request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from plimsoll.errors import UsageError
from plimsoll.locust.web import numbers as locust_numbers
from plimsoll.locust.web.files import CSV, Files
from plimsoll.locust.web.form import change_of, request_of, run_time_of
from plimsoll.redact import redact
from plimsoll.server.answers import answer, problem, read, to_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from plimsoll.server.control.session import PageSession
    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.server.live.live import Live
    from plimsoll.server.live.stream import Viewers

    Fields = dict[str, list[str]]

REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)
"""A report is self-contained, and its own policy names its scripts; this policy isolates it from the page."""
FORM_TYPES = ("", "application/x-www-form-urlencoded")


def routes(live: Live, control: PageSession, viewers: Viewers, place: OpenStore) -> list[Route]:
    """place: the store of the run."""
    numbers, files = _Numbers(live, control, viewers), Files(live, place)

    async def made(make: Callable[[], Response]) -> Response:
        async with place.turn():
            return await run_in_threadpool(make)

    def csv(what: str) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(_: Request) -> Response:
            return await made(lambda: files.csv(what))

        return endpoint

    async def report(request: Request) -> Response:
        is_download = bool(request.query_params.get("download"))
        response = await made(lambda: files.report(is_download=is_download))
        response.headers["Content-Security-Policy"] = REPORT_POLICY
        return response

    actions = _Actions(live, control)
    return [
        Route("/stats/requests", numbers.statistics),
        *(Route(path, csv(what)) for path, what in CSV.items()),
        Route("/stats/report", report),
        Route("/exceptions", numbers.exceptions),
        Route("/tasks", numbers.tasks),
        Route("/logs", numbers.logs),
        Route("/worker-count", numbers.worker_count),
        Route("/swarm", _taking(actions.swarm), methods=["POST"]),
        Route("/stop", actions.stop, methods=["POST"]),
        Route("/stats/reset", actions.reset, methods=["POST"]),
        Route("/user", actions.user, methods=["POST"]),
    ]


class _Numbers:
    def __init__(self, live: Live, control: PageSession, viewers: Viewers) -> None:
        self._live = live
        self._control = control
        self._viewers = viewers
        self._statistics: tuple[Any, bytes] = None, b""
        """Its source, and the response: made once a second, for any number of clients."""

    async def statistics(self, _: Request) -> Response:
        snapshot = await self._viewers.fresh()
        key = snapshot.sequence, self._live.test
        if self._statistics[0] != key:
            found = locust_numbers.statistics(snapshot, self._live.test, of_locustfile=self._live.is_of_locustfile)
            self._statistics = key, to_json(found)
        return Response(self._statistics[1], media_type="application/json", headers={"Cache-Control": "no-store"})

    async def exceptions(self, _: Request) -> Response:
        test = self._live.test
        return answer(locust_numbers.exceptions(await self._viewers.fresh(), 1 if test is None else test.workers))

    def tasks(self, _: Request) -> Response:
        return answer(locust_numbers.tasks(self._control.tasks()))

    def logs(self, _: Request) -> Response:
        return answer(locust_numbers.logs(self._live.lines()))

    def worker_count(self, _: Request) -> Response:
        return answer({"worker_count": self._control.joined or locust_numbers.worker_count(self._live.test)})


class _Actions:
    def __init__(self, live: Live, control: PageSession) -> None:
        self._live = live
        self._control = control

    def swarm(self, fields: Fields) -> Response:
        """Starts a run, or changes the one in progress. Errors have status 200, as in Locust."""
        more: dict[str, Any] = {"host": ""}
        try:
            form = self._control.form()
            test = self._live.test
            if self._live.is_in_progress and test is not None:
                more["host"] = test.host
                self._control.change(change_of(fields, form))
                return answer({"success": True, "message": "Swarming started", **more})
            more["host"] = redact(form.request.host)
            request = request_of(fields, form)
            more["host"] = redact(request.host)
            self._control.start(request)
        except UsageError as error:
            return answer({"success": False, "message": redact(str(error)), **more})
        if request.shape_class or form.has_shape:
            name = f" '{request.shape_class}'" if request.shape_class else ""
            return answer({"success": True, "message": f"Swarming started using shape class{name}", **more})
        if seconds := run_time_of(fields):
            more["run_time"] = round(seconds)
        if form.classes and "user_classes" in fields:
            more["user_classes"] = sorted(request.classes)
        return answer({"success": True, "message": "Swarming started", **more})

    async def user(self, request: Request) -> Response:
        """Set attributes of a user class for future runs."""
        settings = dict(await read(request, dict[str, Any]))
        name = settings.pop("user_class_name", None)
        if not isinstance(name, str):
            raise UsageError("user_class_name: the name of a user class is needed")
        await run_in_threadpool(self._control.configure, name, settings)
        return answer({}, 201)

    def stop(self, _: Request) -> Response:
        if self._live.is_in_progress:
            self._control.stop()
        return answer({"success": True, "message": "Test stopped"})

    def reset(self, _: Request) -> Response:
        if self._live.is_in_progress:
            self._control.reset()
        return PlainTextResponse("ok")


def _taking(act: Callable[[Fields], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads a form."""

    async def endpoint(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in FORM_TYPES:
            return problem(400, f"{kind}: a form is to be sent as {FORM_TYPES[1]}")
        try:
            fields = parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=1000)
        except ValueError:
            return problem(400, "the form cannot be read")
        return await run_in_threadpool(act, fields)

    return endpoint
