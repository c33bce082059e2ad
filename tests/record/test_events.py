from __future__ import annotations

import json

from plimsoll.record.events import (
    ClockStepped,
    GuardStopped,
    LoadChanged,
    LoadCut,
    MissingRest,
    Resumed,
    StoreLost,
    WorkerLost,
    WorkerReplaced,
    WorkerReturned,
    WorkerSeconds,
    kept,
)
from plimsoll.record.facts import RunFacts


def facts_after(*events: object, facts: RunFacts | None = None) -> RunFacts:
    facts = facts or RunFacts()
    for event in events:
        facts = kept(event, facts)  # type: ignore[arg-type]
    return facts


def test_facts_that_keep_events_are_the_same_after_they_were_stored() -> None:
    facts = facts_after(
        WorkerLost(worker=1, place="on b", how="was killed", users=3, kept_to=4, unused=("rows",), load="taken over"),
        WorkerReplaced(worker=1, place="on c", from_second=5, to_second=7),
        Resumed(from_second=8, to_second=12, incomplete=(MissingRest(worker=0, from_second=7),)),
        LoadChanged(second=13, what="50 users"),
        LoadCut(seconds=14.5),
        StoreLost(from_second=14, to_second=15, reason="the disk is full"),
        ClockStepped(second=16, step_ms=12.0),
        GuardStopped(second=17, limit="--max-run-time 17s"),
    )
    assert RunFacts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    assert (facts.lost_workers, facts.load_taken_over, facts.edits) == (1, True, ((13, "50 users"),))
    assert facts.load_cut_s == 14.5


def test_a_worker_is_missing_until_another_one_has_its_place() -> None:
    lost = WorkerLost(worker=1), WorkerLost(worker=2)
    assert facts_after(*lost).missing_workers == {1, 2}
    replaced = facts_after(*lost, WorkerReplaced(worker=1))
    assert replaced.missing_workers == {2}
    assert kept(WorkerLost(worker=1), replaced).missing_workers == {1, 2}


def test_of_a_worker_that_returned_nothing_is_missing() -> None:
    missing = RunFacts(incomplete=(WorkerSeconds(worker=1, from_second=5), WorkerSeconds(worker=2, from_second=5)))
    facts = facts_after(WorkerLost(worker=1, kept_to=4), WorkerLost(worker=2, kept_to=4), facts=missing)
    facts = kept(WorkerReturned(worker=1, from_second=5), facts)
    assert [each.worker for each in facts.incomplete or ()] == [2]
    assert [each.kept_to for each in facts.lost or ()] == [None, 4]


def test_the_largest_step_of_the_clock_is_a_fact_of_its_own() -> None:
    facts = facts_after(ClockStepped(second=3, step_ms=12.0), ClockStepped(second=9, step_ms=5.0))
    assert (facts.clock_step_ms, [event.second for event in facts.clock_steps or ()]) == (12.0, [3, 9])
    old = RunFacts.from_json({"clock_step_ms": 7.5})
    assert (old.clock_step_ms, old.clock_steps) == (7.5, None), "as older versions stored it"


def test_a_loss_of_the_store_has_an_end_once_the_store_works_again() -> None:
    first = StoreLost(from_second=2, to_second=4, reason="full")
    lost = StoreLost(from_second=7, reason="full")
    facts = facts_after(first, lost)
    assert facts.store_lost == (first, lost)
    again = StoreLost(from_second=7, to_second=9, reason="full")
    assert facts_after(again, again, facts=facts).store_lost == (first, again)
