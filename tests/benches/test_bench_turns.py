"""The turns of a group. Servers, generators and the clock are false ones."""

from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
from benches import turns
from benches.cost import Case, Cost
from benches.errors import BenchError
from benches.subjects import Load, Subject
from benches.turns import READING_SECONDS, START_SECONDS, TURN_SECONDS, TURNS, Failed, Round, measure_group


@dataclass(frozen=True)
class Fake(Subject):
    reports: int = 1000

    def command(self, load: Load) -> list[str]:
        return ["fake", str(load.seconds)]

    def reported(self, load: Load, output: str) -> int:
        return self.reports


def case(name: str, reports: int = 1000, users: int = 50) -> Case:
    return Case(Fake(name, reports), "/small", users)


COST = Cost(5.0, 0.0, 1000.0, 3.0, 0.0)


@dataclass
class Stage:
    """What happened, and the time."""

    now: float = 100.0
    steps: list[tuple[str, str]] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)
    breaks: dict[tuple[str, str], list[BaseException | None]] = field(default_factory=dict)
    """By step: what each of them raises."""
    start_seconds: float = START_SECONDS

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds

    def step(self, name: str, what: str) -> None:
        self.steps.append((name, what))
        outcomes = self.breaks.get((name, what), [])
        if outcomes and (error := outcomes.pop(0)):
            raise error

    def order(self, what: str) -> str:
        return " ".join(name for name, step in self.steps if step == what)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: stage.now, sleep=stage.sleep))
    return stage


@pytest.fixture
def parties(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> Stage:
    """With parties that only note what is asked of them."""

    class FakeParty:
        def __init__(self, case: Case, deadline: float) -> None:
            self.name = case.subject.name
            stage.deadlines.append(deadline)
            stage.sleep(stage.start_seconds)
            stage.step(self.name, "start")

        def turn(self) -> Cost:
            stage.sleep(TURN_SECONDS)
            stage.step(self.name, "turn")
            return replace(COST, cpu_us=stage.now)

        def end(self) -> None:
            stage.step(self.name, "end")

        def close(self) -> None:
            stage.step(self.name, "close")

    monkeypatch.setattr(turns, "Party", FakeParty)
    return stage


def note(failures: list[str]) -> Failed:
    return lambda what, why: failures.append(f"{what}: {why}")


Measure = Callable[..., tuple[set[str], list[str]]]


@pytest.fixture
def measure() -> Measure:
    def run(*names: str) -> tuple[set[str], list[str]]:
        """The generators with a cost, and what failed."""
        failures: list[str] = []
        measured = Round([case(name) for name in names], note(failures)).measure()
        return {each.subject.name for each in measured}, failures

    return run


def test_the_second_turns_have_the_opposite_order(parties: Stage, measure: Measure) -> None:
    assert measure("a", "b", "c") == ({"a", "b", "c"}, [])
    assert parties.order("turn") == "a b c c b a"
    assert parties.order("start") == parties.order("end") == "a b c"


def test_the_cost_of_a_round_is_the_mean_of_its_turns(parties: Stage) -> None:
    measured = Round([case("a"), case("b")], note([])).measure()
    middle = 100.0 + 2 * START_SECONDS + 2.5 * TURN_SECONDS
    assert [cost.cpu_us for cost in measured.values()] == pytest.approx([middle, middle])


def test_all_last_until_the_last_turn_is_over_and_no_longer(parties: Stage, measure: Measure) -> None:
    measure("a", "b")
    assert parties.deadlines == [parties.deadlines[0]] * 2
    users = 2 * 50 / turns.USERS_PER_SECOND
    assert parties.now == pytest.approx(parties.deadlines[0] - users)
    assert parties.now == pytest.approx(100.0 + 2 * START_SECONDS + 2 * TURNS * TURN_SECONDS)


def test_each_round_starts_all_anew_but_those_that_have_failed(parties: Stage) -> None:
    parties.breaks = {("b", "start"): [None, BenchError("lost")]}
    failures: list[str] = []
    rounds = list(measure_group([case("a"), case("b")], 3, note(failures)))
    assert [{each.subject.name: len(costs) for each, costs in found.items()} for found in rounds] == [
        {"a": 1, "b": 1}, {"a": 2}, {"a": 3},
    ]  # fmt: skip
    assert parties.order("start") == "a b a b a"
    assert failures == ["b, /small, 50 users: lost"]


@pytest.mark.parametrize("step", ["start", "turn", "end"])
@pytest.mark.parametrize("error", [BenchError("lost"), ValueError("lost"), OSError("lost")])
def test_one_that_fails_is_reported_and_the_others_go_on(
    parties: Stage, measure: Measure, step: str, error: Exception
) -> None:
    parties.breaks = {("b", step): [None, error] if step == "turn" else [error]}
    assert measure("a", "b", "c") == ({"a", "c"}, ["b, /small, 50 users: lost"])
    assert parties.order("turn").startswith("a c c a" if step == "start" else "a b c c b a")
    after = parties.steps[parties.steps.index(("b", step)) + 1 :]
    if step == "turn":
        assert after.count(("b", "turn")) == 1, "the second one failed"
        assert ("b", "end") not in after
        assert parties.steps.index(("b", "close")) < parties.steps.index(("a", "end")), "it must not send meanwhile"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("of ours")])
