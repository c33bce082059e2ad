"""Which measurements a run makes, and what becomes of failures. Nothing is measured here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


@dataclass
class FakeGroups:
    failing: str | None = None
    too_slow_after: int | None = None
    """Rounds."""

    def measure(self, cases: Sequence[Case], rounds: int, failed: Failed) -> Iterator[dict[Case, list[Cost]]]:
        for case in cases:
            if case.subject.name == self.failing:
                failed(case.subject.name, BenchError("exit status 1\nand more"))
        for number in range(rounds):
            if number == self.too_slow_after:
                raise BenchError("the machine was slower than planned")
            yield {case: [COST] * (number + 1) for case in cases if case.subject.name != self.failing}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeGroups:
    fake = FakeGroups()
    monkeypatch.setattr(runner, "measure_group", fake.measure)
    return fake


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch, fake: FakeGroups) -> Results:
    rate = OpenCase(Arrivals("at a rate", 1_000))
    monkeypatch.setattr(runner, "groups", lambda quick: GROUPS)
    monkeypatch.setattr(runner, "open_cases", lambda quick: [rate])
    monkeypatch.setattr(runner, "measure_open", lambda *_: OpenCost(0.0, 1.0, 2.0, 0.0, 1.0, 8.0, 7.0, 0.0))
    for name in ("scale_cases", "IDLE"):
        monkeypatch.setattr(runner, name, (lambda quick: []) if name == "scale_cases" else ())
    monkeypatch.setattr(runner, "is_chosen", lambda name, only: name != "instructions" and only in name)
    monkeypatch.setattr(runner, "present", lambda results, case: True)
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


def test_one_that_fails_is_a_line_of_the_results(results: Results, fake: FakeGroups) -> None:
    fake.failing = "wrk"
    assert not run(FakeNginx(), results, quick=True, only="", rounds=3)  # type: ignore[arg-type]
    assert measured(results) == [{(NATIVE.name, SMALL): 3}, {}]
    assert results.missing == ["wrk: exit status 1", "wrk: exit status 1"]


@pytest.mark.parametrize("after", [0, 4])
def test_a_round_that_fails_is_a_line_of_the_results_and_those_before_it_count(
    results: Results, fake: FakeGroups, after: int
) -> None:
    fake.too_slow_after = after
    assert not run(FakeNginx(), results, quick=True, only="", rounds=10)  # type: ignore[arg-type]
    why = "the machine was slower than planned"
    assert results.missing == [f"small: {why}", f"large: {why}"]
    assert [set(group.values()) for group in measured(results)] == [{after} if after else set()] * 2
    assert list(results.open), "the others go on"
