"""What is continued of a run, from a real store and from what its workers have kept."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll._engine import Histogram, now
from plimsoll.errors import StoreError, UsageError
from plimsoll.record import GENERATOR_COUNTERS, Health
from plimsoll.record.events import MissingRest, Resumed
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.redact import storable_json
from plimsoll.run.coordinator.account import ResettableView
from plimsoll.run.coordinator.name_limit import NameLimit
from plimsoll.run.coordinator.recovery.resumption import Resumption, check_resumable, resumed_plan
from plimsoll.run.coordinator.run_clock import SECOND, RunClock
from plimsoll.run.manifest import plan_fields
from plimsoll.run.plan import RunPlan
from plimsoll.run.result import Result
from plimsoll.run.transport.clock import ClockEstimate
from plimsoll.run.transport.kept import KeptSeconds
from plimsoll.run.transport.messages import EMPTY, EncodedSnapshot
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from plimsoll.store import StoredRun

SCENARIO = {
    "targets": [{"url": "http://h/", "headers": [["Authorization", "Bearer x"]]}],
    "flows": [{"name": "f", "steps": [{"body": "secret"}]}],
    "feeders": [{"name": "users", "rows": [["a"]], "share": "split", "at_end": "recycle"}],
}
PLAN = RunPlan(scenario=SCENARIO, host="http://h", joined=True, processes=2, run_id="r", has_page=True)
OFFSET = 5 * SECOND
"""By which the clocks of the workers are ahead."""


class Machine:
    def __init__(self, kept: KeptSeconds | None) -> None:
        self.kept = kept

    def estimate(self) -> ClockEstimate:
        return ClockEstimate(OFFSET, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


def _health(worker: int, second: int) -> Health:
    return Health(worker=worker, second=second, lag=Histogram(), delay=Histogram(), cpu=0.0, users=1)


def _stored(store: Store, seconds: dict[int, int], **manifest: Any) -> StoredRun:
    """seconds: how many of each worker are stored."""
    described = {"started": 1000.0, "plan": storable_json(plan_fields(PLAN)), "processes": 2, **manifest}
    writer = store.start_run(Manifest.from_json(json.loads(json.dumps(described))), run="r")
    writer.commit([], [_health(worker, second) for worker, count in seconds.items() for second in range(count)])
    return replace(store.run("r"), status="interrupted")


def _kept(worker: int, seconds: Iterable[int], epoch: int, plan: RunPlan = PLAN) -> KeptSeconds:
    rows = [EncodedSnapshot(worker, 0, epoch, [], [(_row(each), {})], [], [], {}) for each in seconds]
    return KeptSeconds(worker, 0, plan.to_dict(), rows)


def _row(second: int) -> Any:
    return (second, *(0 for _ in GENERATOR_COUNTERS), EMPTY, EMPTY)


def _resumption(run: StoredRun, *kept: KeptSeconds | None) -> Resumption:
    return Resumption(run, [Machine(each) for each in kept])


def _restored(resumption: Resumption) -> list[tuple[int, int]]:
    batch = resumption.restore(ResettableView(0.0, "all"), NameLimit(10))
    return [(row.worker, row.second) for row in batch.health]


def test_only_what_is_not_stored_counts_and_what_is_missing_is_named(store: Store) -> None:
    epoch = now() - 10 * SECOND
    run = _stored(store, {0: 3, 1: 4})
    resumption = _resumption(run, _kept(0, range(1, 6), epoch + OFFSET), _kept(1, range(5, 7), epoch + OFFSET))
    clock, result = RunClock(), Result(RunView())
    assert resumption.begin(clock, SECOND, result) == 1000.0
    assert clock.epoch == epoch
    assert result.facts.resumed == (
        Resumed(from_second=6, to_second=clock.second, incomplete=(MissingRest(worker=1, from_second=4),)),
    )
    (note,) = result.notes
    assert note.endswith("; what worker 1 measured from second 4 on is missing")
    assert _restored(resumption) == [(0, 3), (0, 4), (0, 5), (1, 5), (1, 6)]
    assert resumption.recorded.reports == 7


def _incomplete(result: Result) -> list[tuple[MissingRest, ...]]:
    return [each.incomplete for each in result.facts.resumed or ()]


def test_a_worker_that_has_handed_over_all_lacks_nothing_and_one_that_does_not_come_does(store: Store) -> None:
    run = _stored(store, {0: 3, 1: 3})
    resumption = _resumption(run, _kept(0, range(3), now()), None)
    result = Result(RunView())
    resumption.begin(RunClock(), SECOND, result)
    assert _incomplete(result) == [(MissingRest(worker=1, from_second=3),)]
    assert _restored(resumption) == []


def test_what_a_worker_kept_whose_place_another_one_took_is_not_what_that_one_kept(store: Store) -> None:
    run = _stored(store, {0: 3, 1: 9})
    resumption = _resumption(run, _kept(0, range(3), now()), _kept(1, range(3), now()))
    result = Result(RunView())
    resumption.begin(RunClock(), SECOND, result)
    assert _incomplete(result) == [(MissingRest(worker=1, from_second=9),)]


def test_the_time_without_load_of_an_earlier_continuation_is_not_missing_again(store: Store) -> None:
    run = _stored(store, {0: 3, 1: 3})
    once = Resumed(from_second=3, to_second=8)
    run = replace(run, facts=RunFacts(resumed=(once,)), notes=["continued"])
    resumption = _resumption(run, _kept(0, (8, 9), now()), _kept(1, (9,), now()))
    result = Result(RunView())
    resumption.begin(RunClock(), SECOND, result)
    assert _incomplete(result) == [(), (MissingRest(worker=1, from_second=8),)]
    assert (result.notes[0], len(result.notes)) == ("continued", 2)


def test_two_processes_cannot_continue_a_run_at_the_same_time(store: Store) -> None:
    run = _stored(store, {0: 1})
    resumption = _resumption(run, _kept(0, (0,), now()))
    with pytest.raises(StoreError, match="another process goes on with run r"):
        resumption.opener(store)({})


def test_the_plan_comes_from_a_worker_and_must_be_the_one_of_the_store(store: Store) -> None:
    run = _stored(store, {0: 1})
    plan = resumed_plan(run, _kept(0, (0,), 0), log_exchanges=True)
    assert plan == replace(PLAN, has_page=False, log_exchanges=True)
    other = {**SCENARIO, "flows": [{"name": "f", "steps": [{"body": "another"}]}]}
    for changed in (replace(PLAN, host="http://victim"), replace(PLAN, scenario=other), replace(PLAN, users=7)):
        with pytest.raises(UsageError, match="what a worker says of run r is not what the store has"):
            resumed_plan(run, _kept(0, (0,), 0, changed), log_exchanges=False)


@pytest.mark.parametrize(
    ("status", "changes", "why"),
    [
        ("running", {}, "is still there, so nothing is lost"),
        ("stopped", {}, r"has ended \(stopped\)"),
        ("interrupted", {"plan": {"joined": False}}, "the workers of run r ended with its command"),
        ("interrupted", {"plan": {"joined": True, "load": {"iterations": 9}}}, "how many iterations run r has left"),
        ("interrupted", {"shaped": True}, "followed a LoadTestShape"),
        ("interrupted", {"plan": {"joined": True, "load": {"requests": 9}}}, "how many requests run r has left"),
        (
            "interrupted",
            {"plan": {"joined": True, "scenario": {"feeders": [{"name": "u", "at_end": "stop"}]}}},
            "which rows of feeder u run r has left",
        ),
    ],
)
def test_a_run_that_cannot_be_continued_is_refused(store: Store, status: str, changes: Any, why: str) -> None:
    run = _stored(store, {0: 1})
    check_resumable(run)
    check_resumable(replace(run, manifest=Manifest.from_json({**run.manifest.to_json(), "plan": {"joined": True}})))
    with pytest.raises(UsageError, match=why):
        check_resumable(replace(run, status=status, manifest=Manifest.from_json({**run.manifest.to_json(), **changes})))
