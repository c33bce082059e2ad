"""A small HTTP server for tests that keeps the very bytes of what it got."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


NOWHERE: dict[str, type[Exception]] = {
    "ftp://127.0.0.1/": requests.exceptions.InvalidSchema,
    "file:///etc/hostname": requests.exceptions.InvalidSchema,
    "javascript:alert(1)": requests.exceptions.InvalidSchema,
    "http+unix://%2Ftmp%2Fnone/": requests.exceptions.InvalidSchema,
    "http://127.0.0.1:0/": requests.exceptions.InvalidURL,
    "http://127.0.0.1:99999/": requests.exceptions.InvalidURL,
    "http://127.0.0.1:abc/": requests.exceptions.InvalidURL,
    "http://me@:80/": requests.exceptions.InvalidURL,
    "http://[::1/": requests.exceptions.InvalidURL,
    "https://": requests.exceptions.InvalidURL,
}
"""Where a redirect may point, and no request can go."""


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it came in."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    """As on the wire: with its chunk lines, if it was chunked."""
    connection: int

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)


def answer(
    status: int = 200, body: bytes = b"", headers: tuple[tuple[str, str], ...] = (), reason: str = "Reason"
) -> bytes:
    """A response with a Content-Length."""
    lines = (("Content-Length", str(len(body))), *headers)
    head = "".join(f"{name}: {value}\r\n" for name, value in lines)
    return f"HTTP/1.1 {status} {reason}\r\n{head}\r\n".encode("latin-1") + body


def json_answer(value: Any, status: int = 200) -> bytes:
    return answer(status, json.dumps(value).encode(), (("Content-Type", "application/json"),))


class ClosingAnswer(bytes):
    """An answer after which the connection is closed."""


@dataclass
class RecordingServer:
    """Answers 200 with an empty body, except for the paths in `answers`.

    An answer is the response's bytes (b"": the client waits), or a function from the request to them, or to parts of
    them that are sent one after the other. None and Last close the connection.
    """

    answers: dict[str, bytes | Callable[[ReceivedRequest], bytes | Iterable[bytes] | None] | None] = field(
        default_factory=dict
    )
    got: list[ReceivedRequest] = field(default_factory=list)
    context: ssl.SSLContext | None = None

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._connections = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    @property
    def url(self) -> str:
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections += 1
                threading.Thread(target=self._serve, args=(connection, self._connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        self._open.add(connection)
        with contextlib.suppress(OSError, EOFError), connection:
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as stream:
                while self._exchange(connection, stream, number):
                    pass
        self._open.discard(connection)

    def _exchange(self, connection: socket.socket, stream: Any, number: int) -> bool:
        method, path, _ = _line(stream).split(" ")
        headers = []
        while line := _line(stream):
            name, _, value = line.partition(": ")
            headers.append((name, value))
        got = ReceivedRequest(
            method, path, headers, _body(stream, {name.lower(): value for name, value in headers}), number
        )
        self.got.append(got)
        response = self.answers.get(path.partition("?")[0], answer())
        if callable(response):
            response = response(got)
        if response is None:
            return False
        part = b""
        for part in [response] if isinstance(response, bytes) else response:
            connection.sendall(part)
        return not isinstance(part, ClosingAnswer)


def _line(stream: Any) -> str:
    line = stream.readline()
    if not line:
        raise EOFError
    return line.decode("latin-1").rstrip("\r\n")


def _body(stream: Any, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return stream.read(int(headers.get("content-length", 0)))
    body = b""
    while True:
        head = stream.readline()
        if not head:
            raise EOFError
        size = int(head, 16)
        body += head + stream.read(size + 2)
        if size == 0:
            return body
