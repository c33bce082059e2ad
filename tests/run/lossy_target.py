"""A target that loses some of what one of its clients sends, as a lossy link does."""

from __future__ import annotations

import ctypes
import socket
import struct
import threading
from typing import Self

_SO_ATTACH_FILTER, _SO_MEMINFO, _DROPS = 26, 55, 8
_LONGEST_HEAD = 60
"""Bytes of a TCP header. Longer segments have data, and are sent again if they are lost."""
_RANDOM = 0xFFFF_F000 + 56
"""Where a filter reads a random number: SKF_AD_OFF + SKF_AD_RANDOM."""


def _filter(share: float) -> bytes:
    """A socket filter of Linux that drops this share of the segments with data."""
    load_length, load, more, at_least, give = 0x80, 0x20, 0x25, 0x35, 0x06
    return b"".join(
        struct.pack("HBBI", *line)
        for line in (
            (load_length, 0, 0, 0),
            (more, 0, 3, _LONGEST_HEAD),  # a shorter one is taken
            (load, 0, 0, _RANDOM),
            (at_least, 1, 0, int(share * 2**32)),
            (give, 0, 0, 0),
            (give, 0, 0, 2**18),
        )
    )


class LossyTarget:
    """Answers all requests. On connections whose first request contains `sign`, it drops `share` of the segments."""

    def __init__(self, sign: str, share: float) -> None:
        self._sign = sign.encode()
        self._filter = ctypes.create_string_buffer(_filter(share))
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = "http://{}:{}".format(*self._listener.getsockname())
        self.dropped = 0
        """Segments with data, of the connections that have ended."""
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _start(self, what: object, *arguments: object) -> None:
        thread = threading.Thread(target=what, args=arguments)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            is_first, head = True, b""
            try:
                while data := connection.recv(65536):
                    head += data
                    if not head.endswith(b"\r\n\r\n"):
                        continue
                    if is_first and self._sign in head:
                        program = struct.pack("HL", 6, ctypes.addressof(self._filter))
                        connection.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
                    is_first, head = False, b""
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            except ConnectionError:
                pass
            values = struct.unpack("9I", connection.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36))
            with self._lock:
                self.dropped += values[_DROPS]
