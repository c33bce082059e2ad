"""What a run measured before it was reset does not count, whether it is watched or read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from plimsoll.record import CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.left_out import LeftOut, first_second
from plimsoll.stats.view import RunView


@dataclass
class Recorded:
    started: float
    ended: float
    rows: list[Any] = field(default_factory=list)
    failed: list[Any] = field(default_factory=list)
    caught: list[Any] = field(default_factory=list)
    facts: RunFacts = field(default_factory=RunFacts)
    manifest: Manifest = field(default_factory=Manifest)

    def observed(self):
        return ()

    def columns(self):
        yield IntervalColumns.of(self.rows)

    def health(self):
        return iter(())

    def failures(self):
        return iter(self.failed)

    def exceptions(self):
        return iter(self.caught)


def failure(count: int, first: float, last: float, message: str = "500") -> Failure:
    return Failure("GET", "/", "http", message, count, first, last)


def caught(count: int, text: str = "oops") -> CaughtException:
    return CaughtException(text, f"at {text}", count, {0})


@pytest.mark.parametrize(
    ("warmup", "reset_at", "first"), [(None, None, 0), (1.5, None, 2), (1.5, 1, 2), (1.5, 7, 7), (0.0, 7, 7)]
)
def test_the_first_second_that_counts_is_after_warm_up_and_reset(warmup, reset_at, first):
    assert first_second(Manifest(warmup=warmup), RunFacts(reset_at=reset_at)) == first


def test_failures_before_a_reset_are_taken_off_their_sums(make_interval):
    left_out = LeftOut()
    left_out.add([failure(2, 100.0, 101.0), failure(1, 101.0, 101.5, "gone")], [])
    left_out.add([failure(1, 101.5, 101.9)], [])
    run = Recorded(
        100.0,
        110.0,
        [make_interval([1.0], second=second, outcome="http") for second in range(10)],
        failed=[failure(10, 100.0, 109.0), failure(1, 101.0, 101.5, "gone"), failure(4, 106.0, 107.0, "new")],
        facts=RunFacts(reset_at=5, before_reset=left_out.counts),
    )
    view = RunView.of(run)
    assert [(each.message, each.count, each.first) for each in view.failures] == [("500", 7, 105.0), ("new", 4, 106.0)]
    assert (view.total.failures, view.duration, view.warmup) == (5, 5.0, 5)


def test_exceptions_before_a_reset_are_taken_off_their_sums():
    left_out = LeftOut()
    left_out.add([], [caught(3), caught(2, "gone")])
    run = Recorded(
        100.0,
        110.0,
        caught=[caught(5), caught(2, "gone"), caught(1, "new")],
        facts=RunFacts(reset_at=5, before_reset=left_out.counts),
    )
    assert {each.message: each.count for each in RunView.of(run).exceptions} == {"oops": 2, "new": 1}


def test_of_one_traceback_with_several_messages_as_many_are_taken_off_as_there_were():
    before = {"failures": [], "exceptions": [["item 1", "at a", 2], ["item 2", "at a", 1]]}
    run = Recorded(100.0, 110.0, facts=RunFacts.from_json({"reset_at": 5, "before_reset": before}))
    run.caught = [CaughtException("item 1", "at a", 2, {0}), CaughtException("item 2", "at a", 4, {0})]
    assert [(each.message, each.count) for each in RunView.of(run).exceptions] == [("item 2", 3)]


def test_sums_that_a_store_has_put_together_lose_what_was_told_apart():
    facts = {"reset_at": 1, "before_reset": {"failures": [["GET", "/", "http", "500", 1]] * 2, "exceptions": []}}
    (rest,) = LeftOut.of(RunFacts.from_json(facts)).rest_of_failures([failure(3, 0.0, 2.0)], 1.0)
    assert rest.count == 1
