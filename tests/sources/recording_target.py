"""A server on a free port of 127.0.0.1 that keeps every request as it came."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Headers = dict[str, str]


@dataclass(frozen=True)
class Received:
    """One request."""

    method: str
    path: str
    """With its query."""
    headers: Headers
    """By name in small letters."""
    body: bytes

    @property
    def route(self) -> str:
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    @property
    def cookies(self) -> dict[str, str]:
        pairs = (pair.strip().partition("=") for pair in self.headers.get("cookie", "").split(";"))
        return {name: value for name, _, value in pairs if name}


@dataclass(frozen=True)
class Answer:
    """A reply."""

    status: int = 200
    body: str | dict[str, Any] = ""
    headers: tuple[tuple[str, str], ...] = ()


Rules = Callable[[Received], Answer]


class Target:
    """Its URL, and what it has received."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[Received] = []

    def take(self) -> list[Received]:
        """What came since the last call."""
        taken, self.received = self.received, []
        return taken


@contextmanager
def target(rules: Rules = lambda _: Answer()) -> Iterator[Target]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            received = Received(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            made.received.append(received)
            reply = rules(received)
            is_json = isinstance(reply.body, dict)
            content = (json.dumps(reply.body) if is_json else str(reply.body)).encode()
            self.send_response(reply.status)
            names = {name.lower() for name, _ in reply.headers}
            if "content-type" not in names:
                self.send_header("Content-Type", "application/json" if is_json else "text/html; charset=utf-8")
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_PURGE = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Target(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
