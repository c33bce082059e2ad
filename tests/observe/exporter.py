"""A service with metrics, as prometheus_client serves them, and servers that answer otherwise."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def served(answer: Callable[[str, dict[str, str]], Answer]) -> Iterator[str]:
    """answer: from path and headers to status, headers and body. The URL, without a slash at its end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = answer(self.path, dict(self.headers))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A reader that goes away is part of some tests."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(text: str, *, compressed: bool = False) -> Answer:
    body = text.encode()
    return (200, {"Content-Encoding": "gzip"}, gzip.compress(body)) if compressed else (200, {}, body)
