"""Which machine gets the place of a lost worker. Whole runs are in tests/run/test_replaced_workers.py."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.errors import PlimsollError
from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.run.coordinator.recovery.replacements import Replacements
from plimsoll.run.plan import RunPlan
from plimsoll.run.result import Result
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD = Load("open", (Phase("", ShapeSpec.of("constant", level=30.0, seconds=60.0)),))


class FakeMachine:
    def __init__(self, how: str | None = None) -> None:
        self.host, self.kept, self.how = "vm", None, how


class Scene:
    """One place is vacant. No machine can start a worker."""

    def __init__(self, plan: RunPlan, *machines: FakeMachine) -> None:
        self.asked: list[FakeMachine] = []
        self.posted: list[Callable[[], None]] = []
        self.losses = SimpleNamespace(
            nodes=None, workers={}, steering=None, clock=None, lost=[], vacant={1: SimpleNamespace(index=1)}
        )
        launch: Any = SimpleNamespace(plan=plan, joined_workers=SimpleNamespace(reserve=self._reserve))
        loop: Any = SimpleNamespace(post=self.posted.append)
        losses: Any = self.losses
        ready: Any = lambda: list(machines)  # noqa: E731
        self.replacements = Replacements(loop, launch, losses, ready, lambda _: None, lambda *_: None)
        self.result = Result(RunView(), started=1000.0)

    def look(self) -> None:
        self.replacements.look(self.result)

    def _reserve(self, index: int, machine: FakeMachine) -> Callable[[], None]:
        assert index == 1
        self.asked.append(machine)
        return self._fail

    def _fail(self) -> None:
        raise PlimsollError("it does not start")


def test_a_machine_that_cannot_start_a_worker_gives_the_place_to_another_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machines = FakeMachine(), FakeMachine()
    scene = Scene(RunPlan(load=LOAD), *machines)
    for number in (1, 2):
        scene.look()
        assert (len(scene.asked), scene.losses.vacant) == (number, {})
        wait_until(lambda: scene.posted)
        scene.posted.pop()()
        assert list(scene.losses.vacant) == [1]
    scene.look()
    assert (scene.asked, scene.posted) == (list(machines), [])
    assert caplog.text.count("it does not start") == 2


def test_a_machine_whose_worker_has_failed_gets_no_other_one() -> None:
    scene = Scene(RunPlan(load=LOAD), FakeMachine("was killed by SIGKILL"))
    scene.look()
    assert (scene.asked, list(scene.losses.vacant)) == ([], [1])


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (RunPlan(load=replace(LOAD, iterations=100)), "how many iterations it has left is not known"),
        (
            RunPlan(load=LOAD, scenario={"feeders": [{"name": "users", "at_end": "stop"}]}),
            "which rows of feeder users it has left is not known",
        ),
    ],
)
def test_a_place_stays_empty_if_it_is_not_known_what_is_left_to_do(
    caplog: pytest.LogCaptureFixture, plan: RunPlan, why: str
) -> None:
    scene = Scene(plan, FakeMachine())
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            scene.look()
    assert scene.asked == []
    assert [each.getMessage() for each in caplog.records] == [f"the place of the lost worker stays empty: {why}"]


def test_nobody_begins_where_a_loss_ends_the_run_before_the_load_or_after_it() -> None:
    scene = Scene(RunPlan(load=LOAD, on_worker_loss="stop"), FakeMachine())
    scene.look()
    early = Scene(RunPlan(load=LOAD), FakeMachine())
    early.result.started = None
    early.look()
    late = Scene(RunPlan(load=LOAD), FakeMachine())
    late.replacements.end()
    late.look()
    assert scene.asked == early.asked == late.asked == []
