"""Limits on the connections of the page's server, and on what it logs about them."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

REQUEST_TIMEOUT_S = 10.0
"""Seconds from a connection's first moment, or from a request's first byte, to the end of the request."""
MOST_CONNECTIONS = 256
"""At a time. Each viewer has one or two, and each takes a file that the users of a run may need."""
QUIET_S = 60.0
"""Seconds in which a message of one kind is logged once."""
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"


class LimitedConnection(H11Protocol):
    """Closes a connection whose request takes too long to come, and refuses one too many."""

    _overdue: asyncio.TimerHandle | None = None
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self.logger.warning("the page has more than %d connections: others are refused", MOST_CONNECTIONS)
            self._is_refused = True
            transport.write(_FULL)
            transport.close()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Have a deadline as long as a request is expected or under way."""
        if self.transport.is_closing() or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._forget()
        elif self._overdue is None:
            self._overdue = self.loop.call_later(REQUEST_TIMEOUT_S, self.transport.abort)

    def _forget(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None


class OncePerMinute(logging.Filter):
    """Lets a message of each kind through once a minute, with how many it has held back. A kind is a level, a text
    before its arguments are put in, and an exception."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[int, str, str], tuple[float, int]] = {}
        """When each was let through, and how many have come since."""

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.levelno, str(record.msg)[:200], repr(record.exc_info[1])[:200] if record.exc_info else ""
        now = self._clock()
        last, held_back = self._last.get(kind, (-QUIET_S, 0))
        if now - last < QUIET_S:
            self._last[kind] = last, held_back + 1
            return False
        if len(self._last) > MOST_CONNECTIONS:
            self._last.clear()
        self._last[kind] = now, 0
        if held_back:
            arguments: Any = record.args
            record.msg = f"{record.getMessage() if arguments else record.msg} (and {held_back} more in the meantime)"
            record.args = ()
        return True


def quieten() -> None:
    """What goes wrong between the page and its visitors is logged once a minute."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, OncePerMinute) for each in logger.filters):
            logger.addFilter(OncePerMinute())
