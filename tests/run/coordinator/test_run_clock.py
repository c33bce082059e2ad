from __future__ import annotations

from typing import TYPE_CHECKING, cast

from plimsoll._engine import now
from plimsoll.run.coordinator.run_clock import SECOND, RunClock

if TYPE_CHECKING:
    from plimsoll.run.transport.handle import WorkerHandle


def test_a_run_begins_with_second_0_after_its_head_start() -> None:
    clock, before = RunClock(), now()
    clock.start(SECOND, 1000.0)
    assert before + SECOND <= clock.epoch == clock.first <= now() + SECOND
    assert (clock.second, clock.elapsed) == (0, 0.0)
    assert abs(clock.started - 1000.0) < 1e-3


def test_a_run_is_continued_with_a_whole_second_after_the_head_start() -> None:
    clock, epoch = RunClock(), now() - 7 * SECOND - 1
    clock.resume(epoch, SECOND // 2, 1000.0)
    assert clock.epoch == epoch
    assert clock.first == epoch + clock.second * SECOND
    assert clock.second >= 8
    assert clock.first - SECOND < now() + SECOND // 2
    assert clock.elapsed >= 7.0


def test_the_end_of_the_load_stays_when_second_0_moves() -> None:
    clock = RunClock()
    clock.start(0, 1000.0)
    clock.limit(None)
    assert clock.end is None
    clock.limit(2.5)
    end = clock.epoch + 5 * SECOND // 2
    clock.start(SECOND, 1001.0)
    clock.limit(2.5)
    assert clock.end == end < clock.epoch + 5 * SECOND // 2


class _Worker:
    """Of a worker, what the clock uses."""

    breach: str | None = None

    def break_off(self, breach: str) -> None:
        self.breach = breach


def test_figures_of_a_forgotten_ramp_up_do_not_count_and_those_of_no_run_end_their_worker() -> None:
    clock, worker = RunClock(), _Worker()
    handle = cast("WorkerHandle", worker)
    clock.start(0, 1000.0)
    ramp_up = clock.epoch
    clock.start(SECOND, 1001.0)

    assert clock.accepts(handle, clock.epoch)
    assert not clock.accepts(handle, ramp_up)
    assert worker.breach is None

    assert not clock.accepts(handle, ramp_up - SECOND)
    assert worker.breach == "figures of another run"
