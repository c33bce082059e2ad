"""What comes in from other processes of a run, handled one after the other beside everything else."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import gevent
from gevent.queue import JoinableQueue

from plimsoll.users.exceptions import CONTROL_FLOW

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger("locust.runners")


class Mailbox:
    """Calls are made in the order in which they were put, by one greenlet: the user's listeners may take their time.

    quit: called when one of them wants the test to end.
    """

    def __init__(self, quit: Callable[[], None]) -> None:
        self._quit = quit
        self._calls: JoinableQueue[tuple[Callable[..., Any], tuple[Any, ...]]] = JoinableQueue()
        self._reader = gevent.spawn(self._work)

    def put(self, call: Callable[..., Any], *arguments: Any) -> None:
        self._calls.put((call, arguments))

    def wait(self, seconds: float | None = None) -> bool:
        """Until everything is handled; returns whether it is. seconds: at most so long."""
        return bool(self._calls.join(seconds))

    def _work(self) -> None:
        while True:
            call, arguments = self._calls.get()
            try:
                call(*arguments)
            except CONTROL_FLOW as reason:
                logger.error("%s: %s", type(reason).__name__, reason)
                self._quit()
            except SystemExit as error:
                # It ends the greenlet that raises it, so not this one. gevent passes it on to the main greenlet.
                gevent.spawn(_raise, error)
            except Exception:
                logger.exception("Unhandled exception in what came in from another process")
            finally:
                self._calls.task_done()


def _raise(error: BaseException) -> None:
    raise error
