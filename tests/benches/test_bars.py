from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from benches import grpc
from benches.bars import Bar, bars
from benches.cases import MILLION, PLIMSOLL_LOGGED, PLIMSOLL_URL, groups
from benches.cost import Case, Cost
from benches.memory import IdleCost
from benches.open_model import Arrivals, OpenCase, OpenCost
from benches.results import Results
from benches.scale import ScaleCost
from benches.subjects import K6, Native, PlimsollRun, Shb, Tungstenite, Wrk


def cost(cpu_us: float, workers_us: float = 0.0) -> Cost:
    return Cost(cpu_us, workers_us, requests_per_second=1.0, peak_mb=1.0, others_cpus=0.0)


def results(costs: Mapping[Case, float | Sequence[float]]) -> Results:
    """Of one group. A single figure is that of two rounds."""
    collected = Results(machine={}, started="", command="", window=5.0)
    rounds = {case: [each] * 2 if isinstance(each, float) else each for case, each in costs.items()}
    collected.add_group({case: [cost(each) for each in figures] for case, figures in rounds.items()})
    return collected


HTTP = PlimsollRun("plimsoll trivial HttpUser")


def test_a_bar_needs_both_of_its_figures() -> None:
    assert list(bars(results({}))) == []
    assert list(bars(results({Case(Native(), "/small", 50): 5.0}))) == []


def test_ratios_and_verdicts() -> None:
    costs = {
        Case(Wrk(), "/small", 50): 5.0,
        Case(Wrk(), "/small", 10_000): 7.0,
        Case(Wrk(), "/large", 50): 10.0,
        Case(Native(), "/small", 50): 4.0,
        Case(Native(), "/small", 10_000): 6.0,
        Case(Native(), "/large", 50): 7.0,
        Case(HTTP, "/small", 50): 11.0,
    }
    found = {bar.what: (round(bar.measured, 9), bar.holds) for bar in bars(results(costs))}
    assert found == {
        "plimsoll native users: CPU per request": (0.8, True),
        "plimsoll trivial HttpUser: CPU per request": (2.2, False),
        "plimsoll native users, responses of 27 kB: CPU per request": (0.7, True),
        "plimsoll native users: 10,000 users against 50": (round(1.5 / 1.4, 9), False),
    }


def test_a_ratio_has_its_interval_and_the_verdict_says_if_the_limit_is_within_it() -> None:
    wrk, native = Case(Wrk(), "/small", 50), Case(Native(), "/small", 50)
    for figures, verdict in (
        ((3.99, 4.0, 4.01), "holds"),
        ((4.0, 4.0, 4.5), "holds (limit within the interval)"),
        ((4.0, 4.5, 4.5), "MISSES (limit within the interval)"),
        ((4.99, 5.0, 5.01), "MISSES"),
    ):
        (bar,) = bars(results({wrk: [5.0, 5.0, 5.0], native: figures}))
        assert bar.verdict == verdict
        assert bar.interval is not None
        assert bar.interval[0] < bar.measured < bar.interval[1]
    assert Bar("memory", 17.0, 16.0, "KiB").verdict == "MISSES"


def test_growth_is_compared_round_by_round() -> None:
    # The machine is slower for many users in the second round: for both.
    costs = {
        Case(Wrk(), "/small", 50): [5.0, 5.0],
        Case(Wrk(), "/small", 10_000): [6.0, 12.0],
        Case(HTTP, "/small", 50): [7.0, 7.0],
        Case(HTTP, "/small", 10_000): [8.4, 16.8],
    }
    growth = list(bars(results(costs)))[-1]
    assert (growth.measured, growth.limit, growth.unit) == (pytest.approx(1.0), 1.0, "× wrk's growth")
    assert growth.interval == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("quick", [True, False])
def test_what_a_bar_compares_is_measured_in_turns(quick: bool) -> None:
    """A ratio of cases of two groups would be missing."""
    apart, together = results({}), results({})
    for cases in groups(quick).values():
        apart.add_group({case: [cost(5.0)] * 2 for case in cases})
    together.add_group({case: [cost(5.0)] * 2 for cases in groups(quick).values() for case in cases})
    assert [bar.what for bar in bars(apart)] == [bar.what for bar in bars(together)]
    assert len(list(bars(apart))) == (14 if quick else 18)


def test_native_users_are_held_against_shb_too() -> None:
    costs = {Case(Shb(), "/small", 50): 4.0, Case(Native(), "/small", 50): 3.9}
    assert [(bar.what, bar.measured, bar.holds) for bar in bars(results(costs))] == [
        ("plimsoll native users: CPU per request", pytest.approx(0.975), False)
    ]


