"""Which measurements a run makes, and what becomes of failures. Nothing is measured here."""

from collections.abc import Sequence

import pytest
from benches import runner
from benches.cases import NATIVE, WRK
from benches.cost import Case, Cost
from benches.errors import BenchError
from benches.open_model import Arrivals, OpenCase, OpenCost
from benches.results import Results
from benches.runner import run
from benches.turns import Failed

COST = Cost(5.0, 0.0, 1000.0, 3.0, 0.0)
SMALL, LARGE = "/small", "/large"
GROUPS = {"small": [Case(each, SMALL, 50) for each in (WRK, NATIVE)], "large": [Case(WRK, LARGE, 50)]}


class FakeNginx:
    def version(self) -> str:
        return "nginx/1"


class FakeTurns:
    failing: str | None = None
    too_slow = False

    def __init__(self, title: str, cases: Sequence[Case], rounds: int, failed: Failed) -> None:
        self._cases, self._rounds, self._failed = cases, rounds, failed

    def measure(self) -> dict[Case, list[Cost]]:
        if self.too_slow:
            raise BenchError("only 1 of 10 rounds")
        for case in self._cases:
            if case.subject.name == self.failing:
                self._failed(case.subject.name, BenchError("exit status 1\nand more"))
        return {case: [COST] * self._rounds for case in self._cases if case.subject.name != self.failing}


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Results:
    rate = OpenCase(Arrivals("at a rate", 1_000))
    monkeypatch.setattr(runner, "groups", lambda quick: GROUPS)
    monkeypatch.setattr(runner, "open_cases", lambda quick: [rate])
    monkeypatch.setattr(runner, "measure_open", lambda *_: OpenCost(0.0, 1.0, 2.0, 0.0, 1.0, 8.0, 7.0, 0.0))
    for name in ("scale_cases", "IDLE"):
        monkeypatch.setattr(runner, name, (lambda quick: []) if name == "scale_cases" else ())
    monkeypatch.setattr(runner, "is_chosen", lambda name, only: name != "instructions" and only in name)
    monkeypatch.setattr(runner, "present", lambda results, case: True)
    monkeypatch.setattr(runner, "Turns", FakeTurns)
    return Results({}, "", "", 5.0)


def measured(results: Results) -> list[dict[tuple[str, str], int]]:
    return [{(name, path): len(costs) for (name, path, _), costs in group.items()} for group in results.groups]


def test_each_group_is_measured_with_so_many_rounds(results: Results) -> None:
    assert run(FakeNginx(), results, quick=False, only="", rounds=10)  # type: ignore[arg-type]
    assert measured(results) == [{("wrk", SMALL): 10, (NATIVE.name, SMALL): 10}, {("wrk", LARGE): 10}]
    assert [len(rounds) for rounds in results.open.values()] == [runner.RATE_ROUNDS]
    assert results.missing == []


def test_few_rounds_are_as_many_at_a_rate(results: Results) -> None:
    assert run(FakeNginx(), results, quick=False, only="", rounds=2)  # type: ignore[arg-type]
    assert [len(rounds) for rounds in results.open.values()] == [2]


def test_only_chosen_ones_are_in_a_group_and_a_group_without_any_is_left_out(results: Results) -> None:
    assert run(FakeNginx(), results, quick=True, only="native", rounds=3)  # type: ignore[arg-type]
    assert measured(results) == [{(NATIVE.name, SMALL): 3}]


def test_one_that_fails_is_a_line_of_the_results(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeTurns, "failing", "wrk")
    assert not run(FakeNginx(), results, quick=True, only="", rounds=3)  # type: ignore[arg-type]
    assert measured(results) == [{(NATIVE.name, SMALL): 3}, {}]
    assert results.missing == ["wrk: exit status 1", "wrk: exit status 1"]


def test_a_group_that_fails_is_a_line_of_the_results(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeTurns, "too_slow", True)
    assert not run(FakeNginx(), results, quick=True, only="", rounds=10)  # type: ignore[arg-type]
    assert results.missing == ["small: only 1 of 10 rounds", "large: only 1 of 10 rounds"]
    assert list(results.open), "the others go on"
