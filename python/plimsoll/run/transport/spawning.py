"""Starts the processes of workers on this machine, some before a run asks for them.

A worker takes as long to import what it needs as the command does, so both do it at the same time. This module is
imported first of all, and imports little itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Protocol

from plimsoll.run.allocation import with_allocation
from plimsoll.run.program import calling_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STARTS_NONE = frozenset(
    ("-h", "--help", "-V", "--version", "-l", "--list", "--show-task-ratio", "--show-task-ratio-json", "--dry-run",
     "--master", "--worker", "--slave", "--attach", "--cluster", "--on")
)  # fmt: skip
"""Words of `plimsoll run` with which the command starts no worker here."""
LOCUSTFILE = frozenset(("-f", "--locustfile"))
"""Options that name a locustfile."""


class ChildProcess(Protocol):
    """What is asked of the process of a worker, as `subprocess.Popen` has it."""

    pid: int

    @property
    def stdout(self) -> IO[bytes] | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


_ahead: dict[tuple[int, bool], tuple[socket.socket, ChildProcess]] = {}
"""Processes that are there before a run asks for them, by index and whether their output is captured."""


@contextlib.contextmanager
def first_worker(words: Sequence[str]) -> Iterator[None]:
    """Within the block the first worker of `plimsoll run …` is starting, if these words may ask for one. Nothing is
    read but the words: the command ends it if it is not needed."""
    try:
        if words[:1] == ["run"] and not _starts_none(words) and calling_program() is None:
            capture = "--only-summary" not in words and sys.stderr.isatty() and sys.stdout.isatty()
            _start_ahead(1, capture=capture, is_native=_looks_native(words[1:]))
        yield
    finally:
        end_unused()


def _starts_none(words: Sequence[str]) -> bool:
    return any(word.partition("=")[0] in STARTS_NONE for word in words)


def _looks_native(words: Sequence[str]) -> bool:
    """Whether the first word is a URL or a plan. A wrong guess costs only time."""
    return (
        bool(words)
        and not words[0].startswith("-")
        and not any(word in LOCUSTFILE or word.endswith(".py") for word in words)
    )


@contextlib.contextmanager
def started_ahead(count: int, *, capture: bool, is_native: bool = False) -> Iterator[None]:
    """Within the block the processes of the next run of this machine are there. At the end those that no run has asked
    for are killed. is_native: they load nothing for a locustfile."""
    try:
        if calling_program() is None:
            _start_ahead(count, capture=capture, is_native=is_native)
        yield
    finally:
        end_unused()


def taken_ahead(index: int, capture: bool) -> tuple[socket.socket, ChildProcess] | None:
    """Our end of its stream and its process, if it was started ahead; it is the caller's then."""
    return _ahead.pop((index, capture), None)


def end_unused() -> None:
    """Kill the processes that no run has asked for."""
    while _ahead:
        _, (connection, process) = _ahead.popitem()
        process.kill()
        process.wait()
        connection.close()
        if process.stdout is not None:
            process.stdout.close()


def _start_ahead(count: int, *, capture: bool, is_native: bool) -> None:
    for index in range(count):
        if (index, capture) not in _ahead:
            _ahead[index, capture] = connected_worker(index, capture, loads_locust=not is_native)


def connected_worker(
    index: int, capture: bool, *, is_own: bool = False, loads_locust: bool = False
) -> tuple[socket.socket, ChildProcess]:
    """Our end of its stream, and the process. The arguments are those of `spawn_worker`."""
    connection, theirs = socket.socketpair()
    try:
        with theirs:
            return connection, spawn_worker(index, theirs.fileno(), capture, is_own=is_own, loads_locust=loads_locust)
    except OSError:
        connection.close()
        raise


def spawn_worker(
    index: int,
    fd: int,
    capture: bool,
    files: str | None = None,
    folder: str | None = None,
    kept: str | None = None,
    *,
    is_own: bool = False,
    loads_locust: bool = False,
) -> ChildProcess:
    """fd: its end of the stream. files: the folder with the files of the run, if they were brought here from another
    machine; the process is then in a session of its own and ends with this one. folder: its working directory. kept:
    the file for what it measured, if the coordinator is lost; with files only. loads_locust: it loads what a locustfile
    needs before it knows the plan. capture, is_own: as `WorkerProcess` has them."""
    if (program := calling_program()) is not None:
        worker = {"index": index, "files": files, "kept": kept}
        return program.work(worker, fd, folder, captured=capture, is_own=is_own, in_session=files is not None)
    # Not the current folder on sys.path (-P): a redis.py there must not meet our own imports.
    ahead = ["--ahead"] if loads_locust else []
    command = [sys.executable, "-P", "-m", "plimsoll.locust.script.process", *ahead, str(fd), str(index)]
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
