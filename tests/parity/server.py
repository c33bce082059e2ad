"""The target of the parity cases: it answers by path, and keeps what it received as it was on the wire."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .answers import RESET, answer

if TYPE_CHECKING:
    from typing import BinaryIO


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    method: str
    target: str
    """As in the request line."""
    headers: tuple[str, ...]
    """The lines in their order, without line ends."""
    body: bytes
    """As on the wire: with its chunk lines, if it was chunked."""
    connection: int
    """From 1, in the order in which connections were first used."""

    def header(self, name: str) -> str:
        """Its value, "" without it."""
        start = f"{name.lower()}:"
        return next((line.partition(":")[2].strip() for line in self.headers if line.lower().startswith(start)), "")


@dataclass
class Server:
    """Listens on a free port of 127.0.0.1 until `close`; `take` hands over what came in since the last time."""

    received: list[Received] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._lock = threading.Lock()
        self._connections = 0
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def take(self) -> list[Received]:
        with self._lock:
            taken, self.received, self._connections = self.received, [], 0
        return taken

    def close(self) -> None:
        # Shut down first: close alone would leave the thread in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        number = 0
        with contextlib.suppress(OSError, EOFError, ValueError), connection, connection.makefile("rb") as stream:
            while True:
                method, target, headers, body = _request(stream)
                with self._lock:
                    if not number:
                        self._connections = number = self._connections + 1
                    received = Received(method, target, headers, body, number)
                    self.received.append(received)
                response = answer(received)
                if response is RESET:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                connection.sendall(response.data)
                if response.last:
                    return


def _request(stream: BinaryIO) -> tuple[str, str, tuple[str, ...], bytes]:
    method, target, _ = _line(stream).split(" ")
    lines = []
    while line := _line(stream):
        lines.append(line)
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return method, target, tuple(lines), _body(stream, fields)


def _line(stream: BinaryIO) -> str:
    line = stream.readline()
    if not line:
        raise EOFError
    return line.decode("latin-1").rstrip("\r\n")


def _body(stream: BinaryIO, fields: dict[str, str]) -> bytes:
    if fields.get("transfer-encoding") != "chunked":
        return stream.read(int(fields.get("content-length", 0)))
    body = b""
    while True:
        head = stream.readline()
        size = int(head, 16)
        body += head + stream.read(size + 2)
        if size == 0:
            return body
