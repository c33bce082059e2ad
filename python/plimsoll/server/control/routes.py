"""The initial state of the page, and its actions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from plimsoll import __version__
from plimsoll.errors import PlimsollError
from plimsoll.redact import redact
from plimsoll.server.answers import acting, answer
from plimsoll.server.control.form_items import form_shapes
from plimsoll.server.messages import Form, LoadChange, LoadCurve, RunRequest, State
from plimsoll.store.database import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.server.control.session import PageSession
    from plimsoll.server.live.live import Live
    from plimsoll.server.security.access import Access


def routes(store: str | None, live: Live | None, control: PageSession | None, access: Access) -> list[Route]:
    """store: where runs are kept."""

    def state(_: Request) -> Response:
        if live is not None:
            live.look()
        return answer(
            State(
                version=__version__,
                token=access.csrf,
                mode="serve" if control is None else "run",
                store=redact(store or DEFAULT),
                form=None if control is None else _form(control),
                test=None if live is None else live.test,
            )
        )

    found = [Route("/api/state", state)]
    if control is not None:
        act = control

        def tasks(_: Request) -> Response:
            return answer({"tasks": act.tasks()})

        def check(request: RunRequest) -> None:
            act.check(_with_password(request, act.form()))

        def curve(request: RunRequest) -> LoadCurve:
            return act.curve(_with_password(request, act.form()))

        def start(request: RunRequest) -> None:
            act.start(_with_password(request, act.form()))

        def stop(_: dict[str, object]) -> None:
            act.stop()

        def reset(_: dict[str, object]) -> None:
            act.reset()

        found += [
            Route("/api/live/tasks", tasks),
            Route("/api/live/check", acting(check, RunRequest), methods=["POST"]),
            Route("/api/live/curve", acting(curve, RunRequest), methods=["POST"]),
            Route("/api/live/start", acting(start, RunRequest), methods=["POST"]),
            Route("/api/live/change", acting(act.change, LoadChange), methods=["POST"]),
            Route("/api/live/stop", acting(stop, dict), methods=["POST"]),
            Route("/api/live/reset", acting(reset, dict), methods=["POST"]),
        ]
    return found


def _form(control: PageSession) -> Form:
    """The form without secrets; on failure a form with the error."""
    try:
        form = control.form()
    except PlimsollError as error:
        return Form("", False, (), (), (), (), RunRequest(), form_shapes(), error=redact(str(error)))
    secret = {each.name for each in form.arguments if each.kind == "secret"}
    shown = {name: value for name, value in form.request.arguments.items() if name not in secret}
    settings = {name: _without_password(chosen) for name, chosen in form.request.class_settings.items()}
    return replace(
        form,
        classes=tuple(replace(each, host=redact(each.host)) for each in form.classes),
        arguments=tuple(replace(each, value="") if each.name in secret else each for each in form.arguments),
        request=replace(form.request, host=redact(form.request.host), class_settings=settings, arguments=shown),
        error=redact(form.error),
    )


def _with_password(request: RunRequest, form: Form) -> RunRequest:
    """A host returned exactly as shown keeps its password, which the page never gets."""
    known = form.request.class_settings
    settings = {
        name: {**chosen, **_meant(chosen, known.get(name, {}))} for name, chosen in request.class_settings.items()
    }
    host = form.request.host if request.host == redact(form.request.host) else request.host
    return replace(request, host=host, class_settings=settings)


def _without_password(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: redact(value) if isinstance(value, str) else value for name, value in settings.items()}


def _meant(chosen: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: known[name] for name, value in _without_password(known).items() if chosen.get(name) == value}
