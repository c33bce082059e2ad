"""What the coordinator has of a worker that is gone."""

from __future__ import annotations

import socket

from plimsoll.run.transport.clock import WorkerClock
from plimsoll.run.transport.frames import pack_report
from plimsoll.run.transport.handle import WorkerHandle
from plimsoll.run.transport.messages import EncodedSnapshot

AHEAD = 1_000_000
"""By how much the worker's clock is ahead, ns."""


def _snapshot(sequence: int) -> EncodedSnapshot:
    return EncodedSnapshot(1, sequence, 5 + AHEAD, [], [], [], [], {})


def test_what_a_worker_has_kept_follows_what_has_come_and_comes_once() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = WorkerHandle(1, ours, clock=WorkerClock(AHEAD))
        theirs.sendall(b"".join(pack_report(_snapshot(sequence)) for sequence in range(3)))
        came = [report for report in worker.read() if isinstance(report, EncodedSnapshot)]
        assert [each.sequence for each in came] == [0, 1, 2]
        assert not worker.can_catch_up([_snapshot(4), _snapshot(5)])
        kept = [_snapshot(sequence) for sequence in range(1, 6)]
        assert worker.can_catch_up(kept)
        assert [(each.sequence, each.epoch) for each in worker.catch_up(kept)] == [(3, 5), (4, 5), (5, 5)]
        assert list(worker.catch_up(kept)) == []
