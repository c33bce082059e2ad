import json
from pathlib import Path

import pytest
from benches.cost import Case, Cost
from benches.open_model import Arrivals, OpenCase, OpenCost
from benches.results import Results
from benches.scale import Paced, ScaleCase, ScaleCost
from benches.subjects import Wrk


def cost(cpu_us: float) -> Cost:
    return Cost(cpu_us, 0.0, 100.0, 3.0, 0.0)


def test_the_file_keeps_every_round(tmp_path: Path) -> None:
    results = Results({"cpus": 2}, "2026-01-02T03:04:05", "python -m benches", 5.0)
    results.add_group({Case(Wrk(), "/small", 50): [cost(5.0), cost(7.0), cost(6.0)]})
    path = tmp_path / "new" / "results.json"
    results.write(path, [])
    document = json.loads(path.read_text())
    assert document["schema"] == "plimsoll.bench/3"
    assert document["window_seconds"] == {"turns": 1.0, "runs": 5.0}
    assert [each["cpu_us"] for each in document["groups"][0][0]["rounds"]] == [5.0, 7.0, 6.0]
    assert results.cpu_us("wrk", "/small", 50) == 6.0
    assert results.cpu_us("wrk", "/large", 50) is None


def test_a_ratio_is_that_of_the_same_round() -> None:
    results = Results({}, "", "", 5.0)
    one, other = ("wrk", "/small", 50), ("wrk", "/large", 50)
    assert results.ratio(one, other) is None
    # The machine is twice as slow in the second round.
    few, many = [cost(5.0), cost(10.0)], [cost(6.0), cost(12.0)]
    results.add_group({Case(Wrk(), "/small", 50): few, Case(Wrk(), "/large", 50): many})
    found = results.ratio(other, one)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((1.2, 1.2, 1.2))


def test_costs_that_were_not_measured_in_turns_are_not_compared() -> None:
    results = Results({}, "", "", 5.0)
    results.add_group({Case(Wrk(), "/small", 50): [cost(5.0)]})
    results.add_group({Case(Wrk(), "/large", 50): [cost(6.0)]})
    one, other = ("wrk", "/small", 50), ("wrk", "/large", 50)
    assert results.ratio(one, other) is None
    assert results.by_round(one) == [(cost(5.0),)]
    assert results.by_round(one, other) == []


def test_arrivals_keep_every_round_too_and_many_users_their_one(tmp_path: Path) -> None:
    results = Results({"cpus": 2}, "2026-01-02T03:04:05", "python -m benches", 5.0)
    case = OpenCase(Arrivals("plimsoll run URL", 1_000))
    for lag in (0.1, 0.9, 0.2):
        results.add_open(case, OpenCost(0.0, lag, 2.0, 0.0, 1.0, 8.0, 7.0, 0.4))
    results.add_scale(ScaleCase(Paced("many", None), 10_000), ScaleCost(1.0, 60.0, 30.0, 2_000.0, 0, 1, 0.5, 0.1))
    path = tmp_path / "results.json"
    results.write(path, [])
    document = json.loads(path.read_text())
    assert [each["lag_p99_ms"] for each in document["open"][0]["rounds"]] == [0.1, 0.9, 0.2]
    assert document["scale"] == [
        {
            "subject": "many", "users": 10_000, "kib_per_user": 1.0, "resident_mb": 60.0, "cpu_us": 30.0,
            "requests_per_second": 2_000.0, "errors": 0, "sources": 1, "lag_p99_ms": 0.5, "others_cpus": 0.1,
        }
    ]  # fmt: skip
    found = results.open_cost("plimsoll run URL", 1_000)
    assert found is not None
    assert found.lag_p99_ms == 0.2
    assert results.open_cost("plimsoll run URL", 2_000) is None
    assert results.others_cpus() == 0.4  # the median of 0.4, 0.4, 0.4 and 0.1
