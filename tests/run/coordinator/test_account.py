"""What counts while a run goes on is what counts when it is read back, also after a reset."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from plimsoll.record import CaughtException, Failure, merge
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.run.coordinator.account import ResettableView
from plimsoll.run.coordinator.progress import Batch
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.record import Health, Interval

START = 1000.0
"""Unix time of second 0."""


class FakeStoredRun:
    """The batches of a run, as a store puts them together."""

    started = START
    manifest = Manifest()

    def __init__(self, batches: list[Batch], facts: RunFacts, ended: float) -> None:
        self._batches = batches
        self.facts = facts
        self.ended = ended

    def columns(self) -> Iterator[IntervalColumns]:
        merged = merge(each for batch in self._batches for each in batch.intervals)
        yield IntervalColumns.of(sorted(merged, key=attrgetter("second")))

    def health(self) -> Iterator[Health]:
        return iter(())

    def failures(self) -> list[Failure]:
        view = RunView()
        for batch in self._batches:
            view.add((), failures=batch.failures)
        return view.failures

    def exceptions(self) -> list[CaughtException]:
        view = RunView()
        for batch in self._batches:
            view.add((), exceptions=batch.exceptions)
        return view.exceptions


class RunWithFailures:
    """A run in which each second has one failure and one exception, handed over a moment after its end."""

    def __init__(self, make_interval: Callable[..., Interval]) -> None:
        self._make = make_interval
        self.account = ResettableView(0.0, "all")
        self.batches: list[Batch] = []

    def second(self, number: int) -> None:
        at = START + number + 0.5
        batch = Batch(
            [self._make([1.0], second=number, outcome="http")],
            failures=[Failure("GET", "/", "http", "500", 1, at, at)],
            exceptions=[CaughtException("oops", "Traceback", 1, {0})],
        )
        self.batches.append(batch)
        self.account.add(batch, START, number + 1.15)

    def counts(self, view: RunView) -> tuple[int, ...]:
        sums = sum(each.count for each in view.failures), sum(each.count for each in view.exceptions)
        return view.total.requests, *sums, view.warmup

    def stored(self) -> RunView:
        return RunView.of(FakeStoredRun(self.batches, self.account.with_reset(RunFacts()), START + len(self.batches)))


def test_without_a_reset_everything_counts(make_interval: Callable[..., Interval]) -> None:
    run = RunWithFailures(make_interval)
    for number in range(4):
        run.second(number)
    assert run.counts(run.account.view) == run.counts(run.stored()) == (4, 4, 4, 0)
    assert run.account.with_reset(RunFacts()) == RunFacts()


def test_what_came_before_a_reset_is_left_out_live_and_later(make_interval: Callable[..., Interval]) -> None:
    run = RunWithFailures(make_interval)
    for number in range(4):
        run.second(number)
    # In second 4, and known to take effect at the next.
    run.account.reset(5)
    assert run.counts(run.account.view) == (0, 0, 0, 5)
    for number in range(4, 9):
        run.second(number)
    assert run.counts(run.account.view) == run.counts(run.stored()) == (4, 4, 4, 5)


def test_a_second_reset_leaves_out_what_came_since_the_first(make_interval: Callable[..., Interval]) -> None:
    run = RunWithFailures(make_interval)
    for number, reset_at in enumerate((None, 2, None, None, 5, None, None)):
        run.second(number)
        if reset_at is not None:
            run.account.reset(reset_at)
    assert run.counts(run.account.view) == run.counts(run.stored()) == (2, 2, 2, 5)


def test_a_reset_during_the_warm_up_leaves_out_the_warm_up(make_interval: Callable[..., Interval]) -> None:
    account = ResettableView(3.5, "all")
    account.reset(2)
    assert account.view.warmup == 4


def test_a_reset_leaves_the_recent_seconds_as_they_were(make_interval: Callable[..., Interval]) -> None:
    run = RunWithFailures(make_interval)
    for number in range(4):
        run.second(number)
    run.account.reset(5)
    assert (run.account.view.recent.seconds, run.account.view.recent.total.requests) == (4, 4)
