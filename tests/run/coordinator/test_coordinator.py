"""The coordinator in this process; its workers are real ones."""

from __future__ import annotations

import logging
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll._engine import Histogram, now
from plimsoll.errors import PlimsollError
from plimsoll.record import Health
from plimsoll.run.coordinator import coordinator as local
from plimsoll.run.coordinator.coordinator import Coordinator
from plimsoll.run.coordinator.progress import Batch
from plimsoll.run.coordinator.run_clock import SECOND
from plimsoll.run.plan import RunPlan

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import CountingTarget

    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.coordinator.run_clock import RunClock

LOCUSTFILE = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task
    def index(self):
        self.client.get("/index")
"""


class Watcher:
    """An observer that remembers."""

    def __init__(self, refuse: bool = False) -> None:
        self.started: list[tuple[float, str]] = []
        self.progress: list[Progress] = []
        self._refuse = refuse

    def start(self, started: float, stamp: str) -> None:
        if self._refuse:
            raise PlimsollError("no room")
        self.started.append((started, stamp))

    def second(self, progress: Progress) -> None:
        self.progress.append(progress)


def _plan(tmp_path: Path, target: CountingTarget, text: str = LOCUSTFILE, **settings: object) -> RunPlan:
    path = tmp_path / "locustfile.py"
    path.write_text(text)
    plain: dict[str, object] = {"locustfiles": (str(path),), "host": target.url, "stop_timeout": 10.0, **settings}
    return RunPlan(**plain)  # type: ignore[arg-type]


def _watched(plan: RunPlan, *observers: Watcher, **options: Any) -> Coordinator:
    coordinator = Coordinator(plan, **options)
    coordinator.observe(*observers)  # type: ignore[arg-type]
    return coordinator


def test_observers_see_each_second_and_its_batches_add_up_to_the_view(tmp_path: Path, target: CountingTarget) -> None:
    watcher = Watcher()
    plan = _plan(tmp_path, target, users=4, spawn_rate=2.0, run_time=3.0, processes=2)
    before = time.time()
    result = _watched(plan, watcher).run()
    ((started, stamp),) = watcher.started
    assert before <= started <= result.ended <= time.time()
    assert stamp in ("kernel", "user")
    assert result.view.total.requests == target.total
    assert sum(each.count for progress in watcher.progress for each in progress.batch.intervals) == target.total
    assert {progress.wanted for progress in watcher.progress} == {4}
    assert max(progress.users for progress in watcher.progress) == 4
    states = [progress.state for progress in watcher.progress]
    assert states == sorted(states, key=["spawning", "running", "stopping"].index)
    assert (result.status, result.lost_workers, result.notes) == ("finished", 0, [])


def test_what_workers_kept_of_a_run_that_is_continued_is_passed_on_before_its_load(
    tmp_path: Path, target: CountingTarget
) -> None:
    health = Health(worker=0, second=2, lag=Histogram(), delay=Histogram(), cpu=0.0, users=1)

    class Restored:
        """A run that began ten seconds ago."""

        def restore(self, *_: object) -> Batch:
            return Batch(health=[health])

        def begin(self, clock: RunClock, head_start: int, _: object) -> float:
            started = time.time() - 10
            clock.resume(now() - 10 * SECOND, head_start, started)
            return started

    watcher = Watcher()
    restored: Any = Restored()
    _watched(_plan(tmp_path, target, run_time=14.0), watcher, resumption=restored).run()
    first, *later = [progress.batch.health for progress in watcher.progress]
    assert first == [health], "another process can be lost before its first second"
    assert health not in [row for rows in later for row in rows]


def test_a_reset_is_announced_to_all_workers_a_second_ahead(tmp_path: Path, target: CountingTarget) -> None:
    ordered: list[float] = []

    class Resetter(Watcher):
        def second(self, progress: Progress) -> None:
            if not ordered:
                ordered.append(progress.elapsed)
                coordinator.post(coordinator.reset)

        def reset_at(self, second: int) -> None:
            ordered.append(second)

    coordinator = _watched(_plan(tmp_path, target, run_time=2.0), Resetter())
    coordinator.run()
    elapsed, second = ordered
    assert second >= elapsed + 1


def test_users_come_in_locusts_batches(tmp_path: Path, target: CountingTarget) -> None:
    watcher = Watcher()
    _watched(_plan(tmp_path, target, users=5, spawn_rate=2.0, run_time=4.0), watcher).run()
    by_second = {row.second: row.users for progress in watcher.progress for row in progress.batch.health if row.users}
    assert [by_second[second] for second in (0, 1, 2)] == [2, 4, 5]


def test_an_observer_that_cannot_start_stops_the_run_before_it_begins(tmp_path: Path, target: CountingTarget) -> None:
    with pytest.raises(PlimsollError, match="no room"):
        _watched(_plan(tmp_path, target, run_time=5.0), Watcher(refuse=True)).run()
    assert target.total == 0


def test_a_worker_that_hangs_in_the_end_is_killed_and_lost(
    tmp_path: Path, target: CountingTarget, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(local, "ANSWER_TIMEOUT_NS", local.SECOND)
    plan = _plan(tmp_path, target, LOCUSTFILE + "        while True: pass\n", run_time=1.0, stop_timeout=0.0)
    with caplog.at_level(logging.INFO, "plimsoll.run"):
        result = Coordinator(plan).run()
    assert "does not answer and is killed" in caplog.text
    assert (result.lost_workers, result.status) == (1, "failed")


def test_signals_are_left_as_they_were(tmp_path: Path, target: CountingTarget) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    result = Coordinator(_plan(tmp_path, target, "import time\ntime.sleep(0.2)\n" + LOCUSTFILE, run_time=30.0))
    try:
        assert result.run().status == "stopped"
    except PlimsollError as error:  # a slow machine was not yet ready then
        assert "before it had begun" in str(error)
    timer.join()
    assert {each: signal.getsignal(each) for each in before} == before


def test_what_the_workers_print_is_passed_on(tmp_path: Path, target: CountingTarget) -> None:
    printed: list[bytes] = []
    plan = _plan(
        tmp_path, target, "print('out')\nimport sys\nprint('err', file=sys.stderr)\n" + LOCUSTFILE, run_time=1.0
    )
    Coordinator(plan, printed.append).run()
    assert {b"out", b"err"} <= set(b"".join(printed).splitlines())
