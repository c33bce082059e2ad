"""When a worker is lost, and who gets its arrivals. Whole runs are in tests/run/test_worker_loss.py."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from plimsoll._engine import Arrivals
from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.record.events import WorkerSeconds
from plimsoll.run.coordinator.peers import MessageRouter
from plimsoll.run.coordinator.recovery import loss as module
from plimsoll.run.coordinator.recovery.loss import WorkerLosses
from plimsoll.run.coordinator.run_clock import RunClock
from plimsoll.run.coordinator.steering import LoadControl
from plimsoll.run.dispatch import UserClass
from plimsoll.run.plan import RunPlan
from plimsoll.run.result import Result
from plimsoll.run.transport.orders import Assign, Offer, Order, Stop
from plimsoll.say.events import event_text
from plimsoll.stats.view import RunView

SECOND = 1_000_000_000


class FakeWorker:
    """Notes what it is ordered."""

    def __init__(self, index: int) -> None:
        self.index, self.second, self.last_report, self.place = index, 4, 5 * SECOND, "on b"
        self.first = 0
        self.ending = None
        self.noted: list[tuple[Any, ...]] = []
        self.shares: list[tuple[int, int]] = []
        self.is_killed = False

    def kill(self) -> None:
        self.is_killed = True

    def order(self, order: Order) -> None:
        if isinstance(order, Assign):
            self.shares = list(order.shares)
        else:
            self.noted.append(order)


class Scene:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, action: str, workers: int = 3) -> None:
        router = MessageRouter(None)  # type: ignore[arg-type]
        self.workers: Any = router.workers
        self.workers.add(FakeWorker(index) for index in range(workers))
        shape = ShapeSpec.of("constant", level=30.0, seconds=60.0)
        self.plan = RunPlan(
            scenario={}, processes=workers, load=Load("open", (Phase("", shape),)), on_worker_loss=action
        )
        self.steering = steering = LoadControl(None, router, lambda: None)  # type: ignore[arg-type]
        steering.prepare(self.plan, [UserClass("A")], shaped=False)
        self.ended: list[str] = []
        self.losses = WorkerLosses(
            self.plan, router, steering, RunClock(), lambda status, note: self.ended.append(status)
        )
        self.result = Result(RunView())
        self._monkeypatch = monkeypatch
        self._second = 0.0

    @property
    def silent(self) -> set[int]:
        return {worker.index for worker in self.losses.silent}

    def take(self, index: int) -> Any:
        """A worker that is connected no more."""
        worker = self.workers[index]
        self.workers.remove(worker)
        return worker

    def look(self, second: float) -> None:
        """Each second until then."""
        while self._second + 1 < second:
            self.wake(self._second + 1)
        self.wake(second)

    def wake(self, second: float) -> None:
        """Only then, whatever the time since the last look."""
        self._second = second
        self._monkeypatch.setattr(module, "now", lambda: round(second * SECOND))
        self.losses.look(self.result)


@pytest.mark.parametrize("action", ["mark", "redistribute"])
def test_nobody_is_silent_while_the_coordinator_stands_still(monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    scene = Scene(monkeypatch, action)
    scene.wake(12)  # since second 0
    for second in (13, 14, 15, 22, 23, 24, 25):
        scene.wake(second)
        assert scene.silent == set()
    scene.wake(25.1)
    assert scene.silent == {0, 1, 2}


def test_a_silent_worker_is_only_marked_until_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "mark")
    for worker in (scene.workers[0], scene.workers[1]):
        worker.last_report = 8 * SECOND
    scene.look(7.9)
    assert scene.silent == set()
    scene.look(8.1)
    assert (scene.silent, scene.result.lost_workers, scene.result.notes) == ({2}, 0, [])
    scene.losses.on_report(scene.workers[2])
    assert scene.silent == set()
    assert scene.workers[2].noted == []


def test_a_worker_that_is_given_up_is_lost_once_and_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "redistribute")
    scene.workers[0].last_report = scene.workers[1].last_report = 20 * SECOND
    scene.look(9)
    assert scene.workers[2].noted == [Stop()]
    assert scene.result.facts.incomplete == (WorkerSeconds(worker=2, place="on b", from_second=5, to_second=10),)
    scene.losses.kill_given_up()
    assert scene.workers[2].is_killed and not scene.workers[0].is_killed
    scene.losses.on_exit(scene.workers[2], "was killed by SIGKILL", scene.result)
    assert (scene.result.lost_workers, scene.result.notes) == (1, [])


def test_a_worker_that_could_not_be_reached_loses_its_load_and_none_of_its_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch, "mark")
    scene.workers[0].last_report = scene.workers[1].last_report = 20 * SECOND
    scene.look(9)
    scene.losses.on_report(scene.workers[2])
    scene.losses.on_expiry(scene.workers[2], 8_200_000_000, scene.result)
    (note,) = map(event_text, scene.result.facts.lost or ())
    assert "worker 2 (on b) could not be reached and ended its load after 8.2 s" in note
    assert "kept is all that it measured; nobody sends its arrivals" in note
    assert "users" not in note, "in the open model arrivals are what is lost"
    assert (scene.result.lost_workers, scene.ended) == (1, [])
    assert scene.result.facts.incomplete is None


def test_workers_that_end_because_the_coordinator_stood_still_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "mark")
    scene.losses.on_expiry(scene.workers[2], 8_200_000_000, scene.result)
    assert scene.ended == ["failed"]
    assert scene.result.facts.load_cut_s == 8.2


def test_a_worker_that_says_it_got_no_orders_from_a_coordinator_that_sent_them_costs_only_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch, "mark")
    scene.look(8)
    scene.losses.on_expiry(scene.workers[2], 8_200_000_000, scene.result)
    (note,) = map(event_text, scene.result.facts.lost or ())
    assert "worker 2 (on b) says that no order reached it, and ended its load after 8.2 s" in note
    assert scene.ended == [] and scene.result.facts.load_cut_s is None


def test_what_only_a_lost_worker_could_have_done_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "mark")
    load = replace(scene.plan.load, iterations=100)  # type: ignore[type-var]
    feeders = [{"name": "users", "share": "split"}, {"name": "paths", "share": "all"}]
    plan = replace(scene.plan, load=load, scenario={"feeders": feeders})
    assert list(module.left_over(plan, 1)) == [
        "what it has not sent of its 33 of 100 iterations",
        "rows 2, 5, … of feeder users that it has not used",
    ]
    assert list(module.left_over(scene.plan, 1)) == []


def test_the_run_ends_if_it_is_to(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "stop")
    scene.losses.on_exit(scene.workers[0], "exited with code 1", scene.result)
    assert scene.ended == ["failed"]


@pytest.mark.parametrize("poisson", [False, True])
def test_however_many_are_lost_the_arrivals_of_those_left_are_all_there_are(
    monkeypatch: pytest.MonkeyPatch, poisson: bool
) -> None:
    scene = Scene(monkeypatch, "redistribute", workers=4)
    for index in (1, 3):
        lost = scene.take(index)
        scene.losses.on_exit(lost, "was killed by SIGKILL", scene.result)
    _assert_whole(scene, poisson)


def _assert_whole(scene: Scene, poisson: bool) -> None:
    shape = ShapeSpec.of("constant", level=30.0, seconds=60.0).build()
    shares = [share for worker in scene.workers for share in worker.shares]
    found = [Arrivals(shape, poisson=poisson, seed=7, index=index, of=of) for index, of in shares]
    assert sorted(chain(*found)) == list(Arrivals(shape, poisson=poisson, seed=7))


@pytest.mark.parametrize("poisson", [False, True])
def test_one_that_takes_a_lost_place_has_its_share_again_and_the_others_have_no_more_than_theirs(
    monkeypatch: pytest.MonkeyPatch, poisson: bool
) -> None:
    scene = Scene(monkeypatch, "redistribute", workers=4)
    for index in (1, 3):
        lost = scene.take(index)
        scene.losses.on_exit(lost, "was killed by SIGKILL", scene.result)
    scene.workers.add([FakeWorker(1)])
    scene.steering.admit(scene.workers[1], 9 * SECOND)
    scene.workers[1].shares = [(1, 4)]
    assert (3, 4) not in {share for worker in scene.workers for share in worker.shares}
    _assert_whole(scene, poisson)
    scene.workers.add([FakeWorker(3)])
    scene.steering.admit(scene.workers[3], 19 * SECOND)
    assert [scene.workers[index].shares for index in (0, 1, 2)] == [[(0, 4)], [(1, 4)], [(2, 4)]]


def test_a_rate_that_was_changed_by_hand_is_that_of_a_new_worker_too(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "mark")
    scene.steering.offer(20.0, 3 * SECOND, 40 * SECOND)
    scene.losses.on_exit(scene.take(2), "was killed by SIGKILL", scene.result)
    scene.workers.add([FakeWorker(2)])
    scene.steering.admit(scene.workers[2], 9 * SECOND)
    assert scene.workers[2].noted == scene.workers[0].noted == [Offer(20.0, 3 * SECOND, 37.0)]


def test_what_a_lost_worker_hands_over_later_is_no_longer_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, "redistribute")
    scene.workers[0].last_report = scene.workers[1].last_report = 20 * SECOND
    scene.look(9)
    lost = scene.workers[2]
    assert scene.losses.missing(lost) == "what it measured in seconds 5 to 9 is missing"
    scene.losses.on_handed_over(scene.workers[1], scene.result)
    assert scene.result.facts.incomplete is not None
    scene.losses.on_handed_over(lost, scene.result)
    assert scene.losses.missing(lost) == "nothing of what it measured is missing"
    assert scene.result.facts.incomplete is None
    assert [event.kept_to for event in scene.result.facts.lost or ()] == [None]
