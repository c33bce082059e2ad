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
"""From the start of a connection, or the first byte of a request, to the end of the request."""
TAKEN_TIMEOUT_S = 10.0
"""For a reader to take another `TAKEN_BYTES`, or the rest, of a response that waits for it."""
TAKEN_BYTES = 100_000
MOST_CONNECTIONS = 256
"""Concurrent connections. A viewer has one or two. Each takes a file descriptor that the users of a run may need."""
QUIET_S = 60.0
"""Interval in which messages of one kind are logged only once."""
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"


class LimitedConnection(H11Protocol):
    """Closes a connection whose request arrives too slowly or whose response is not read, and refuses connections over
    the limit."""

    _overdue: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
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
        self._forget_unread()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """More waits for the reader than the transport wants to keep."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        self._forget_unread()
        super().resume_writing()

    def _watch(self) -> None:
        """Set a deadline while a request is expected or incomplete."""
        if self.transport.is_closing() or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._forget()
        elif self._overdue is None:
            self._overdue = self.loop.call_later(REQUEST_TIMEOUT_S, self.transport.abort)

    def _watch_reader(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(TAKEN_TIMEOUT_S, self._look_at_reader, left)

    def _look_at_reader(self, left: int) -> None:
        """left: what waited for the reader at the last look."""
        if self.transport.get_write_buffer_size() > left - TAKEN_BYTES:
            self.transport.abort()
        else:
            self._watch_reader()

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _forget(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None


class OncePerMinute(logging.Filter):
    """Passes one message of each kind per minute, with the number of messages it suppressed. A kind is a level, a
    format string and an exception."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[int, str, str], tuple[float, int]] = {}
        """When each kind last passed, and how many messages it has suppressed since."""

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
    """Limit uvicorn's and asyncio's log messages to one of each kind per minute."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, OncePerMinute) for each in logger.filters):
            logger.addFilter(OncePerMinute())
