from dataclasses import replace

from benches import grpc
from benches.bars import bars
from benches.cases import MILLION, PLIMSOLL_LOGGED, PLIMSOLL_URL
from benches.cost import Case, Cost
from benches.memory import IdleCost
from benches.open_model import Arrivals, OpenCase, OpenCost
from benches.results import Results
from benches.scale import ScaleCost
from benches.subjects import K6, Native, PlimsollRun, Shb, Tungstenite, Wrk


def results(costs: dict[Case, float]) -> Results:
    collected = Results(machine={}, started="", command="", window=5.0)
    for case, cpu_us in costs.items():
        collected.add(case, Cost(cpu_us, 0.0, 1.0, 1.0, 0.0))
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
    found = {bar.what: (bar.measured, bar.holds) for bar in bars(results(costs))}
    assert found == {
        "plimsoll native users: CPU per request": (0.8, True),
        "plimsoll trivial HttpUser: CPU per request": (2.2, False),
        "plimsoll native users, responses of 27 kB: CPU per request": (0.7, True),
        "plimsoll native users: 10,000 users against 50": (1.5, False),
    }


def test_native_users_are_held_against_shb_too() -> None:
    costs = {Case(Shb(), "/small", 50): 4.0, Case(Native(), "/small", 50): 3.9}
    assert [(bar.what, bar.measured, bar.holds) for bar in bars(results(costs))] == [
        ("plimsoll native users: CPU per request", 0.975, False)
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
    assert [bar.measured for bar in bars(results(costs))] == [3.0]


def test_calls_are_held_against_the_same_bytes_as_requests_and_against_ghz() -> None:
    costs = {Case(grpc.Posts(), grpc.PATH, 50, 10): 20.0, Case(grpc.Calls(), grpc.PATH, 50, 10): 25.0}
    assert [(bar.measured, bar.limit, bar.holds) for bar in bars(results(costs))] == [(1.25, 1.3, True)]
    both = bars(results(costs | {Case(grpc.Ghz(), grpc.PATH, 50, 10): 100.0}))
    assert [(bar.measured, bar.limit, bar.holds) for bar in both] == [(1.25, 1.3, True), (4.0, 5.0, False)]


def test_a_websocket_is_held_against_its_peers_and_an_event_against_a_time() -> None:
    ours = Native("plimsoll native users, WebSocket")
    costs = {Case(Tungstenite(), "/echo", 50): 8.0, Case(K6("k6, WebSocket"), "/echo", 50): 80.0}
    assert list(bars(results(costs))) == []
    costs |= {Case(ours, "/echo", 50): 6.0, Case(Native("plimsoll native users, events"), "/events", 50): 1.5}
    assert [(bar.measured, bar.unit, bar.holds) for bar in bars(results(costs))] == [
        (0.75, "× tungstenite, WebSocket", True),
        (0.075, "× k6, WebSocket", True),
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
    collected = results({})
    collected.add(Case(PLIMSOLL_LOGGED, "/small", 50), Cost(20.0, 7.75, 1000.0, 50.0, 0.0))
    assert list(bars(collected)) == []
    collected.add(Case(PLIMSOLL_URL, "/small", 50), Cost(7.5, 6.5, 1000.0, 50.0, 0.0))
    assert [(bar.measured, bar.limit, bar.holds) for bar in bars(collected)] == [(1.25, 1.0, False)]


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
