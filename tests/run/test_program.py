from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.run import program
from plimsoll.run.program import CallingProgram, ProgramProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def process() -> Iterator[tuple[ProgramProcess, int]]:
    """And the end of the pipe that the process has."""
    ended, its_end = os.pipe()
    yield ProgramProcess(os.getpid(), ended, None), its_end


def test_a_process_has_ended_when_its_pipe_closes(process: tuple[ProgramProcess, int]) -> None:
    ours, its_end = process
    assert ours.poll() is None
    os.write(its_end, b"3")
    assert ours.poll() is None, "it has said its exit code, and still runs"
    with pytest.raises(subprocess.TimeoutExpired):
        ours.wait(0.01)
    os.close(its_end)
    assert (ours.wait(5), ours.poll(), ours.wait()) == (3, 3, 3)


def test_one_that_is_killed_has_no_code_of_its_own() -> None:
    ended, its_end = os.pipe()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[its_end]) as child:
        os.close(its_end)
        ours = ProgramProcess(child.pid, ended, None)
        ours.kill_after(0.01)
        assert ours.wait(30) == 0
        assert child.wait() == -signal.SIGKILL
        ours.kill()


class Answering:
    """The program's end of a socket: keeps the requests, and answers each with `reply`."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.requests: list[dict[str, Any]] = []
        self._reply = reply
        threading.Thread(target=self._answer, daemon=True).start()

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, *_: object) -> None:
        self.ours.close()
        self.theirs.close()

    def _answer(self) -> None:
        # The test may be over before anything is asked, or before the answer.
        with contextlib.suppress(OSError):
            data, extra, _, _ = self.theirs.recvmsg(1 << 16, socket.CMSG_LEN(64))
            if not data:
                return
            descriptors = array("i", extra[0][2])
            self.requests.append({**json.loads(data), "descriptors": len(descriptors)})
            for descriptor in descriptors:
                os.close(descriptor)
            self.theirs.sendall(json.dumps(self._reply).encode() + b"\n")


def test_a_worker_of_its_own_is_the_program_and_others_are_forks() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Answering({"pid": 4}) as own, Answering({"pid": 5}) as forks:
        asked = CallingProgram(own.ours, forks.ours, None)
        for place, is_own in ((own, True), (forks, False)):
            process = asked.work(
                {"index": 0}, theirs.fileno(), "/x", captured=not is_own, is_own=is_own, in_session=False
            )
            assert (process.pid, process.wait(5)) == (4 if is_own else 5, 0)
            assert place.requests == [
                {
                    "worker": {"index": 0},
                    "folder": "/x",
                    "in_session": False,
                    "captured": not is_own,
                    "descriptors": 2 if is_own else 3,
                }
            ]
            if process.stdout is not None:
                process.stdout.close()


@pytest.mark.parametrize(("reply", "said"), [({"error": "no memory"}, "no memory"), (None, "is gone")])
def test_a_program_that_cannot_fork_or_is_gone_is_an_error(reply: dict[str, Any] | None, said: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Answering(reply or {}) as place, pytest.raises(OSError, match=said):
        if reply is None:
            place.theirs.shutdown(socket.SHUT_WR)
        CallingProgram(place.ours, place.ours, None).work(
            {}, theirs.fileno(), None, captured=True, is_own=False, in_session=False
        )


def test_workers_on_a_cluster_are_refused_only_if_a_program_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    program.refuse_elsewhere("--cluster", "auto")
    assert program.program_files() == []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(program, "_current", CallingProgram(ours, theirs, "/p/prog.py"))
        assert program.program_files() == ["/p/prog.py"]
        program.refuse_elsewhere("--cluster", None)
        with pytest.raises(UsageError, match="put its listeners into the locustfile"):
            program.refuse_elsewhere("--cluster", "auto")
