"""Event hooks: locustfiles listen to them, and fire them for custom clients."""

from __future__ import annotations

import logging
import time
import traceback
from contextlib import contextmanager
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, TypeVar

from plimsoll.users import log
from plimsoll.users.exceptions import CONTROL_FLOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ListenerT = TypeVar("ListenerT", bound="Callable[..., Any]")


class EventHook:
    """One kind of event. Listeners run synchronously, in the order in which they were added.

    A listener may control the user that caused the event by raising StopUser, RescheduleTask and the like. Any other
    exception of a listener is logged and makes the run's exit code nonzero, but stops nothing.
    """

    def __init__(self) -> None:
        # Never replaced, only changed in place: the session keeps a reference to it for its hot path.
        self._handlers: list[Callable[..., Any]] = []

    def add_listener(self, handler: ListenerT) -> ListenerT:
        """Returns the listener, so that this can be used as a decorator."""
        self._handlers.append(handler)
        return handler

    def remove_listener(self, handler: Callable[..., Any]) -> None:
        """Raises ValueError for a function that is no listener."""
        self._handlers.remove(handler)

    def fire(self, *, reverse: bool = False, **kwargs: Any) -> None:
        """Call every listener with kwargs; reverse: last added first."""
        # Over a copy: a listener may add or remove listeners.
        for handler in self._handlers[::-1] if reverse else self._handlers.copy():
            try:
                handler(**kwargs)
            except CONTROL_FLOW:
                raise
            except Exception:
                logging.error("Uncaught exception in event handler: \n%s", traceback.format_exc())
                log.unhandled_greenlet_exception = True

    @contextmanager
    def measure(
        self, request_type: str, name: str, response_length: int = 0, context: dict[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Time a block and fire this event with the result, for custom clients::

            with self.environment.events.request.measure("XMLRPC", "add") as request_meta:
                request_meta["response"] = proxy.add(1, 2)

        response_length is in bytes, the measured response_time in ms. The yielded dict holds the arguments of the event
        and may be changed or extended. An exception in the block becomes the request's failure, and is not raised
        again.
        """
        request_meta: dict[str, Any] = {
            "request_type": request_type,
            "name": name,
            "response_length": response_length,
            "context": context or {},
            "exception": None,
            "start_time": time.time(),
        }
        started = time.perf_counter()
        try:
            yield request_meta
        except Exception as error:
            request_meta["exception"] = error
        finally:
            request_meta["response_time"] = (time.perf_counter() - started) * 1000
            self.fire(**request_meta)


class Events:
    """The hooks of one Environment; the comment of each names the arguments of its listeners.

    A subclass adds hooks by annotating further attributes as `EventHook`.
    """

    request: EventHook
    """A request is complete: request_type, name, response_time (ms, or None), response_length (bytes), response,
    context, exception (None if fine), start_time (Unix), url."""

    user_error: EventHook
    """User code raised an exception: user_instance (the TaskSet of a task, the User of an on_start), exception, tb
    (traceback object)."""

    report_to_master: EventHook
    """A worker is about to report: client_id, data (a dict to add to)."""

    worker_report: EventHook
    """The coordinator got a report: client_id, data."""

    worker_connect: EventHook
    """A worker connected: client_id."""

    spawning_complete: EventHook
    """All users are spawned: user_count."""

    quitting: EventHook
    """The process is about to exit; fired in reverse order: environment."""

    quit: EventHook
    """The very last event: exit_code."""

    init: EventHook
    """Environment and runner have been created: environment, runner, web_ui."""

    init_command_line_parser: EventHook
    """Custom options can be added: parser."""

    test_start: EventHook
    """A test starts: environment."""

    test_stopping: EventHook
    """A test is about to stop, its users still run: environment."""

    test_stop: EventHook
    """A test has stopped: environment."""

    reset_stats: EventHook
    """The statistics were reset by hand: no arguments."""

    cpu_warning: EventHook
    """The generator's CPU is nearly used up: environment, cpu_usage (percent)."""

    heartbeat_sent: EventHook
    """Arguments: client_id, timestamp (Unix seconds)."""

    heartbeat_received: EventHook
    """Arguments: client_id, timestamp (Unix seconds)."""

    usage_monitor: EventHook
    """Resource use of the generator, at intervals: environment, cpu_usage (percent), memory_usage (bytes)."""

    def __init__(self) -> None:
        for cls in type(self).__mro__:
            for name, annotation in get_annotations(cls).items():
                if annotation in ("EventHook", EventHook):
                    setattr(self, name, EventHook())


events = Events()
"""The hooks that a locustfile listens to as it is imported, and those of the Environment that runs it."""
