"""How many workers one coordinator can take: `python -m benches.coordinator [--workers 1000] [--endpoints 50]`

Each second of each worker is a snapshot of all endpoints, packed as workers pack it. They come through sockets, are
read, decoded, added up and committed to a store as in a run; no worker runs. Prints the CPU per second of a run, by
part, and how many workers one core takes. The exit status is 1 when those that are asked for are more.
"""

import argparse
import random
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll._engine import Recorder
from plimsoll.record import WorkerState
from plimsoll.record.manifest import Manifest, StoredScenario
from plimsoll.run.coordinator.account import ResettableView
from plimsoll.run.coordinator.name_limit import NameLimit
from plimsoll.run.coordinator.progress import Batch
from plimsoll.run.limits import MAX_NAMES
from plimsoll.run.transport.frames import pack_report
from plimsoll.run.transport.handle import WorkerHandle
from plimsoll.run.transport.messages import EncodedSnapshot, Prepared, Ready, health_rows
from plimsoll.store import Store

from .table import table

FEW = 20
"""Workers to compare with: the store costs about the same for any number."""
EXCHANGES = 20
"""Of each endpoint, worker and second."""
KINDS = 8
"""Workers that measure different times; the others repeat them."""
PARTS = ("read and decode", "add up", "store")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.coordinator", description=__doc__)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--endpoints", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=5, help="of the run (default 5)")
    given = parser.parse_args()
    costs = {workers: _cost(workers, given.endpoints, given.seconds) for workers in (FEW, given.workers)}
    rows = [
        (f"{workers:,}", *(f"{cost[part]:.1%}" for part in PARTS), f"{sum(cost.values()):.1%}")
        for workers, cost in costs.items()
    ]
    print(table((f"workers × {given.endpoints} endpoints, of a core", *PARTS, "together"), rows))
    few, many = (sum(each.values()) for each in costs.values())
    more = (many - few) / (given.workers - FEW) * FEW
    print(f"\n{FEW} more workers cost {more:.2%} of a core; one core takes about {given.workers / many:,.0f} workers")
    print("holds" if many <= 1 else "misses")
    return 0 if many <= 1 else 1


def _cost(workers: int, endpoints: int, seconds: int) -> dict[str, float]:
    """CPU of this thread per second of the run, by part."""
    cells = [_cells(endpoints, seed) for seed in range(KINDS)]
    spent = dict.fromkeys(PARTS, 0.0)
    names, view = NameLimit(MAX_NAMES), ResettableView(0.0, "all")
    pairs = [socket.socketpair() for _ in range(min(workers, 200))]
    handles = [_ready(index, *pairs[index % len(pairs)]) for index in range(workers)]
    with tempfile.TemporaryDirectory() as folder, Store.open(str(Path(folder) / "bench.db")) as store:
        run = store.start_run(Manifest(scenario=StoredScenario(name="bench"), started=time.time(), stamp="kernel"))
        for second in range(seconds):
            batch = Batch()
            for handle in handles:
                far = pairs[handle.index % len(pairs)][1]
                far.sendall(_frame(handle.index, second, cells[handle.index % KINDS]))
                with _timed(spent, PARTS[0]):
                    _read(handle, names, batch)
            with _timed(spent, PARTS[1]):
                merged = batch.merged()
                view.add(merged, 0.0, second + 1.0)
            with _timed(spent, PARTS[2]):
                run.commit(merged.intervals, merged.health, (), ())
    for pair in pairs:
        for end in pair:
            end.close()
    return {part: cpu / seconds for part, cpu in spent.items()}


def _ready(index: int, near: socket.socket, far: socket.socket) -> WorkerHandle:
    """A worker that has said that it may begin."""
    handle = WorkerHandle(index, near)
    far.sendall(pack_report(Prepared()) + pack_report(Ready([], True)))
    assert len(list(handle.read())) == 2
    return handle


def _read(handle: WorkerHandle, names: NameLimit, batch: Batch) -> None:
    for report in handle.read():
        assert isinstance(report, EncodedSnapshot)
        batch.add(names.fold(report).decode(0.0))


@contextmanager
def _timed(spent: dict[str, float], part: str) -> Iterator[None]:
    began = time.thread_time()
    yield
    spent[part] += time.thread_time() - began


def _cells(endpoints: int, seed: int) -> list[tuple[object, ...]]:
    """What a recorder hands over of a second."""
    chance = random.Random(seed)
    recorder = Recorder(0)
    for number in range(endpoints):
        endpoint = recorder.endpoint("GET", f"/endpoint/{number}")
        for _ in range(EXCHANGES):
            recorder.custom(endpoint, chance.lognormvariate(2.0, 1.0), 1_000)
    return list(recorder.take()[0])


def _frame(worker: int, second: int, cells: list[tuple[object, ...]]) -> bytes:
    intervals = [(second, *cell[1:]) for cell in cells]
    health = health_rows([], range(second, second + 1), WorkerState(cpu=0.5, users=100))
    return pack_report(EncodedSnapshot(worker, second, 0, intervals, health, [], [], {"Visitor": 100}))  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main())
