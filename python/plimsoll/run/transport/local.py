"""Worker processes of this machine."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess

from plimsoll.run.program import ProgramProcess
from plimsoll.run.transport.handle import WorkerHandle
from plimsoll.run.transport.spawning import connected_worker, taken_ahead

EXIT_TIMEOUT_S = 5.0
"""Seconds that a process may take to exit once it has said all."""
KILL_AFTER_S = 1.5
"""Seconds that it may take to hand over what it has, once a signal has cut the run off."""
REPEATED_S = 1.0
"""Seconds within which the end of a run and a signal to the coordinator may have the same cause."""


class WorkerProcess(WorkerHandle):
    """A child with one worker, or the main node, in it.

    capture: its stdout and stderr come through `output` instead of going to ours. is_own: it is the process of the
    program that has called `locust.main.main()`, if there is one; only one in a command can be.
    """

    def __init__(
        self,
        index: int,
        *,
        capture: bool = False,
        is_own: bool = False,
    ) -> None:
        connection, self._process = taken_ahead(index, capture) or connected_worker(index, capture, is_own=is_own)
        self._is_own = is_own
        super().__init__(index, connection, self._process.stdout)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def place(self) -> str:
        return f"pid {self.pid}"

    def kill(self) -> None:
        if self._is_own and isinstance(self._process, ProgramProcess):
            # The rest of the program is to run: the worker ends by itself, as if the coordinator were lost.
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)
            self._process.kill_after(2 * EXIT_TIMEOUT_S)
        else:
            self._process.kill()

    def wait(self) -> str | None:
        self.connection.close()
        try:
            code = self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}" if code else None
