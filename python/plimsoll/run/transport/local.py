"""Worker processes of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Protocol

from plimsoll.run.program import ProgramProcess, calling_program
from plimsoll.run.transport.allocation import with_allocation
from plimsoll.run.transport.handle import WorkerHandle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.transport.clock import WorkerClock

EXIT_TIMEOUT_S = 5.0
"""Seconds that a process may take to exit once it has said all."""
KILL_AFTER_S = 1.5
"""Seconds that it may take to hand over what it has, once a signal has cut the run off."""
REPEATED_S = 1.0
"""Seconds within which the end of a run and a signal to the coordinator may have the same cause."""


class ChildProcess(Protocol):
    """What is asked of the process of a worker, as `subprocess.Popen` has it."""

    pid: int

    @property
    def stdout(self) -> IO[bytes] | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


class WorkerProcess(WorkerHandle):
    """A child with one worker, or the main node, in it.

    capture: its stdout and stderr come through `output` instead of going to ours. files: the folder with the files of
    the run, if they were brought here from another machine; the child is then in a session of its own and ends with
    this process. folder: its working directory. kept: as `spawn_worker` has it. is_own: it is the process of the
    program that has called `locust.main.main()`, if there is one; only one in a command can be.
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
        is_own: bool = False,
    ) -> None:
        ahead = _ahead.pop((index, capture), None) if files is None and folder is None else None
        connection, self._process = ahead or connected_worker(index, capture, files, folder, kept, is_own=is_own)
        self._leads_session = files is not None
        self._is_own = is_own
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
        elif self._is_own and isinstance(self._process, ProgramProcess):
            # The rest of the program is to run: the worker ends by itself, as if the coordinator were lost.
            self.end_orders()
            self._process.kill_after(2 * EXIT_TIMEOUT_S)
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


_ahead: dict[tuple[int, bool], tuple[socket.socket, ChildProcess]] = {}
"""Processes that are there before a run asks for them, by index and whether their output is captured."""


@contextlib.contextmanager
def started_ahead(count: int, *, capture: bool) -> Iterator[None]:
    """Within the block the processes of the next run of this machine are there: they import what they need while this
    process does the same. At the end those that no run has asked for are killed."""
    try:
        if calling_program() is None:
            for index in range(count):
                _ahead[index, capture] = connected_worker(index, capture)
        yield
    finally:
        while _ahead:
            _, (connection, process) = _ahead.popitem()
            process.kill()
            process.wait()
            connection.close()
            if process.stdout is not None:
                process.stdout.close()


def connected_worker(
    index: int,
    capture: bool,
    files: str | None = None,
    folder: str | None = None,
    kept: str | None = None,
    *,
    is_own: bool = False,
) -> tuple[socket.socket, ChildProcess]:
    """Our end of its stream, and the process. The arguments are those of `spawn_worker`."""
    connection, theirs = socket.socketpair()
    try:
        with theirs:
            return connection, spawn_worker(index, theirs.fileno(), capture, files, folder, kept, is_own=is_own)
    except OSError:
        connection.close()
        raise


def spawn_worker(
    index: int,
    fd: int,
    capture: bool,
    files: str | None,
    folder: str | None,
    kept: str | None = None,
    *,
    is_own: bool = False,
) -> ChildProcess:
    """fd: its end of the stream. kept: the file for what it measured, if the coordinator is lost; with files only. The
    others as `WorkerProcess` has them."""
    if (program := calling_program()) is not None:
        worker = {"index": index, "files": files, "kept": kept}
        return program.work(worker, fd, folder, captured=capture, is_own=is_own, in_session=files is not None)
    # Not the current folder on sys.path (-P): a redis.py there must not meet our own imports.
    command = [sys.executable, "-P", "-m", "plimsoll.locust.script.process", str(fd), str(index)]
    environment = with_allocation({**os.environ, "PYTHONUNBUFFERED": "1"} if capture else os.environ)
    with contextlib.ExitStack() as stack:
        if files is None:
            # A blocked signal stays blocked in the child, until it ignores it: Ctrl-C, which goes to the whole
            # foreground group, is ours. One that comes meanwhile waits until it is not blocked here any more.
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, blocked)
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
