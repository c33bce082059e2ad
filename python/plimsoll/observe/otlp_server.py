"""The HTTP side of the OpenTelemetry receiver: valid requests and their responses."""

from __future__ import annotations

import zlib
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from plimsoll.observe import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.observe.telemetry import Telemetry

MOST_BYTES = 16 * 2**20
"""Size of a decoded request."""
MOST_CONNECTIONS = 64
MOST_AT_ONCE = 2
"""Requests parsed concurrently; others must be sent again, which all SDKs do."""
IDLE_S = 30.0
"""For a connection without a request, and between two pieces of one."""
_PATHS = {"/v1/traces": telemetry.traces, "/v1/metrics": telemetry.metrics, "/v1/logs": telemetry.logs}


class _RefusedError(Exception):
    """Why a request is rejected."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


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
        self._connections = BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.refuse(f"more than {MOST_CONNECTIONS} connections")
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores senders that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: OtlpServer
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S

    def do_POST(self) -> None:
        if not self.server.turns.acquire(blocking=False):
            # The body stays unread, so the connection cannot be used again.
            self.close_connection = True
            self._answer(HTTPStatus.TOO_MANY_REQUESTS, b"", "text/plain", {"Retry-After": "1"})
            return
        try:
            kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            sent = self._sent(kind)
        except _RefusedError as refused:
            self.server.refuse(str(refused))
            self.close_connection = True
            self._answer(refused.status, str(refused).encode(), "text/plain")
            return
        finally:
            self.server.turns.release()
        self.server.take(sent)
        # An empty message means complete success.
        self._answer(HTTPStatus.OK, b"{}" if kind == telemetry.JSON else b"", kind)

    def _sent(self, kind: str) -> Telemetry:
        """Raises _RefusedError."""
        parse = _PATHS.get(self.path.partition("?")[0])
        if parse is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"there are only {', '.join(_PATHS)}")
        if kind not in (telemetry.PROTOBUF, telemetry.JSON):
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"neither {telemetry.PROTOBUF} nor {telemetry.JSON}")
        body = self._body()
        try:
            return parse(body, kind)
        except ValueError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"damaged: {error}") from error

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "without Content-Length")
        if int(length) > MOST_BYTES:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"longer than {MOST_BYTES >> 20} MiB")
        body = self.rfile.read(int(length))
        coding = self.headers.get("Content-Encoding", "identity").lower()
        if coding == "gzip":
            try:
                body = zlib.decompressobj(wbits=31).decompress(body, MOST_BYTES + 1)
            except zlib.error as error:
                raise _RefusedError(HTTPStatus.BAD_REQUEST, f"damaged: {error}") from error
            if len(body) > MOST_BYTES:
                raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"longer than {MOST_BYTES >> 20} MiB")
        elif coding != "identity":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "neither gzip nor identity")
        return body

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