def test_a_million_users_have_a_limit_for_all_of_them() -> None:
    collected = results({})
    for case, errors in ((replace(MILLION, users=100_000), 0), (MILLION, 1)):
        collected.add_scale(case, ScaleCost(0.9, 5000.0, 30.0, 2000.0, errors, 50, 1.0, 0.0))
    assert [(bar.what.rpartition(": ")[2], bar.measured, bar.holds) for bar in bars(collected)] == [
        ("memory per user", 0.9, True),
        ("errors", 0, True),
        ("memory per user", 0.9, True),
        ("errors", 1, False),
        ("memory in all", 5000.0, False),
    ]


def test_a_realistic_locustfile_is_held_against_the_cheapest_request() -> None:
    costs = {
        Case(Wrk(), "/small", 50): 5.0,
        Case(PlimsollRun("plimsoll realistic HttpUser"), "/orders", 50): 15.0,
    }
    assert [bar.measured for bar in bars(results(costs))] == pytest.approx([3.0])


def test_calls_are_held_against_the_same_bytes_as_requests_and_against_ghz() -> None:
    costs = {Case(grpc.Posts(), grpc.PATH, 50, 10): 20.0, Case(grpc.Calls(), grpc.PATH, 50, 10): 25.0}
    assert [(bar.measured, bar.limit, bar.holds) for bar in bars(results(costs))] == [(pytest.approx(1.25), 1.3, True)]
    both = bars(results(costs | {Case(grpc.Ghz(), grpc.PATH, 50, 10): 100.0}))
    assert [(bar.measured, bar.limit, bar.holds) for bar in both] == [
        (pytest.approx(1.25), 1.3, True),
        (pytest.approx(4.0), 5.0, False),
    ]


def test_a_websocket_is_held_against_its_peers_and_an_event_against_a_time() -> None:
    ours = Native("plimsoll native users, WebSocket")
    costs = {Case(Tungstenite(), "/echo", 50): 8.0, Case(K6("k6, WebSocket"), "/echo", 50): 80.0}
    assert list(bars(results(costs))) == []
    costs |= {Case(ours, "/echo", 50): 6.0, Case(Native("plimsoll native users, events"), "/events", 50): 1.5}
    assert [(bar.measured, bar.unit, bar.holds) for bar in bars(results(costs))] == [
        (pytest.approx(0.75), "× tungstenite, WebSocket", True),
        (pytest.approx(0.075), "× k6, WebSocket", True),
        (1.5, "µs", False),
    ]


def test_memory_is_a_bar_for_us_alone() -> None:
    collected = results({})
    collected.idle = {"plimsoll idle user": IdleCost(17.0, 10_000), "locust idle user": IdleCost(40.0, 2_000)}
    assert [(bar.measured, bar.holds) for bar in bars(collected)] == [(17.0, False)]


def open_cost(lag_p99_ms: float) -> OpenCost:
    return OpenCost(0.0, lag_p99_ms, 100.0, 100.0, 1.0, 8.0, 7.0, 0.0)


def test_at_the_highest_rate_lag_is_at_most_a_millisecond() -> None:
    collected = results({})
    collected.add_open(OpenCase(Arrivals("plimsoll run URL", 10_000)), open_cost(lag_p99_ms=7.0))
    assert list(bars(collected)) == []
    for lag in (0.5, 1.5, 0.9):
        collected.add_open(OpenCase(Arrivals("plimsoll run URL", 50_000)), open_cost(lag_p99_ms=lag))
    assert [(bar.what, bar.measured, bar.limit, bar.holds) for bar in bars(collected)] == [
        ("plimsoll run URL at 50,000/s: lag p99", 0.9, 1.0, True)
    ]


def test_the_log_is_held_against_the_same_load_without_it_in_the_worker_alone() -> None:
    logged, plain = Case(PLIMSOLL_LOGGED, "/small", 50), Case(PLIMSOLL_URL, "/small", 50)
    collected = results({})
    collected.add_group({logged: [cost(20.0, 7.5), cost(30.0, 12.0)], plain: [cost(7.5, 6.5), cost(12.5, 10.5)]})
    (bar,) = bars(collected)
    assert (bar.measured, bar.limit, bar.holds) == (1.25, 1.0, False)
    assert bar.interval is not None
    assert bar.interval[0] < 1.0 < bar.interval[1], "the differences are 1.0 and 1.5"


def test_many_users_have_room_and_none_of_them_fails() -> None:
    collected = results({})
    collected.scale = {
        ("plimsoll HttpUser", 50_000): ScaleCost(15.0, 900.0, 40.0, 2_000.0, 0, 3, 0.5, 0.0),
        ("plimsoll native users", 100_000): ScaleCost(1.5, 400.0, 30.0, 2_000.0, 2, 6, 0.5, 0.0),
    }
    assert [(bar.what, bar.measured, bar.limit, bar.holds) for bar in bars(collected)] == [
        ("plimsoll HttpUser, 50,000: memory per user", 15.0, 16.0, True),
        ("plimsoll HttpUser, 50,000: errors", 0, 0.0, True),
        ("plimsoll native users, 100,000: memory per user", 1.5, 1.0, False),
        ("plimsoll native users, 100,000: errors", 2, 0.0, False),
    ]
