"""Run a command that cannot outlive us: `python supervisor.py --output FILE … -- PROGRAM ARGUMENT…`

Our caller holds the other end of our standard input. When that closes, by its `close()` or because the caller died
in whatever way, the command's processes are asked to end, killed if they have not within the grace, and a last command
is run. A pipe does this on every Unix and also when the caller was killed with SIGKILL, which neither `atexit` nor a
signal handler can. An "i" on the pipe interrupts the command, as Ctrl-C would, and nothing else.

Events are written to standard output, a JSON object per line: {"pid": …, "at": …} or {"error": …}, then
{"status": …, "at": …}. `at` is of the monotonic clock. Only the standard library is imported: this is to start fast.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

LONGEST_LOG = 16 << 20
KEPT_OF_LOG = 1 << 20
"""Bytes: a log that has become too long is cut down to its end."""
LOOK_SECONDS = 1.0
"""Between looks at how long the log is."""
REAP_SECONDS = 0.02
"""Between looks at processes that are not our children."""
KILL_SECONDS = 10.0
"""What is left of killed processes after that is stuck in the kernel, and is left to it."""
LAST_SECONDS = 30.0
"""That the last command may take."""

_SET_CHILD_SUBREAPER = 36
"""prctl(2)"""
AUTOGROUP = "/proc/{pid}/autogroup"
"""Where Linux keeps how nice a session is towards others; it shares processors between sessions first."""


class Supervisor:
    """One command, its descendants, and its log."""

    def __init__(self, program: list[str], output: int, errors: int) -> None:
        """Starts it. output, errors: descriptors of files. Raises OSError."""
        adopt_orphans()
        self._woken, waker = os.pipe()
        for end in (self._woken, waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # that it wakes us, which an ignored signal would not
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self._logs = {output, errors}
        self._child = subprocess.Popen(
            program, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
        )
        self.pid = self._child.pid
        stay_nice(self.pid)
        self.status: int | None = None
        self._is_patient = True

    def attend(self) -> None:
        """Until the command has ended, or is to."""
        while self.status is None:
            readable = self._sleep(LOOK_SECONDS, sys.stdin.fileno())
            self._reap()
            for log in self._logs:
                shorten(log)
            if sys.stdin.fileno() in readable:
                word = os.read(sys.stdin.fileno(), 1)
                if not word:
                    return
                if self.status is None:
                    self._signal({self.pid}, signal.SIGINT)

    def hurry(self) -> None:
        """No more grace."""
        self._is_patient = False

    def end(self, ask: signal.Signals, grace: float) -> None:
        """Ask all of its processes to end, and kill those that have not within so many seconds."""
        deadline = time.monotonic() + grace
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, ask)
        others_asked = False
        while (left := self._left()) and time.monotonic() < deadline and self._is_patient:
            # Those that left the group are the command's business, and asked only once it is gone.
            if self.status is not None and not others_asked:
                others_asked = True
                self._signal({pid for pid in left if group_of(pid) != self.pid}, ask)
            self._sleep(REAP_SECONDS)
            self._reap()
        deadline = time.monotonic() + KILL_SECONDS
        while (left := self._left()) and time.monotonic() < deadline:
            self._signal(left, signal.SIGKILL)
            self._sleep(REAP_SECONDS)
            self._reap()

    def _sleep(self, seconds: float, *others: int) -> list[int]:
        """Until a child ends or one of the others is readable: those that are."""
        readable, _, _ = select.select([self._woken, *others], [], [], seconds)
        if self._woken in readable:
            os.read(self._woken, 512)
        return readable

    def _reap(self) -> None:
        """Orphans, too, which have become our children."""
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = found
                if pid == self.pid:
                    self.status = self._child.returncode = os.waitstatus_to_exitcode(status)
                    tell(status=self.status)

    def _left(self) -> set[int]:
        """The command and what descends from it, as far as it is there; a negative number is a group."""
        if (parents := parents_by_pid()) is not None:
            left = descendants(os.getpid(), parents)
        else:
            left = {-self.pid} if group_exists(self.pid) else set()
        # A zombie is gone, but its status is not known yet.
        return left | ({self.pid} if self.status is None else set())

    def _signal(self, pids: set[int], number: signal.Signals) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def adopt_orphans() -> None:
    """On Linux: descendants whose parent ends become our children, and none is lost sight of."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def stay_nice(pid: int) -> None:
    """Let the niceness that was inherited count against other sessions: a new session starts at 0."""
    with contextlib.suppress(OSError):  # another Unix, or a Linux without these groups: niceness counts by itself
        Path(AUTOGROUP.format(pid=pid)).write_text(str(os.nice(0)))


def parents_by_pid() -> dict[int, int] | None:
    """Of all processes that are not zombies; None where there is no /proc."""
    if not Path("/proc/self/stat").exists():
        return None
    parents = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - an order of magnitude faster
        if entry.isdigit():
            with contextlib.suppress(OSError):
                # The name, in parentheses, may have anything in it.
                state, parent = Path("/proc", entry, "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
                if state != "Z":
                    parents[int(entry)] = int(parent)
    return parents


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def group_of(pid: int) -> int | None:
    try:
        return os.getpgid(abs(pid))
    except ProcessLookupError:
        return None


def descendants(of: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while new := {pid for pid, parent in parents.items() if (parent == of or parent in found) and pid not in found}:
        found |= new
    return found


def shorten(log: int) -> None:
    """Keep the end of a log that has become too long. It is written to at its end, so its writers notice nothing."""
    length = os.fstat(log).st_size
    if length > LONGEST_LOG:
        with contextlib.suppress(OSError):
            end = os.pread(log, KEPT_OF_LOG, length - KEPT_OF_LOG)
            os.ftruncate(log, 0)
            os.write(log, b"[earlier lines are left out]\n" + end.partition(b"\n")[2])


def tell(**facts: object) -> None:
    """Write an event; the reader may be gone."""
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), (json.dumps({**facts, "at": time.monotonic()}) + "\n").encode())


def run_last(command: list[str], log: int) -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=LAST_SECONDS, start_new_session=True
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="supervisor.py", description=__doc__)
    parser.add_argument("--output", required=True, help="the file that the command's output is added to")
    parser.add_argument("--errors", help="the file for its standard error (default: the same file)")
    parser.add_argument("--ask", default="SIGTERM", help="the signal that asks it to end (default SIGTERM)")
    parser.add_argument("--grace", type=float, default=10.0, help="seconds until SIGKILL (default 10)")
    parser.add_argument("--last", default="[]", help="a command to run at the very end, as a JSON list")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    # Those who started us may have ignored it, for us and so for the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    output = os.open(arguments.output, flags, 0o600)
    errors = os.open(arguments.errors, flags, 0o600) if arguments.errors else output
    try:
        supervisor = Supervisor(arguments.program, output, errors)
    except OSError as error:
        tell(error=error.strerror or str(error))
        return 1
    try:
        tell(pid=supervisor.pid)
        supervisor.attend()
    finally:
        signal.signal(signal.SIGTERM, lambda *_: supervisor.hurry())
        supervisor.end(signal.Signals[arguments.ask], arguments.grace)
        if last := json.loads(arguments.last):
            run_last(last, errors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
