"""Worker processes of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

from plimsoll.run.transport.allocation import with_allocation
from plimsoll.run.transport.handle import WorkerHandle

if TYPE_CHECKING:
    from plimsoll.run.transport.clock import WorkerClock

EXIT_TIMEOUT_S = 5.0
"""Seconds that a process may take to exit once it has said all."""


class WorkerProcess(WorkerHandle):
    """A child with one worker, or the main node, in it.

    capture: its stdout and stderr come through `output` instead of going to ours. files: the folder with the files of
    the run, if they were brought here from another machine; the child is then in a session of its own and ends with
    this process. folder: its working directory. kept: as `spawn_worker` has it.
    """

    def __init__(
        self,
        index: int,
        *,
        capture: bool = False,
        clock: WorkerClock | None = None,
        files: str | None = None,
        folder: str | None = None,
        kept: str | None = None,
    ) -> None:
        connection, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = spawn_worker(index, theirs.fileno(), capture, files, folder, kept)
        except OSError:
            connection.close()
            raise
        self._leads_session = files is not None
        super().__init__(index, connection, self._process.stdout, clock)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def place(self) -> str:
        return f"pid {self.pid}"

    def kill(self) -> None:
        """With what its users have started, if it leads a session."""
        if self._leads_session and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def end_orders(self) -> None:
        """There is no coordinator any more: the worker writes what it has kept, and exits."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    @property
    def has_exited(self) -> bool:
        return self._process.poll() is not None

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


def spawn_worker(
    index: int, fd: int, capture: bool, files: str | None, folder: str | None, kept: str | None = None
) -> subprocess.Popen[bytes]:
    """fd: its end of the stream. kept: the file for what it measured, if the coordinator is lost; with files only. The
    others as `WorkerProcess` has them."""
    # Not the current folder on sys.path (-P): a redis.py there must not meet our own imports.
    command = [sys.executable, "-P", "-m", "plimsoll.locust.script.process", str(fd), str(index)]
    environment = with_allocation({**os.environ, "PYTHONUNBUFFERED": "1"} if capture else os.environ)
    with contextlib.ExitStack() as stack:
        if files is None:
            # An ignored signal stays ignored in the child: Ctrl-C, which goes to the whole foreground group, is ours.
            stack.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN))
        return subprocess.Popen(
            [*command, *(each for each in (files, kept) if each is not None)],
            pass_fds=(fd,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            env=environment,
            cwd=folder,
            start_new_session=files is not None,
        )
