from __future__ import annotations

from tests.stats.capacity.probes import ERRORS, P99, probe, search_of

from plimsoll.stats.capacity.estimate import Capacity, capacity


def test_the_answer_rests_on_all_runs_that_count():
    found = capacity([*search_of(), probe(100, 900.0, invalid=("a worker was lost",))])
    assert found.ending == "found"
    assert found.low < 200 < found.load < 204 < found.high
    assert found.broken == (P99,)


def test_what_most_runs_broke_is_named_first():
    mixed = [probe(190, 100.0, 0.0), probe(200, 100.0, 5.0), probe(210, 300.0, 5.0)]
    assert capacity([*mixed, probe(150, 90.0, 0.0)]).broken == (ERRORS, P99)


def test_nothing_broke_nothing_held_and_nothing_counts():
    fine = [probe(each, 20.0, phase="double") for each in (100, 200, 400)]
    assert capacity(fine) == Capacity("unbroken", low=400)
    assert capacity([probe(1, 900.0), probe(2, 900.0)]) == Capacity("unmet", high=1, broken=(P99,))
    assert capacity([]) == Capacity("unknown")


def test_the_generator_as_the_limit():
    fine = [probe(each, 20.0) for each in (100, 200)]
    assert capacity([*fine, probe(400, 20.0, invalid=("a worker was lost",))]) == Capacity(
        "unbroken", low=200, generator=(400, "a worker was lost")
    )
    # A run that was disturbed once, and counted the second time, is no limit.
    assert capacity([*fine, probe(100, 20.0, invalid=("a worker was lost",))]).generator is None


def test_runs_that_disagree_too_much_leave_what_all_of_them_support():
    disagree = [probe(each, p99) for each in (150, 160) for p99 in (100.0, 300.0)]
    found = capacity([probe(100, 90.0), *disagree, probe(200, 900.0)])
    assert (found.ending, found.load, found.low, found.high) == ("bracket", None, 100, 200)


def test_a_backlog_that_grows_close_to_the_capacity_is_told_unless_one_run_alone_saw_it():
    grows = search_of(backlog=2.0)
    assert capacity(grows).grows == (200, 2.0)
    # Far below the capacity it says nothing of it.
    assert capacity([*search_of(backlog=0.0), probe(50, 90.0, backlog=9.0)]).grows == (200, 0.0)
    assert capacity([*search_of(backlog=0.0), probe(195, 90.0, backlog=9.0)]).grows == (200, 0.0)
    assert capacity(search_of()).grows is None


def test_a_search_in_which_some_runs_broke_does_not_say_that_none_did():
    """The target gets faster while it is searched: an autoscaler, or a cache that fills."""
    loads = ((80, 90), (160, 900), (113, 300), (95, 150), (113, 90), (160, 100), (160, 110))
    found = capacity([probe(load, float(p99)) for load, p99 in loads])
    assert (found.ending, found.low, found.high, found.broken) == ("bracket", 95, None, (P99,))


def test_a_search_in_which_some_runs_met_the_objective_does_not_say_that_none_did():
    found = capacity([probe(80, 900.0), probe(40, 900.0), probe(40, 90.0), probe(20, 900.0), probe(20, 900.0)])
    assert (found.ending, found.low, found.high) == ("bracket", None, 80)
