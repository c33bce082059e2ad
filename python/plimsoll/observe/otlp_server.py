"""The HTTP side of the OpenTelemetry receiver: valid requests and their responses."""

from __future__ import annotations

import socket
import time
import zlib
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any

from plimsoll.observe import telemetry
from plimsoll.observe.timed_socket import TimedSocket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.observe.telemetry import Telemetry

MOST_BYTES = 16 * 2**20
"""Size of a decoded request."""
MOST_WAITING = 64 * 2**20
"""Bytes of all bodies that are being received; what comes beyond must be sent again, which all SDKs do."""
MOST_CONNECTIONS = 64
"""When one more comes, the connection that was opened first is closed."""
MOST_AT_ONCE = 2
"""Complete requests parsed concurrently; others wait for `TURN_S`, and must then be sent again."""
TURN_S = 5.0
REQUEST_S = 10.0
"""From the first byte of a request to the end of its response."""
IDLE_S = 30.0
"""For a connection without a request."""
PIECE = 1 << 16
"""Bytes that are read of a body at a time."""
_PATHS = {"/v1/traces": telemetry.traces, "/v1/metrics": telemetry.metrics, "/v1/logs": telemetry.logs}


class _RefusedError(Exception):
    """Why a request is rejected."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Waiting:
    """Counts the bytes of bodies that are being received."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bytes = 0

    @contextmanager
    def counted(self) -> Iterator[Callable[[int], None]]:
        """A function that adds bytes; they count until the block ends. It raises _RefusedError for too many."""
        added = 0

        def add(size: int) -> None:
            nonlocal added
            with self._lock:
                if self._bytes + size > MOST_WAITING:
                    raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "too much was sent at the same time")
                self._bytes += size
                added += size

        try:
            yield add
        finally:
            with self._lock:
                self._bytes -= added


class OtlpServer(ThreadingHTTPServer):
    """take receives the data; refuse receives reasons of rejections. Several threads call both."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, address: tuple[str, int], take: Callable[[Telemetry], None], refuse: Callable[[str], None]
    ) -> None:
        """Raises OSError if the address is not available."""
        self.take = take
        self.refuse = refuse
        self.turns = BoundedSemaphore(MOST_AT_ONCE)
        self.waiting = _Waiting()
        self._lock = Lock()
        self._connections: dict[socket.socket, None] = {}
        """In the order in which they were opened."""
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            oldest = next(iter(self._connections)) if len(self._connections) >= MOST_CONNECTIONS else None
            if oldest is not None:
                # Its thread ends by this, and closes it. A sender that was idle connects again.
                del self._connections[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            self._connections[request] = None
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores senders that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: OtlpServer
    protocol_version = "HTTP/1.1"
    _deadline: float | None = None
    """Of the request in progress, on the monotonic clock."""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = TimedSocket(self.connection, self._left).makefile("rb")

    def _left(self) -> float:
        if self._deadline is None:
            # The first piece of a request may take as long as a connection may be idle; its time begins with it.
            return IDLE_S
        if (left := self._deadline - time.monotonic()) <= 0:
            raise TimeoutError
        return left

    def handle_one_request(self) -> None:
        self._deadline = None
        if self.rfile.peek(1):  # type: ignore[attr-defined]
            self._deadline = time.monotonic() + REQUEST_S
        super().handle_one_request()

    def do_POST(self) -> None:
        try:
            kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            with self.server.waiting.counted() as count:
                sent = self._sent(kind, count)
        except _RefusedError as refused:
            self.server.refuse(str(refused))
            # The rest of the body stays unread, so the connection cannot be used again.
            self.close_connection = True
            later = {"Retry-After": "1"} if refused.status == HTTPStatus.TOO_MANY_REQUESTS else None
            self._answer(refused.status, str(refused).encode(), "text/plain", later)
            return
        self.server.take(sent)
        # An empty message means complete success.
        self._answer(HTTPStatus.OK, b"{}" if kind == telemetry.JSON else b"", kind)

    def _sent(self, kind: str, count: Callable[[int], None]) -> Telemetry:
        """count: is called with the bytes that are received. Raises _RefusedError."""
        parse = _PATHS.get(self.path.partition("?")[0])
        if parse is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"there are only {', '.join(_PATHS)}")
        if kind not in (telemetry.PROTOBUF, telemetry.JSON):
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"neither {telemetry.PROTOBUF} nor {telemetry.JSON}")
        body = self._body(count)
        # Not before it is complete: a sender that stops halfway must not keep others from their turn.
        if not self.server.turns.acquire(timeout=TURN_S):
            raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "too much was sent at the same time")
        try:
            return parse(_decoded(body, self.headers.get("Content-Encoding", "identity").lower()), kind)
        except ValueError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"damaged: {error}") from error
        finally:
            self.server.turns.release()

    def _body(self, count: Callable[[int], None]) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 20):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "without Content-Length")
        if int(length) > MOST_BYTES:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"longer than {MOST_BYTES >> 20} MiB")
        pieces: list[bytes] = []
        left = int(length)
        while left:
            piece = self.rfile.read1(min(left, PIECE))
            if not piece:
                raise _RefusedError(HTTPStatus.BAD_REQUEST, "shorter than its Content-Length")
            count(len(piece))
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def _answer(self, status: HTTPStatus, body: bytes, kind: str, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _decoded(body: bytes, coding: str) -> bytes:
    """Raises _RefusedError."""
    if coding == "identity":
        return body
    if coding != "gzip":
        raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "neither gzip nor identity")
    try:
        body = zlib.decompressobj(wbits=31).decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise _RefusedError(HTTPStatus.BAD_REQUEST, f"damaged: {error}") from error
    if len(body) > MOST_BYTES:
        raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"longer than {MOST_BYTES >> 20} MiB")
    return body
