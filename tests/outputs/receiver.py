"""An HTTP server that keeps what it gets, and answers as a test says."""

from __future__ import annotations

import gzip
import socket
import ssl
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Receiver:
    url: str = ""
    answer: Callable[[], tuple[int, dict[str, str]]] = lambda: (200, {})
    """Status and headers of the response to a request. It may wait."""
    reply: bytes | None = None
    """The body of responses with 2xx; None: the status as text."""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    """Path, headers and body of the requests that were answered with 2xx."""

    @property
    def body(self) -> bytes:
        return b"".join(body for _, _, body in self.requests)


@contextmanager
def receiving(port: int = 0, certificate: tuple[str, str] | None = None) -> Iterator[Receiver]:
    """certificate: its own, and the key; None: no TLS."""
    receiver = Receiver()
    connections: list[socket.socket] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            status, headers = receiver.answer()
            if 200 <= status < 300:
                receiver.requests.append((self.path, dict(self.headers), body))
            reply = b"" if status == 204 else f"status {status}".encode()
            if receiver.reply is not None and 200 <= status < 300:
                reply = receiver.reply
            self.send_response(status)
            for name, value in {"Content-Length": str(len(reply)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            """A sender that goes away is part of some tests."""

        def process_request(self, request: Any, client_address: Any) -> None:
            connections.append(request)
            super().process_request(request, client_address)

    server = Server(("127.0.0.1", port), Handler)
    receiver.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        # A kept connection ends with its server, as when a process ends.
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        thread.join()
