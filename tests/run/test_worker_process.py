from __future__ import annotations

import selectors
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.run import worker_process
from plimsoll.run.plan import RunPlan
from plimsoll.run.reports import Ready
from plimsoll.run.worker_process import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    started = WorkerProcess(0)
    yield started
    started.kill()
    started.wait()


def _read(worker: WorkerProcess) -> list[object]:
    with selectors.DefaultSelector() as selector:
        selector.register(worker.connection, selectors.EVENT_READ)
        assert selector.select(60)
    return list(worker.read())


def _plan(tmp_path: Path, text: str) -> dict[str, object]:
    path = tmp_path / "locustfile.py"
    path.write_text(text)
    return RunPlan(locustfiles=(str(path),), host="http://h").to_dict()


def test_a_worker_gets_ready_and_exits_well_when_it_is_told_to(worker: WorkerProcess, tmp_path: Path) -> None:
    text = "from locust import User, task\nclass A(User):\n    fixed_count = 2\n    @task\n    def t(self): pass\n"
    worker.orders.prepare(_plan(tmp_path, text), 1)
    (ready,) = _read(worker)
    assert isinstance(ready, Ready)
    assert [(each.name, each.fixed_count) for each in ready.classes] == [("A", 2)]
    assert list(worker.read()) == [], "nothing more for now"
    worker.orders.drain()
    reports: list[object] = []
    while not reports or reports[-1] is not None:
        reports += _read(worker)
    assert worker.wait() is None


def test_a_refusal_arrives_as_the_error_it_is(worker: WorkerProcess, tmp_path: Path) -> None:
    worker.orders.prepare(_plan(tmp_path, "1 / 0\n"), 1)
    (refusal,) = _read(worker)
    assert isinstance(refusal, LocustfileError)
    assert "ZeroDivisionError" in str(refusal)


def test_how_a_worker_died_is_known(worker: WorkerProcess) -> None:
    worker.kill()
    assert _read(worker) == [None]
    assert worker.wait() == "was killed by SIGKILL"


def test_orders_to_a_worker_that_is_gone_are_dropped(worker: WorkerProcess) -> None:
    worker.kill()
    _read(worker)
    for _ in range(3):
        worker.orders.stop()


def test_a_worker_that_does_not_exit_is_killed(worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "FAREWELL", 0.0)
    assert worker.wait() == "was killed by SIGKILL"
