"""The reader of a process's standard output: somebody who may stop to read, or go away."""

import fcntl
import os
import select
import threading

SMALL = 4096
"""Bytes that the pipe holds: the smallest that Linux has."""


class Output:
    """Reads in a thread, until the writers are gone, or until it is to go away itself."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        """`writing` is for the process, and to be closed here once it has it."""
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, SMALL)
        self._may_read = threading.Event()
        self._may_read.set()
        self._is_closed = threading.Event()
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)

    def start(self) -> None:
        """Call it when the process has its end."""
        os.close(self.writing)
        self._thread.start()

    def pause(self) -> None:
        """Read no more, until `resume`."""
        self._may_read.clear()

    def resume(self) -> None:
        self._may_read.set()

    def close(self) -> None:
        """Go away: whoever writes then gets an error."""
        self._is_closed.set()
        self._thread.join()

    def text(self) -> str:
        """All of it. Waits for the end of the writers."""
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
