"""Reads a process's standard output. It can stop reading, or close the pipe."""

import fcntl
import os
import select
import threading

SMALL = 4096
"""Size of the pipe in bytes: the smallest in Linux."""


class Output:
    """Reads in a thread, until the writers end, or until `close`."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        """Pass `writing` to the process, then close it here."""
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, SMALL)
        self._may_read = threading.Event()
        self._may_read.set()
        self._is_closed = threading.Event()
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)

    def start(self) -> None:
        """Call it after the process has received its end."""
        os.close(self.writing)
        self._thread.start()

    def pause(self) -> None:
        """Stop reading until `resume`."""
        self._may_read.clear()

    def resume(self) -> None:
        self._may_read.set()

    def close(self) -> None:
        """Close the pipe, so that later writes fail."""
        self._is_closed.set()
        self._thread.join()

    def text(self) -> str:
        """The whole output. Waits for the end of the writers."""
        self.resume()
        self._thread.join()
        return b"".join(self._parts).decode(errors="replace")

    def _read(self) -> None:
        while self._may_read.wait() and not self._is_closed.is_set():
            if not select.select([self._reading], [], [], 0.05)[0]:
                continue
            part = os.read(self._reading, 1 << 16)
            if not part:
                break
            self._parts.append(part)
        os.close(self._reading)
