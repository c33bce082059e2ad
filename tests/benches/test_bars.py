from benches.bars import bars
from benches.cost import Case, Cost
from benches.memory import IdleCost
from benches.results import Results
from benches.subjects import LocustRun, Native, PlimsollRun, Wrk


def results(costs: dict[Case, float]) -> Results:
    collected = Results(machine={}, started="", command="", window=5.0)
    for case, cpu_us in costs.items():
        collected.add(case, Cost(cpu_us, 0.0, 1.0, 1.0, 0.0))
    return collected


HTTP = PlimsollRun("plimsoll trivial HttpUser")
LOCUST = LocustRun("locust trivial FastHttpUser", "trivial.py", "TrivialFast")


def test_a_bar_needs_both_of_its_figures() -> None:
    assert list(bars(results({}))) == []
    assert list(bars(results({Case(Native(), "/small", 50): 5.0}))) == []


def test_ratios_and_verdicts() -> None:
    costs = {
        Case(Wrk(), "/small", 50): 5.0,
        Case(Native(), "/small", 50): 4.0,
        Case(Native(), "/small", 10_000): 6.0,
        Case(HTTP, "/small", 50): 11.0,
        Case(LOCUST, "/small", 50): 220.0,
    }
    found = {bar.what: (bar.measured, bar.holds) for bar in bars(results(costs))}
    assert found == {
        "plimsoll native users: CPU per request": (0.8, True),
        "plimsoll trivial HttpUser: CPU per request": (2.2, False),
        "plimsoll trivial HttpUser: Locust's FastHttpUser costs": (20.0, True),
        "plimsoll native users: 10,000 users against 50": (1.5, False),
    }


def test_a_realistic_locustfile_is_held_against_the_cheapest_request() -> None:
    costs = {
        Case(Wrk(), "/small", 50): 5.0,
        Case(PlimsollRun("plimsoll realistic HttpUser"), "/orders", 50): 15.0,
    }
    assert [bar.measured for bar in bars(results(costs))] == [3.0]


def test_memory_is_a_bar_for_us_alone() -> None:
    collected = results({})
    collected.idle = {"plimsoll idle user": IdleCost(17.0, 10_000), "locust idle user": IdleCost(40.0, 2_000)}
    assert [(bar.measured, bar.holds) for bar in bars(collected)] == [(17.0, False)]
