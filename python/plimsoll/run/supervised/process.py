"""A command that cannot outlive us, its log, and how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.run.supervised import supervisor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STOP_TIMEOUT_S = 10.0
"""Seconds from the signal that asks a command to end to the one that kills it."""
LOG_LINES = 20
LONGEST_LINE = 500
"""Characters."""
SPARE = supervisor.KILL_SECONDS + supervisor.LAST_SECONDS + 5.0
"""Seconds beyond the grace, after which the supervisor itself is taken to hang."""


class StartError(Exception):
    """There is no such program, no such folder, or it may not be run."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a command ended."""

    status: int
    """Its exit status, or minus the number of the signal that killed it."""
    at: float
    """Of the monotonic clock."""
    remark: str = ""
    """What more is known of why."""

    def __str__(self) -> str:
        """As "exit status 1", "ended by SIGKILL (out of memory?)"."""
        text = f"exit status {self.status}" if self.status >= 0 else f"ended by {_signal_name(-self.status)}"
        return f"{text} ({self.remark})" if self.remark else text


class Process:
    """A command under a supervisor: it and all that it started end when `stop` is called, or when this process does."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        output: Path,
        errors: Path | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        ask: signal.Signals = signal.SIGTERM,
        grace: float = STOP_TIMEOUT_S,
        last: Sequence[str] = (),
    ) -> None:
        """Start it, in a session of its own. output, errors: files that what it prints is added to; errors None: to
        output, too. Of a long file only the end is kept. ask, grace: how `stop` begins, and the seconds until SIGKILL.
        last: a command to run when everything has ended. Raises StartError."""
        self.command = tuple(command)
        self.output = output
        self.errors = errors or output
        self.grace = grace
        self._ask = ask
        self._asked = False
        self._ending: ProcessEnd | None = None
        self._unread = b""
        self._oom_kills = _oom_kills()
        options = ["--output", str(output), "--ask", ask.name, "--grace", str(grace), "--last", json.dumps(list(last))]
        options += ["--errors", str(errors)] if errors else []
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__, *options, "--", *command],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, env=env,
                start_new_session=True,  # the terminal's Ctrl-C is ours, and we then decide
            )  # fmt: skip
        except OSError as error:
            raise StartError(f"{cwd}: {error.strerror}") from error
        try:
            first = self._next_word(None)
        except BaseException:
            self._let_go()
            raise
        if "pid" not in first:
            self._close()
            raise StartError(f"{self.command[0]}: {first.get('error', 'it could not be started')}")
        self.pid = int(str(first["pid"]))

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def parent(self) -> int:
        """The pid of the process whose descendants are this command's processes, all of them."""
        return self._supervisor.pid

    def poll(self) -> ProcessEnd | None:
        """How it ended; None while it runs."""
        return self.wait(0)

    def wait(self, seconds: float) -> ProcessEnd | None:
        """Until it has ended, or so many seconds have passed."""
        if self._ending is None:
            word = self._next_word(seconds)
            if "status" in word:
                self._end(int(str(word["status"])), float(str(word["at"])))
            elif "gone" in word:  # somebody killed the supervisor
                self._kill_group()
                self._end(-signal.SIGKILL, time.monotonic())
        return self._ending

    def interrupt(self) -> None:
        """As Ctrl-C would, once, and only itself: not what it started."""
        assert self._supervisor.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._supervisor.stdin.write(b"i")
            self._supervisor.stdin.flush()

    def stop(self, *, patient: bool = False) -> ProcessEnd:
        """End it and all that it started, and wait for that. It may be repeated. A KeyboardInterrupt meanwhile ends the
        grace, or only the second one does if this is patient; it goes on when all is over."""
        self.poll()
        self._asked = True
        self._let_go()
        spared = int(patient)
        interrupt: KeyboardInterrupt | None = None
        while True:
            try:
                self.wait(self.grace + SPARE)
                self._supervisor.wait(self.grace + SPARE)
                break
            except subprocess.TimeoutExpired:
                self._kill_group()
                break
            except KeyboardInterrupt as error:
                interrupt = error
                if not spared:
                    self._supervisor.terminate()
                spared = 0
        self._close()
        if self._ending is None:
            self._end(-signal.SIGKILL, time.monotonic())
        if interrupt is not None:
            raise interrupt
        assert self._ending is not None
        return self._ending

    def tail(self, lines: int = LOG_LINES) -> list[str]:
        """The last lines that it printed, to its standard error if that has a file of its own."""
        return last_lines(self.errors, lines)

    def _next_word(self, seconds: float | None) -> dict[str, object]:
        """The supervisor's next event; {} when there is none for so many seconds, {"gone": …} after its last one."""
        assert self._supervisor.stdout is not None
        if self._supervisor.stdout.closed:
            return {"gone": True}
        descriptor = self._supervisor.stdout.fileno()
        deadline = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([descriptor], [], [], left)[0]:
                return {}
            if not (more := os.read(descriptor, 4096)):
                return {"gone": True}
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        word: dict[str, object] = json.loads(line)
        return word

    def _end(self, status: int, at: float) -> None:
        remark = ""
        if status == -signal.SIGKILL and self._asked:
            remark = f"it did not end within {self.grace:g} s of {self._ask.name}"
        elif status == -signal.SIGKILL:
            short = _oom_kills() > self._oom_kills
            remark = "the kernel killed for lack of memory meanwhile" if short else "out of memory?"
        self._ending = ProcessEnd(status, at, remark)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._supervisor.kill()

    def _let_go(self) -> None:
        assert self._supervisor.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._supervisor.stdin.close()

    def _close(self) -> None:
        assert self._supervisor.stdout is not None
        self._let_go()
        self._supervisor.stdout.close()
        self._supervisor.wait()


def last_lines(file: Path, lines: int = LOG_LINES) -> list[str]:
    """Of a log, without white space at their ends; none when there is no such file."""
    try:
        with file.open("rb") as opened:
            opened.seek(0, os.SEEK_END)
            opened.seek(max(0, opened.tell() - 4 * lines * LONGEST_LINE))
            text = opened.read().decode("utf-8", "replace")
    except OSError:
        return []
    found = [line.rstrip()[:LONGEST_LINE] for line in text.splitlines() if line.strip()]
    return found[-lines:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _oom_kills() -> int:
    """How many processes the kernel has killed for lack of memory so far; 0 where that is not known."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
