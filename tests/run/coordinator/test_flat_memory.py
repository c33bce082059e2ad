"""An hour of a run, second by second as fast as they come: what the coordinator keeps of it does not grow."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 3600
WARM_UP = 120
MOST_MIB = 2.0
"""Above what there was after the warm-up. The figures of each second are 92 bytes."""

PROGRAM = f"""
import gc, os, random, socket, sys, time
import psutil
from plimsoll._engine import Recorder
from plimsoll.record import WorkerState
from plimsoll.record.manifest import Manifest
from plimsoll.run.coordinator.account import ResettableView
from plimsoll.run.coordinator.display import LineDisplay
from plimsoll.run.coordinator.name_limit import NameLimit
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.coordinator.server_timing import ServerTimings
from plimsoll.run.coordinator.slow_requests import SlowRequests
from plimsoll.run.coordinator.store_writer import StoreWriter
from plimsoll.run.transport.frames import pack_report
from plimsoll.run.transport.handle import WorkerHandle
from plimsoll.run.transport.messages import EncodedSnapshot, Prepared, Ready, health_rows
from plimsoll.store import Store

chance = random.Random(3)

def measured():
    recorder = Recorder(0)
    endpoint = recorder.endpoint("GET", "/small")
    for _ in range(1000):
        recorder.custom(endpoint, chance.lognormvariate(0.0, 0.5), 100)
    return recorder.take()[0][0]

cells = [measured() for _ in range(100)]
near, far = socket.socketpair()
worker, names, account = WorkerHandle(0, near), NameLimit(2000), ResettableView(0.0, "all")
far.sendall(pack_report(Prepared()) + pack_report(Ready([], True)))
assert len(list(worker.read())) == 2
with Store.open(sys.argv[1]) as store, open(os.devnull, "w") as nothing:
    writer = StoreWriter(store.start_run, Manifest)
    observers = [LineDisplay(nothing), writer, ServerTimings(), SlowRequests(lambda trace: None)]
    for each in observers:
        each.start(time.time(), "kernel")
    for second in range({SECONDS}):
        cell = chance.choice(cells)
        state = WorkerState(cpu=0.5, users=100)
        health = health_rows([(second, 0, 0, 1000, 0, 0, *cell[-3:-1])], range(second, second + 1), state)
        far.sendall(pack_report(EncodedSnapshot(0, second, 0, [(second, *cell[1:])], health, [], [], {{"V": 100}})))
        batch = Batch()
        for report in worker.read():
            batch.add(names.fold(report).decode(0.0))
        merged = batch.merged()
        now = second + 1.0
        progress = Progress(
            merged, account.view, 0.0, now, now, None, 100, None, 1, "running", account.add(merged, 0.0, now)
        )
        for each in observers:
            each.second(progress)
        while not writer._batches.empty() or writer._pending:
            time.sleep(0.0002)
        if second % 60 == 0:
            gc.collect()
        if second in ({WARM_UP}, {SECONDS - 60}):
            print(psutil.Process().memory_info().rss)
    writer.finish("finished", time.time(), [], {{}})
    print(account.view.total.requests)
"""


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="other allocators and page sizes")
def test_an_hour_leaves_the_memory_of_the_coordinator_flat(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "runs.db")], capture_output=True, text=True, check=True
    )
    warm, late, requests = map(int, done.stdout.split())
    assert requests == SECONDS * 1000
    assert (late - warm) / 2**20 < MOST_MIB
