from __future__ import annotations

from collections.abc import Callable

from plimsoll.record import CaughtException, Failure, Health, Interval, Snapshot
from plimsoll.run.coordinator.progress import Batch


def test_snapshots_of_several_workers_become_one_second(
    make_interval: Callable[..., Interval], make_health: Callable[..., Health]
) -> None:
    batch = Batch()
    for worker in (0, 1):
        failure = Failure("GET", "/", "http", "500", 1, 1.0, 2.0)
        caught = CaughtException("boom", "at a", 1, {worker})
        intervals = [make_interval([1.0, 2.0], second=4), make_interval([3.0], second=5)]
        health = [make_health(4, worker, users=3)]
        batch.add(Snapshot(worker, 0, intervals, health, [failure], [caught], {"A": 3}))
    merged = batch.merged()
    assert [(each.second, each.count) for each in merged.intervals] == [(4, 4), (5, 2)]
    assert (len(merged.health), len(merged.failures), len(merged.exceptions)) == (2, 2, 2)
    assert (len(batch), len(merged), len(Batch())) == (10, 8, 0)
