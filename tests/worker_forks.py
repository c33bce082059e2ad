"""Workers of commands that run within the process of a test, as forks of one process that has imported what they need.

A worker imports for a third of a second, longer than most runs of tests last. The first worker that a test process asks
for starts the process that forks. A worker whose environment matters while Python starts is started anew, as ever.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from plimsoll.run.allocation import with_allocation
from plimsoll.run.program import ProgramProcess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORKER = "plimsoll.locust.script.process"
AT_START = ("PYTHON", "LANG", "LC_", "GEVENT", "LD_", "LOCUST", "SSL_", "OPENSSL")
"""How the names of variables begin that Python, a library or the worker reads before its first order."""
READ_BYTES = 1 << 20
FORKS = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.worker_forks import serve
serve(int(sys.argv[2]))
"""


class WorkerForks:
    """Stands in for the module `subprocess` where workers are started."""

    PIPE, STDOUT, DEVNULL = subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: socket.socket | None = None
        self._environment = with_allocation(os.environ)

    def Popen(self, command: Sequence[str], **settings: Any) -> Any:  # noqa: N802 - as in subprocess
        """A fork that is the worker, or a process of its own if it must be one."""
        if list(command[1:4]) != ["-P", "-m", WORKER] or _at_start(settings["env"]) != _at_start(self._environment):
            return subprocess.Popen(command, **settings)
        output: tuple[int, ...] = os.pipe() if settings["stdout"] is not None else ()
        ended, its_end = os.pipe()
        printed = [output[1]] * 2 if output else [1, 2]
        request = {
            "arguments": list(command[4:]),
            "environment": settings["env"],
            "folder": settings["cwd"] or str(Path.cwd()),
            "in_session": settings["start_new_session"],
            "blocked": [int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
            "is_captured": bool(output),
        }
        try:
            pid = self._ask(request, [*settings["pass_fds"], its_end, *printed])
        finally:
            for descriptor in (its_end, *output[1:]):
                os.close(descriptor)
        return ProgramProcess(pid, ended, os.fdopen(output[0], "rb") if output else None)

    def _ask(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        with self._lock:
            asked = self._asked = self._asked or self._start()
            data = json.dumps(request).encode() + b"\n"
            sent = socket.send_fds(asked, [data], descriptors)
            asked.sendall(data[sent:])
            return int(asked.recv(64))

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).parents[1])
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", FORKS, root, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),), env=self._environment, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        atexit.register(process.wait)
        atexit.register(ours.close)
        return ours


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    ignored = ("PYTHONUNBUFFERED",)  # a fork prints by the line
    return {name: value for name, value in environment.items() if name.startswith(AT_START) and name not in ignored}


_forks = WorkerForks()


@contextlib.contextmanager
def forked_workers() -> Iterator[None]:
    """Within the block the workers of this process are forks."""
    with mock.patch("plimsoll.run.transport.spawning.subprocess", _forks):
        yield


def serve(descriptor: int) -> None:
    """Fork for each request, in the process that forks."""
    from plimsoll.locust import install

    install()
    from gevent import monkey
    from gevent.os import fork_gevent

    import plimsoll.locust.script.script
    import plimsoll.run.worker.main  # noqa: F401 - what workers need

    asked = monkey.get_original("socket", "socket")(fileno=descriptor)
    wait, close = monkey.get_original("os", "waitpid"), monkey.get_original("os", "close")
    set_handler = monkey.get_original("signal", "signal")  # gevent keeps SIGCHLD for itself
    ends: dict[int, int] = {}

    def reap(*_: object) -> None:
        for pid in list(ends):
            ended, status = wait(pid, os.WNOHANG)
            if ended:
                os.write(ends[pid], str(os.waitstatus_to_exitcode(status)).encode())
                close(ends.pop(pid))

    set_handler(signal.SIGINT, signal.SIG_IGN)
    set_handler(signal.SIGCHLD, reap)
    while (received := _receive(asked)) is not None:
        request, descriptors = received
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        pid = fork_gevent()
        if pid == 0:
            set_handler(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in (asked.detach(), *ends.values()):
                close(descriptor)
            _work(request, *descriptors)
        stream, ends[pid], *printed = descriptors
        for descriptor in (stream, *printed):
            close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        asked.sendall(str(pid).encode())
    os._exit(0)


def _receive(asked: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """A request and its descriptors; None once the test process has ended."""
    data, descriptors = b"", array.array("i")
    while not data.endswith(b"\n"):
        more, extra, _, _ = asked.recvmsg(READ_BYTES, socket.CMSG_LEN(4 * descriptors.itemsize))
        if not more:
            return None
        data += more
        for _, _, sent in extra:
            descriptors.frombytes(sent)
    return json.loads(data), list(descriptors)


def _work(request: dict[str, Any], stream: int, ended: int, out: int, err: int) -> None:
    """Be the worker that was asked for, as `python -m plimsoll.locust.script.process` is it."""
    import random

    from plimsoll.locust.script import process
    from plimsoll.run import standard_streams
    from plimsoll.run.allocation import forget

    code = 1
    try:
        os.close(ended)
        os.dup2(out, 1)
        os.dup2(err, 2)
        for descriptor in {out, err}:
            os.close(descriptor)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, request["blocked"])
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        if request["in_session"]:
            os.setsid()
        _, index, *rest = request["arguments"]
        sys.argv = [process.__file__, str(stream), index, *rest]
        random.seed()
        standard_streams.prepare()
        if request["is_captured"]:
            for printed in (sys.stdout, sys.stderr):
                printed.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        forget(os.environ)
        files, kept = [*rest, None, None][:2]
        if files is not None:
            process.end_with_parent()
        process.main(stream, int(index), process.LocustScript, files, kept)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # what Python does with the last error of a process
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    for printed in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            printed.flush()
    os._exit(code)
