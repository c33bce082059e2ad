"""What the coordinator has of a worker."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from plimsoll.record import GENERATOR_COUNTERS
from plimsoll.run.transport.clock import WorkerClock
from plimsoll.run.transport.frames import pack, pack_report
from plimsoll.run.transport.handle import WorkerHandle
from plimsoll.run.transport.messages import EMPTY, EncodedSnapshot, Ending, Prepared, Ready

AHEAD = 1_000_000
"""By how much the worker's clock is ahead, ns."""
PREPARED, READY = pack_report(Prepared()), pack_report(Ready([], True))


class PlainWorker(WorkerHandle):
    was_killed = False

    def kill(self) -> None:
        self.was_killed = True

    def wait(self) -> None:
        return None


def _snapshot(sequence: int) -> EncodedSnapshot:
    return EncodedSnapshot(1, sequence, 5 + AHEAD, [], [], [], [], {})


def test_what_a_worker_has_kept_follows_what_has_come_and_comes_once() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = WorkerHandle(1, ours, clock=WorkerClock(AHEAD))
        theirs.sendall(pack_report(Prepared()) + pack_report(Ready([], True)))
        theirs.sendall(b"".join(pack_report(_snapshot(sequence)) for sequence in range(3)))
        came = [report for report in worker.read() if isinstance(report, EncodedSnapshot)]
        assert [each.sequence for each in came] == [0, 1, 2]
        assert not worker.can_catch_up([_snapshot(4), _snapshot(5)])
        kept = [_snapshot(sequence) for sequence in range(1, 6)]
        assert worker.can_catch_up(kept)
        assert [(each.sequence, each.epoch) for each in worker.catch_up(kept)] == [(3, 5), (4, 5), (5, 5)]
        assert list(worker.catch_up(kept)) == []


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ([pack_report(_snapshot(0))], "a message snapshot that was not to come now"),
        ([PREPARED, PREPARED], "a message prepared that was not to come now"),
        ([READY], "a message ready that was not to come now"),
        ([PREPARED, READY, pack_report(Ending(5, 0, False))], "a message done that was not to come now"),
        ([PREPARED, READY, pack_report(_snapshot(1))], "snapshot 1 instead of 0"),
        ([PREPARED, READY, pack_report(replace(_snapshot(0), worker=2))], "a snapshot of another worker"),
        ([PREPARED, READY, pack("snapshot", 1, 0)], "a message snapshot whose fields are not those of one"),
        ([pack("such", "x")], "a message that there is not"),
        ([b"\xff\xff\xff\xff"], "a frame of 4294967295 bytes"),
        ([b"\x04\x00\x00\x01"], "a frame of 67108865 bytes"),
        ([b"GET / HTTP/1.1\r\n\r\n"], "a frame of 1195725856 bytes"),
    ],
)
def test_a_worker_that_breaks_the_protocol_is_read_no_more_and_the_reason_is_known(sent: list[bytes], why: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = PlainWorker(1, ours)
        theirs.sendall(b"".join([*sent, PREPARED, pack("logged", "INFO", "more")]))
        *_, last = worker.read()
        assert (last, worker.breach) == (None, why)
        assert worker.end() == f"is disconnected: it sent {why}"
        assert worker.was_killed


def test_what_is_found_out_later_of_a_report_ends_the_reading_too() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = PlainWorker(1, ours)
        theirs.sendall(PREPARED + READY + pack_report(_snapshot(0)) + pack_report(_snapshot(1)))
        came = []
        for report in worker.read():
            came.append(report)
            if isinstance(report, EncodedSnapshot):
                worker.break_off("figures that cannot be")
        assert [type(each) for each in came] == [Prepared, Ready, EncodedSnapshot, type(None)]


def test_figures_of_a_second_that_has_not_begun_and_broken_histograms_are_no_snapshot() -> None:
    ours, theirs = socket.socketpair()
    good = (1, *(0 for _ in GENERATOR_COUNTERS), EMPTY, EMPTY)
    with ours, theirs:
        for row, why in (
            ((10, *good[1:]), "figures of a second that has not begun"),
            ((*good[:-1], b"\x1c\x84\x93\x13broken"), "a histogram that cannot be read"),
        ):
            worker = PlainWorker(1, ours)
            snapshot = replace(_snapshot(0), health=[(row, {})])  # type: ignore[list-item]
            assert (worker.decode(snapshot, 0.0, 9), worker.breach) == (None, why)
        decoded = worker.decode(replace(_snapshot(0), health=[(good, {})]), 0.0, 9)  # type: ignore[list-item]
        assert decoded is not None and worker.second == 1
