"""Running one user in the foreground, for a debugger."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.locust.environment import Environment
from plimsoll.users import log
from plimsoll.users.events import events
from plimsoll.users.exceptions import CatchResponseError

if TYPE_CHECKING:
    from plimsoll.users.user import User

_environment: Environment | None = None


class PrintListener:
    """Prints a line per request; times in ms."""

    def __init__(
        self,
        env: Environment,
        include_length: bool = False,
        include_time: bool = False,
        include_context: bool = False,
        include_payload: bool = False,
    ) -> None:
        self._columns = {
            "time".ljust(32): include_time,
            "type": True,
            "name".ljust(50): True,
            "resp_ms": True,
            "length": include_length,
            "exception": True,
            "context": include_context,
            "payload": include_payload,
        }
        env.events.request.add_listener(self.on_request)
        self._print([*self._columns])

    def _print(self, cells: list[str]) -> None:
        shown = (cell for cell, wanted in zip(cells, self._columns.values(), strict=True) if wanted)
        print("\t".join(shown), flush=True)

    def on_request(
        self,
        request_type: str,
        name: str,
        response_time: float | None,
        response_length: int,
        exception: BaseException | None,
        context: dict[str, Any] | None,
        start_time: float | None = None,
        response: Any = None,
        **_kwargs: Any,
    ) -> None:
        when = datetime.now(UTC) if start_time is None else datetime.fromtimestamp(start_time, UTC)
        self._print(
            [
                str(when),
                request_type,
                (name or "").ljust(50),
                ("-1" if response_time is None else str(round(response_time))).ljust(7),
                str(response_length).ljust(6),
                _error_text(exception).ljust(9),
                str(context or ""),
                str(getattr(getattr(response, "request", None), "body", None) or ""),
            ]
        )


def _error_text(error: BaseException | None) -> str:
    if error is None:
        return ""
    text = str(error) if isinstance(error, CatchResponseError) else repr(error)
    return text[:500].replace("\n", " ")


def run_single_user(
    user_class: type[User],
    include_length: bool = False,
    include_time: bool = False,
    include_context: bool = False,
    include_payload: bool = False,
    loglevel: str | None = "WARNING",
) -> None:
    """Run one user until it ends, and print its requests. loglevel None: leave logging as it is.

    The options on the command line of the process count, those of the locustfile too. Fires init and test_start, but
    neither test_stop nor quit. A second call goes on in the same Environment. Ends the process with exit code 2 for an
    unknown option, 1 when an init listener fails.
    """
    global _environment
    if loglevel:
        log.setup_logging(loglevel)
    if _environment is None:
        _environment = _make_environment(sys._getframe(1).f_code.co_filename)
        PrintListener(_environment, include_length, include_time, include_context, include_payload)
        _environment.events.init.fire(environment=_environment, runner=None, web_ui=None)
        if log.unhandled_greenlet_exception:
            sys.exit(1)
    _environment.user_classes = [user_class]
    _environment._filter_tasks_by_tags()
    _environment.events.test_start.fire(environment=_environment)
    if _environment.host:
        user_class.host = _environment.host
    user = user_class(_environment)
    # Listeners have no other access to it.
    _environment.single_user_instance = user  # type: ignore[attr-defined]
    user.run()


def _make_environment(locustfile: str) -> Environment:
    from plimsoll.locust.options.parsed import parse_options

    options = parse_options()
    options.locustfile = Path(locustfile).name
    return Environment(events=events, locustfile=options.locustfile, host=options.host, parsed_options=options)
