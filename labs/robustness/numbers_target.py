"""A target that says numbers at their limits, and counts the requests that it has read."""

import socket
import threading
from collections.abc import Callable

from .raw_target import RawTarget, read_head, switch_to_websocket

OK = "HTTP/1.1 200 OK\r\n"


class NumbersTarget(RawTarget):
    """place: where each reply has the number."""

    def __init__(self, place: str, number: str) -> None:
        super().__init__(self._read)
        self._answer: Callable[[bytes], bytes] = getattr(self, f"_{place}")
        self._number = number
        self._lock = threading.Lock()
        self.requests = 0

    def _read(self, connection: socket.socket) -> None:
        while head := read_head(connection):
            with self._lock:
                self.requests += 1
            connection.sendall(self._answer(head))

    def _usage(self, _: bytes) -> bytes:
        chunks = ['{"choices": [{"delta": {"content": "\\ud83d"}}]}'] * 2
        chunks += [f'{{"choices": [], "usage": {{"completion_tokens": {self._number}}}}}', "[DONE]"]
        return _reply("".join(f"data: {each}\n\n" for each in chunks), "Content-Type: text/event-stream\r\n")

    def _event(self, _: bytes) -> bytes:
        event = f"id: {self._number}\nretry: {self._number}\ndata: {self._number}\n\n"
        return _reply(event * 2, "Content-Type: text/event-stream\r\n")

    def _timing(self, _: bytes) -> bytes:
        return _reply("x", f"Server-Timing: db;dur={self._number}, app;dur={self._number}\r\n")

    def _cookie(self, _: bytes) -> bytes:
        return _reply("x", f"Set-Cookie: a=1; Max-Age={self._number}\r\nAge: {self._number}\r\n")

    def _length(self, _: bytes) -> bytes:
        return f"{OK}Content-Length: {self._number}\r\n\r\nx".encode()

    def _chunk(self, _: bytes) -> bytes:
        return f"{OK}Transfer-Encoding: chunked\r\n\r\n{self._number}\r\nx\r\n0\r\n\r\n".encode()

    def _json(self, _: bytes) -> bytes:
        return _reply(f'{{"n": {self._number}, "list": [{self._number}]}}', "Content-Type: application/json\r\n")

    def _status(self, _: bytes) -> bytes:
        return f"HTTP/1.1 {self._number} OK\r\nContent-Length: 0\r\n\r\n".encode()

    def _plain(self, _: bytes) -> bytes:
        return _reply("x")

    def _message(self, head: bytes) -> bytes:
        """A WebSocket, a text with the number, and a frame that says to be as long as frames can say."""
        text = f'{{"n": {self._number}}}'.encode()[:125]
        frames = bytes([0x81, len(text)]) + text + b"\x81\x7f" + (2**63 - 1).to_bytes(8, "big")
        return switch_to_websocket(head) + frames


def _reply(body: str, lines: str = "") -> bytes:
    return f"{OK}{lines}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode()
