"""The resources of a target's processes: memory, CPU, threads, open files; and the load of their machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import psutil

from plimsoll.observe.cores import cores_of, machine_cores
from plimsoll.observe.sampler import Probe, ProbeError
from plimsoll.record.observed import ObservedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

UNITS = {
    "rss": "bytes", "cpu": "cores", "threads": "", "files": "", "processes": "",
    "disk read": "bytes/s", "disk written": "bytes/s",
}  # fmt: skip


class Processes(Probe):
    """The sum over some processes.

    - rss: resident memory. Shared memory (a program's text, PostgreSQL's buffers) counts once: for the process that has
      most of it. If the system does not report shared memory, the sum over the processes.
    - cpu: cores used since the sample before; the first sample has none. A process that starts and ends between two
      samples is included if its parent waited for it.
    - threads, files (open ones, including sockets), processes: their numbers. No files if a process of another user
      does not report them.
    - disk read, disk written: bytes from and to disks, not caches, since the sample before; of processes that still
      exist; unknown under the same condition as files.

    A process that ends while it is read is left out. Reading ten processes on a machine with a hundred takes 2.5 ms: at
    one reading a second 0.3 % of a core.
    """

    def __init__(self, source: str, find: Callable[[], Sequence[psutil.Process]]) -> None:
        """find: the current processes; may raise ProbeError."""
        self.source = source
        self._find = find
        self._last: _Sum | None = None
        self._cores = 0.0
        self._cores_of = frozenset[int]()

    def unit(self, name: str) -> str:
        return UNITS[name]

    def read(self, now: float) -> Mapping[str, float]:
        found = self._find()
        looks = list(_looks(found))
        if not looks:
            raise ProbeError("none of its processes is left")
        figures: dict[str, float] = {
            "rss": sum(each.own for each in looks) + max(each.shared for each in looks),
            "threads": sum(each.threads for each in looks),
            "processes": len(looks),
        }
        if all(each.files is not None for each in looks):
            figures["files"] = sum(each.files or 0 for each in looks)
        this = _Sum(now, sum(each.busy for each in looks), {each.pid: each.disk for each in looks if each.disk})
        if self._last is not None and now > self._last.at:
            figures |= this.since(self._last, len(looks))
        self._last = this
        if (pids := frozenset(each.pid for each in looks)) - self._cores_of:
            self._cores, self._cores_of = cores_of(found), pids
        return figures

    def facts(self) -> ObservedSource | None:
        """cores: the number that they may use."""
        return ObservedSource(cores=self._cores) if self._cores else None


class Machine(Probe):
    """Cores in use on this machine, by any process; the first sample has none."""

    source = "this machine"

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None

    def unit(self, name: str) -> str:
        return UNITS[name]

    def read(self, now: float) -> Mapping[str, float]:
        times = psutil.cpu_times()
        # Waiting for a disk is idle, and time stolen by a host was not used here.
        idle = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "steal", 0.0)
        # The time of users already includes that of guests.
        guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
        busy, last = sum(times) - idle - guests, self._last
        self._last = now, busy
        return {"cpu": max(0.0, busy - last[1]) / (now - last[0])} if last is not None and now > last[0] else {}

    def facts(self) -> ObservedSource | None:
        """cores: their number."""
        return ObservedSource(cores=float(machine_cores()))


def _looks(processes: Sequence[psutil.Process]) -> Iterator[_Look]:
    for process in processes:
        try:
            yield _Look(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue


class _Sum(NamedTuple):
    """Resources used so far."""

    at: float
    busy: float
    """CPU seconds."""
    disk: dict[int, tuple[int, int]]
    """Bytes read and written, by pid."""

    def since(self, before: _Sum, processes: int) -> dict[str, float]:
        """Per second. processes: their number."""
        seconds = self.at - before.at
        # The CPU time of a child is lost if its parent did not wait for it.
        figures = {"cpu": max(0.0, self.busy - before.busy) / seconds}
        if len(self.disk) == processes:
            pairs = [(now, before.disk.get(pid, now)) for pid, now in self.disk.items()]
            figures["disk read"] = sum(max(0, now[0] - then[0]) for now, then in pairs) / seconds
            figures["disk written"] = sum(max(0, now[1] - then[1]) for now, then in pairs) / seconds
        return figures


class _Look:
    """A reading of one process. Raises psutil.NoSuchProcess."""

    def __init__(self, process: psutil.Process) -> None:
        self.pid = process.pid
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                raise psutil.ZombieProcess(process.pid)
            memory = process.memory_info()
            self.shared: int = getattr(memory, "shared", 0)
            self.own: int = memory.rss - self.shared
            times = process.cpu_times()
            self.busy: float = times.user + times.system + times.children_user + times.children_system
            self.threads: int = process.num_threads()
        self.files: int | None = None
        self.disk: tuple[int, int] | None = None
        try:
            self.files = process.num_fds()
            # Only Linux counts it per process.
            if hasattr(process, "io_counters"):
                used = process.io_counters()
                self.disk = used.read_bytes, used.write_bytes
        except psutil.AccessDenied:
            pass
