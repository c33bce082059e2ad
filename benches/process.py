"""A generator during a measurement: pinned to its core, with all its child processes."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psutil

from .errors import BenchError

SERVER_CPU = 0
GENERATOR_CPU = 1
END_SECONDS = 15.0


class Measured:
    """A process on GENERATOR_CPU, or on other cpus. As a context manager it ends, with its children, on exit."""

    def __init__(
        self, command: list[str], environment: Mapping[str, str], cpus: Collection[int] = (GENERATOR_CPU,)
    ) -> None:
        self._command = command
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed on leaving
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT,
            env=os.environ | dict(environment), start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )  # fmt: skip
        self._root = psutil.Process(self._process.pid)
        self._family = [self._root]
        """As last seen."""

    def __enter__(self) -> "Measured":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.tree()
            os.killpg(self._process.pid, signal.SIGKILL)  # the group is ours: start_new_session
            self._process.wait()
        for process in self._family:
            with suppress(psutil.NoSuchProcess):  # also if another process has its id by now
                process.kill()  # a worker whose coordinator has ended may be stopped, and would stay so
        psutil.wait_procs(self._family, END_SECONDS)  # nothing may disturb the next measurement
        self._output.close()

    def tree(self) -> list[psutil.Process]:
        """The process and its descendants, in order of their start. Raises BenchError if it has ended."""
        if self._process.poll() is not None:
            raise BenchError(f"ended too early: {' '.join(self._command)}\n{self.output()}")
        self._family = [self._root, *self._root.children(recursive=True)]
        return self._family

    def cpu_seconds(self) -> tuple[float, float]:
        """User and system time so far, including ended children: of the whole tree, and of all but its root.

        For `plimsoll run` the root is the coordinator, and the rest are the workers."""
        used = [_cpu_seconds(process) for process in self.tree()]
        return sum(used), sum(used[1:])

    def pause(self) -> None:
        """Stop all its processes until `resume`. Raises BenchError if it has ended."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Raises BenchError if it has ended."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        self.tree()  # raises if it has ended
        os.killpg(self._process.pid, number)

    def resident(self) -> int:
        """Resident bytes of the tree."""
        return sum(process.memory_info().rss for process in self.tree())

    def peak_resident(self) -> int:
        """The sum of each process's peak resident bytes."""
        return sum(_peak(process.pid) for process in self.tree())

    def finish(self, within: float = END_SECONDS) -> str:
        """Wait for its end, so many seconds at most. Returns its output. Raises BenchError if it fails or goes on."""
        try:
            status = self._process.wait(within)
        except subprocess.TimeoutExpired:
            raise BenchError(f"did not end: {' '.join(self._command)}\n{self.output()}") from None
        if status:
            raise BenchError(f"exit status {status}: {' '.join(self._command)}\n{self.output()}")
        return self.output()

    def interrupt(self) -> str:
        """Send Ctrl-C and return the output."""
        self._process.send_signal(signal.SIGINT)
        return self.finish()

    def output(self) -> str:
        self._output.seek(0)
        return self._output.read()


def _cpu_seconds(process: psutil.Process) -> float:
    """By the process's own clock, because the kernel gives the times of /proc in steps of 10 ms."""
    times = process.cpu_times()
    clock = ~process.pid << 3 | 2  # as clock_getcpuclockid(3) makes it
    return time.clock_gettime(clock) + float(times.children_user + times.children_system)


def _peak(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
