"""The actor that starts workers on a machine of a Ray cluster, and carries their bytes.

It does not import gevent, which must not share a process with Ray. A worker has two numbers: its index, which is its
place in the run, and its key, which no other worker of the run has, also not a later one in the same place.
"""

from __future__ import annotations

import platform
import resource
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ray

from plimsoll import __version__
from plimsoll._engine import now
from plimsoll.errors import UsageError
from plimsoll.run.loop import Loop
from plimsoll.run.transport.local import EXIT_TIMEOUT_S, WorkerProcess
from plimsoll.run.transport.own_folder import OwnFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.transport.bundle import Archive

    Order = tuple[int, bytes | int | None]
    """(key, bytes for its stream); b"" kills the worker. (key, index) starts one. (key, None): its coordinator is
    lost."""
    Parcel = tuple[str, int, bytes]
    """(REPORT, key, bytes of its stream), (OUTPUT, key, what it has printed), (KEPT, key, what it has kept) or
    (EXIT, key, how), the last of a worker"""

REPORT, OUTPUT, KEPT, EXIT = "report", "output", "kept", "exit"
EXIT_POLL_NS = 20_000_000


class NodeAgent:
    """The actor of one machine. `start` is its first call; `order`, `clock` and `reports` then have a thread each."""

    def __init__(self) -> None:
        self._loop = Loop()
        self._processes: dict[int, WorkerProcess] = {}
        """By key."""
        self._ending: dict[int, int] = {}
        """Keys of workers whose stream has ended, and the stamp until which they may take to exit."""
        self._parcels: list[Parcel] = []
        self._early: dict[int, list[Order]] = {}
        """Orders that came before those with lower numbers."""
        self._next = 0
        self._place = OwnFolder()
        self._files = self._folder = self._place.path
        self._is_over = False

    def about(self) -> dict[str, str]:
        """What has to be the same on all machines, and the name of this one."""
        return {"host": platform.node(), **versions()}

    def start(self, archive: Archive, workers: list[int]) -> None:
        """Start these workers, whose keys are their indices, with the files of the archive."""
        archive.unpack(self._place.path)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self._files, self._folder = (str(Path(self._place.path) / each) for each in (archive.files, archive.folder))
        for index in workers:
            self._start(index, index)

    def clock(self) -> int:
        """The stamp of this moment, as the workers here have it."""
        return now()

    def order(self, number: int, orders: list[Order]) -> None:
        """number: 0, 1, 2, …: calls may overtake each other."""
        self._loop.post(partial(self._order, number, orders))

    def reports(self) -> Iterator[list[Parcel]]:
        """Everything that comes from the workers, until the agent is closed."""
        while not self._is_over:
            self._loop.turn()
            if self._parcels:
                parcels, self._parcels = self._parcels, []
                yield parcels
        self._loop.close()

    def close(self) -> None:
        """Kill what is left, and remove the files."""
        self._is_over = True
        self._loop.post(lambda: None)
        for process in list(self._processes.values()):
            process.kill()
        self._place.close()

    def _start(self, key: int, index: int) -> None:
        kept = str(self._kept(key))
        process = WorkerProcess(index, capture=True, files=self._files, folder=self._folder, kept=kept)
        self._processes[key] = process
        self._loop.watch(process.connection, partial(self._read, key, process), process)
        if process.output is not None:
            self._loop.watch(process.output, partial(self._read_output, key, process))

    def _order(self, number: int, orders: list[Order]) -> None:
        self._early[number] = orders
        while self._next in self._early:
            ready = self._early.pop(self._next)
            self._next += 1
            for key, what in ready:
                process = self._processes.get(key)
                if isinstance(what, int):
                    self._start_later(key, what)
                elif process is None:
                    continue
                elif what is None:
                    process.end_orders()
                elif what:
                    process.sendall(what)
                else:
                    process.kill()

    def _start_later(self, key: int, index: int) -> None:
        try:
            self._start(key, index)
        except OSError as error:
            self._parcels.append((EXIT, key, f"cannot be started: {error}".encode()))

    def _read(self, key: int, process: WorkerProcess) -> None:
        if data := process.receive():
            self._parcels.append((REPORT, key, data))
        elif data is not None and key not in self._ending:
            self._loop.forget(process.connection)
            self._ending[key] = now() + round(EXIT_TIMEOUT_S * 1e9)
            self._reap()

    def _reap(self) -> None:
        for key, until in list(self._ending.items()):
            process = self._processes[key]
            if not process.has_exited and now() < until:
                continue
            how = process.wait() or ""
            if process.output is not None:
                self._read_output(key, process)
                self._loop.forget(process.output)
                process.output.close()
            del self._ending[key], self._processes[key]
            if (kept := self._kept(key)).exists():
                self._parcels.append((KEPT, key, kept.read_bytes()))
            self._parcels.append((EXIT, key, how.encode()))
        if self._ending:
            self._loop.at(now() + EXIT_POLL_NS, self._reap)

    def _kept(self, key: int) -> Path:
        """The file for what a worker has measured when its coordinator is lost. No file of the run is hidden."""
        return Path(self._place.path) / f".kept-{key}"

    def _read_output(self, key: int, process: WorkerProcess) -> None:
        if process.output is None or process.output.closed:
            return
        for data in process.read_output():
            if data:
                self._parcels.append((OUTPUT, key, data))


def versions() -> dict[str, str]:
    """What has to be the same on all machines."""
    return {"Plimsoll": __version__, "Python": platform.python_version(), "Ray": ray.__version__}


def check_versions(about: dict[str, str]) -> None:
    """about: what an agent says of its machine. Raises UsageError if that is not as here."""
    for name, ours in versions().items():
        if about[name] != ours:
            raise UsageError(f"{about['host']} has {name} {about[name]}, this machine {ours}: install the same")
