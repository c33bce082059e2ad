"""Which machine gets the place of a lost worker. Whole runs are in tests/run/test_replaced_workers.py."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.errors import PlimsollError
from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.run.coordinator.peers import MessageRouter
from plimsoll.run.coordinator.recovery.replacements import Replacements
from plimsoll.run.plan import RunPlan
from plimsoll.run.result import Result
from plimsoll.run.transport.handle import WorkerSlot
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.transport.handle import WorkerHandle

LOAD = Load("open", (Phase("", ShapeSpec.of("constant", level=30.0, seconds=60.0)),))


class Scene:
    """One place is vacant. Two machines have a free slot, and cannot start a worker."""

    def __init__(self, plan: RunPlan) -> None:
        self.asked: list[str] = []
        self._hosts = ["a", "b"]
        self.posted: list[Callable[[], None]] = []
        self.losses = SimpleNamespace(lost=[], vacant={1: SimpleNamespace(index=1)})
        site = SimpleNamespace(free_slots=self._free_slots, take_kept=list)
        launch: Any = SimpleNamespace(plan=plan, joined_workers=site)
        loop: Any = SimpleNamespace(post=self.posted.append)
        unused: Any = None
        losses: Any = self.losses
        self.replacements = Replacements(
            loop, launch, MessageRouter(loop), losses, unused, unused, lambda _: None, lambda *_: None
        )
        self.result = Result(RunView(), started=1000.0)

    def look(self) -> None:
        self.replacements.look(self.result)

    def _free_slots(self) -> list[WorkerSlot]:
        return [WorkerSlot(host, partial(self._reserve, host)) for host in self._hosts]

    def _reserve(self, host: str, index: int) -> Callable[[], WorkerHandle]:
        assert index == 1
        self.asked.append(host)
        self._hosts.remove(host)
        return self._fail

    def _fail(self) -> WorkerHandle:
        raise PlimsollError("it does not start")


def test_a_machine_that_cannot_start_a_worker_gives_the_place_to_another_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(RunPlan(load=LOAD))
    for number in (1, 2):
        scene.look()
        assert (len(scene.asked), scene.losses.vacant) == (number, {})
        wait_until(lambda: scene.posted)
        scene.posted.pop()()
        assert list(scene.losses.vacant) == [1]
    scene.look()
    assert (scene.asked, scene.posted) == (["a", "b"], [])
    assert caplog.text.count("it does not start") == 2


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
    scene = Scene(plan)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            scene.look()
    assert scene.asked == []
    assert [each.getMessage() for each in caplog.records] == [f"the place of the lost worker stays empty: {why}"]


def test_nobody_begins_where_a_loss_ends_the_run_before_the_load_or_after_it() -> None:
    scene = Scene(RunPlan(load=LOAD, on_worker_loss="stop"))
    scene.look()
    early = Scene(RunPlan(load=LOAD))
    early.result.started = None
    early.look()
    late = Scene(RunPlan(load=LOAD))
    late.replacements.end()
    late.look()
    assert scene.asked == early.asked == late.asked == []
