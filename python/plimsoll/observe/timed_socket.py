"""A socket whose reads and writes end at a deadline together, however many pieces the data comes in."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


class TimedSocket:
    """What `http.client` and `http.server` use of a socket. A socket's own timeout is per piece: a peer that sends one
    byte a second never reaches it.

    left: the seconds that the next piece may take; raises TimeoutError when there are none.
    """

    def __init__(self, of: socket.socket, left: Callable[[], float]) -> None:
        self._socket = of
        self._left = left

    def makefile(self, mode: str, buffering: int = -1) -> io.BufferedReader:
        """For reading only, and buffered: both are what the two libraries ask for."""
        # The file holds the socket open until it is closed itself, as for any socket.
        return io.BufferedReader(_TimedFile(self._socket, self._left))

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(self._left())
        self._socket.sendall(data)

    def close(self) -> None:
        self._socket.close()


class _TimedFile(io.RawIOBase):
    def __init__(self, of: socket.socket, left: Callable[[], float]) -> None:
        self._socket = of
        self._left = left
        self._file = of.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        self._socket.settimeout(self._left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()