def test_all_are_closed_whatever_happens(parties: Stage, measure: Measure, error: BaseException) -> None:
    parties.breaks = {("b", "turn"): [error]}
    with pytest.raises(type(error)):
        measure("a", "b", "c")
    assert sorted(parties.order("close").split()) == ["a", "b", "c"]


def test_a_round_whose_turns_do_not_fit_any_more_is_none(parties: Stage, measure: Measure) -> None:
    parties.start_seconds = START_SECONDS + TURN_SECONDS
    with pytest.raises(BenchError, match="slower than planned"):
        measure("a", "b")
    assert parties.order("close") == "b a"
    assert parties.order("turn") == ""


class FakeServer:
    received = 1010

    def url_of(self, path: str, http2: bool) -> str:
        return "http://127.0.0.1:8765"

    def status(self) -> SimpleNamespace:
        return SimpleNamespace(requests=self.received, connections=50)


@pytest.fixture
def real_party(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> Stage:
    """What a party needs, but false."""

    class FakeGenerator:
        def __init__(self, command: list[str], environment: dict[str, str]) -> None:
            stage.step("generator", f"given {command[1]} s")

        def __enter__(self) -> "FakeGenerator":
            return self

        def __exit__(self, *error: object) -> None:
            stage.step("generator", "killed")

        def pause(self) -> None:
            stage.step("generator", "pause")

        def resume(self) -> None:
            stage.step("generator", f"resume at {stage.now:.1f}")

        def finish(self) -> str:
            stage.step("generator", "finish")
            return ""

    def weigh(server: object, generator: object, users: int, window: float) -> Cost:
        stage.step("generator", f"window of {window:g} s at {stage.now:.1f}")
        stage.sleep(window + READING_SECONDS)
        return COST

    monkeypatch.setattr(turns, "running_server", lambda case: nullcontext(FakeServer()))
    monkeypatch.setattr(turns, "Measured", FakeGenerator)
    monkeypatch.setattr(turns, "weigh", weigh)
    monkeypatch.setattr(turns, "wait_for_connections", lambda *_: stage.step("server", "all connected"))
    return stage


def test_a_generator_sends_only_in_its_turns_and_at_its_end(real_party: Stage) -> None:
    party = turns.Party(case("a"), deadline=119.5)
    assert party.turn() == COST
    party.end()
    party.close()
    assert [what for _, what in real_party.steps] == [
        "given 20 s", "all connected", "pause",
        "resume at 100.0", "window of 1 s at 100.6", "pause",
        "resume at 119.5", "finish",
        "killed",
    ]  # fmt: skip


def test_a_generator_whose_users_do_not_connect_is_killed(real_party: Stage) -> None:
    real_party.breaks = {("server", "all connected"): [BenchError("3 of 50 users connected")]}
    with pytest.raises(BenchError, match="3 of 50"):
        turns.Party(case("a"), deadline=119.5)
    assert real_party.steps[-1] == ("generator", "killed")


@pytest.mark.parametrize("reports", [1011, 959])
def test_the_count_of_all_its_turns_must_be_the_servers(real_party: Stage, reports: int) -> None:
    with (
        closing(turns.Party(case("a", reports), deadline=110.0)) as party,
        pytest.raises(BenchError, match=f"a reported {reports} requests, the server received 1010"),
    ):
        party.end()
