"""An independent client that measures the overhead outside of the target's record, while something else runs.

It repeats a request without work, half of them on a kept connection and half on new ones. Its times are those of a
plain blocking socket, from before the first call to after the last. The target's own times of the same requests are
subtracted in order. It uses no code of Plimsoll.
"""

import socket
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

from .target_process import PathTruth, Target, Truth
from .tolerance import Overhead

KEPT = "/fixed?ms=0&probe=kept"
FRESH = "/fixed?ms=0&probe=fresh"
PAUSE = 0.0015
REPLY_SECONDS = 30.0


@dataclass
class Probe:
    """A thread that sends requests until exit. Use it as a context manager, then read `overhead`."""

    target: Target
    _kept: list[int] = field(default_factory=list)
    _fresh: list[int] = field(default_factory=list)

    def __enter__(self) -> "Probe":
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def overhead(self, truth: Truth) -> Overhead:
        """Its times minus the target's own times. `truth` must be of the same requests."""
        return Overhead(_outside(self._kept, truth.path(KEPT)), _outside(self._fresh, truth.path(FRESH)))

    def _run(self) -> None:
        address = ("127.0.0.1", self.target.port)
        with socket.create_connection(address, REPLY_SECONDS) as kept:
            kept.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _ask(kept, KEPT)  # the connection's first request, which the target records too
            self._kept.append(-1)
            while not self._over.is_set():
                began = time.monotonic_ns()
                _ask(kept, KEPT)
                self._kept.append(time.monotonic_ns() - began)
                began = time.monotonic_ns()
                with socket.create_connection(address, REPLY_SECONDS) as fresh:
                    _ask(fresh, FRESH)
                    self._fresh.append(time.monotonic_ns() - began)
                time.sleep(PAUSE)


def _ask(connection: socket.socket, target: str) -> None:
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: probe\r\n\r\n".encode())
    received = b""
    while not received.endswith(b"\r\n\r\nok\n"):
        part = connection.recv(4096)
        if not part:
            raise ConnectionError("the target closed the probe's connection")
        received += part


def _outside(measured: list[int], path: PathTruth) -> list[float]:
    """Ascending, in s; without the first request of the kept connection, which is of neither kind."""
    pairs = zip(measured, path.times, strict=True)
    return sorted(max(0, took - (time or 0)) / 1e9 for took, time in pairs if took >= 0)
