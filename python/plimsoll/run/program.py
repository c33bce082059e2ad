"""The program that has called `locust.main.main()`, as the command that it has started sees it.

Each process of the run must have the listeners, the options and the settings of the program. So the command starts none
itself: it asks the program, whose own process becomes one of them. The others are forks of the program as it was when
it called. `plimsoll.locust.program` is the other side.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

READ_BYTES = 65536
STEP_S = 0.5
"""Seconds between two looks at whether a process has ended."""


class ProgramProcess:
    """The part of `subprocess.Popen` that is used of a worker, for a process that is no child of this one.

    ended: a pipe to which the process writes its exit code, and which closes with the process.
    """

    def __init__(self, pid: int, ended: int, stdout: IO[bytes] | None) -> None:
        self.pid = pid
        self.stdout = stdout
        os.set_blocking(ended, False)
        self._ended = ended
        self._said = b""
        self._code: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """The exit code; None as long as it runs, 0 if it has ended without one."""
        with self._lock:
            while self._code is None:
                try:
                    data = os.read(self._ended, READ_BYTES)
                except BlockingIOError:
                    return None
                self._said += data
                if not data:
                    self._code = int(self._said or 0)
                    os.close(self._ended)
            return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = STEP_S if end is None else min(STEP_S, end - time.monotonic())
            if left < 0:
                raise subprocess.TimeoutExpired("a process of the program", timeout or 0)
            with contextlib.suppress(OSError, ValueError):  # another thread has closed it
                select.select([self._ended], [], [], left)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def kill_after(self, seconds: float) -> None:
        """Unless it has ended by then."""
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()


class CallingProgram:
    """own, forks: who takes requests for the program's own process, and for forks of it. file: its source, if it has
    one."""

    def __init__(self, own: socket.socket, forks: socket.socket, file: str | None) -> None:
        self._own = own
        self._forks = forks
        self.file = file
        self._lock = threading.Lock()

    def work(
        self, worker: dict[str, Any], stream: int, folder: str | None, *, captured: bool, is_own: bool, in_session: bool
    ) -> ProgramProcess:
        """Start a worker. worker: index, files and kept, as its process has them. stream: its end of the stream.

        folder: its working directory; None: that of the program. is_own: in the program's own process, once.
        in_session: in a session of its own. Raises OSError.
        """
        request = {"worker": worker, "folder": folder, "in_session": in_session}
        return self._start(self._own if is_own else self._forks, request, captured=captured, streams=[stream])

    def answer(self, module: str, question: str, timeout: float | None) -> bytes:
        """What a module of ours prints about the question. Raises OSError, subprocess.TimeoutExpired."""
        process = self._start(self._forks, {"module": module, "question": question}, captured=True, streams=[])
        assert process.stdout is not None
        timer = threading.Timer(timeout, process.kill) if timeout is not None else None
        if timer is not None:
            timer.start()
        with process.stdout as output:
            data = output.read()
        if timer is not None and not timer.is_alive():
            raise subprocess.TimeoutExpired(module, timeout or 0)
        if timer is not None:
            timer.cancel()
        process.wait()
        return data

    def _start(
        self, place: socket.socket, request: dict[str, Any], *, captured: bool, streams: Sequence[int]
    ) -> ProgramProcess:
        ended, its_end = os.pipe()
        output: tuple[int, ...] = os.pipe() if captured else ()
        given = [its_end, *output[1:], *streams]
        try:
            pid = self._ask(place, {**request, "captured": captured}, given)
        except OSError:
            for each in (ended, *output[:1]):
                os.close(each)
            raise
        finally:
            for each in (its_end, *output[1:]):
                os.close(each)
        return ProgramProcess(pid, ended, os.fdopen(output[0], "rb") if captured else None)

    def _ask(self, place: socket.socket, request: dict[str, Any], given: Sequence[int]) -> int:
        """The id of the process. Raises OSError."""
        data = json.dumps(request).encode() + b"\n"
        with self._lock:
            sent = socket.send_fds(place, [data], given)
            place.sendall(data[sent:])
            reply = b""
            while not reply.endswith(b"\n"):
                if not (more := place.recv(READ_BYTES)):
                    raise OSError("the program that has called main() is gone")
                reply += more
        found = json.loads(reply)
        if "error" in found:
            raise OSError(found["error"])
        return int(found["pid"])


_current: CallingProgram | None = None


def calling_program() -> CallingProgram | None:
    """The one that has started this command with `locust.main.main()`."""
    return _current


def join(own: int, forks: int, file: str) -> None:
    """The program has started this process. own, forks: descriptors of sockets. file: "" for none."""
    global _current
    for each in (own, forks):
        # What this process starts must not keep the program waiting.
        os.set_inheritable(each, False)
    _current = CallingProgram(socket.socket(fileno=own), socket.socket(fileno=forks), file or None)


def refuse_elsewhere(option: str, value: object) -> None:
    """Raises UsageError for workers on other machines, to which the program cannot bring what it has done. option:
    with which they were asked for."""
    if _current is not None and value is not None:
        raise UsageError(
            f"{option} starts workers on other machines, without what the program has done before it called "
            f"locust.main.main(); put its listeners into the locustfile, and use plimsoll run {option}"
        )


def program_files() -> list[str]:
    """The source of the program, if it is a file of Python."""
    file = _current.file if _current is not None else None
    return [file] if file and file.endswith(".py") and file != sys.argv[0] else []
