"""A target of the lab that writes the bytes of its replies itself."""

import base64
import hashlib
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self

_WEBSOCKET_ID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class RawTarget:
    """Listens while its with-block lasts. serve: handles a connection, in a thread of its own; the connection is closed
    when it returns, and when it raises OSError or EOFError."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.first = 0.0
        """When the first connection was made: s on the monotonic clock; 0 before it."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.first = self.first or time.monotonic()
                threading.Thread(target=self._work, args=(connection,), daemon=True).start()

    def _work(self, connection: socket.socket) -> None:
        with suppress(OSError, EOFError), connection:
            self._serve(connection)


def read_head(connection: socket.socket) -> bytes:
    """The head of a request without a body; empty at the end of the connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(65536)
        if not data:
            return b""
        head += data
    return head


def header_lines(head: bytes) -> dict[bytes, bytes]:
    """The headers of a request by their names in lower case."""
    lines = (line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    return {name.lower(): value for name, value in lines}


def switch_to_websocket(head: bytes, more: bytes = b"") -> bytes:
    """The reply to the opening request of a WebSocket. more: further header lines."""
    accept = base64.b64encode(hashlib.sha1(header_lines(head)[b"sec-websocket-key"] + _WEBSOCKET_ID).digest())
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    return upgrade + b"Sec-WebSocket-Accept: " + accept + b"\r\n" + more + b"\r\n"
