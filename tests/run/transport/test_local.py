from __future__ import annotations

import os
import resource
import selectors
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.run.loop import Loop
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport import handle as handles
from plimsoll.run.transport import local, spawning
from plimsoll.run.transport.bundle import Bundle
from plimsoll.run.transport.local import WorkerProcess
from plimsoll.run.transport.messages import Prepared, Ready
from plimsoll.run.transport.orders import Drain, Init, Open, Prepare, Stop, Tell

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def _plan(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "locustfile.py"
    path.write_text(text)
    return RunPlan(locustfiles=(str(path),), host="http://h").to_dict()


def _bundle(plan: dict[str, Any]) -> Bundle:
    return Bundle.of(plan["locustfiles"])


def test_a_worker_gets_ready_and_exits_well_when_it_is_told_to(worker: WorkerProcess, tmp_path: Path) -> None:
    text = "from locust import User, task\nclass A(User):\n    fixed_count = 2\n    @task\n    def t(self): pass\n"
    plan = _plan(tmp_path, text)
    worker.order(Prepare(plan, 1, _bundle(plan).to_list(), {}))
    worker.order(Init())
    (prepared,) = _read(worker)
    assert prepared == Prepared({})
    worker.order(Open(plan))
    (ready,) = _read(worker)
    assert isinstance(ready, Ready)
    assert [(each.name, each.fixed_count) for each in ready.classes] == [("A", 2)]
    assert list(worker.read()) == [], "nothing more for now"
    worker.order(Drain())
    reports: list[object] = []
    while not reports or reports[-1] is not None:
        reports += _read(worker)
    assert worker.wait() is None


def test_a_refusal_arrives_as_the_error_it_is(worker: WorkerProcess, tmp_path: Path) -> None:
    plan = _plan(tmp_path, "1 / 0\n")
    worker.order(Prepare(plan, 1, _bundle(plan).to_list(), {}))
    (refusal,) = _read(worker)
    assert isinstance(refusal, LocustfileError)
    assert "ZeroDivisionError" in str(refusal)


def test_an_unexpected_error_is_a_refusal_too(worker: WorkerProcess, tmp_path: Path) -> None:
    plan = _plan(tmp_path, "from locust import User\nclass A(User): pass\n")
    worker.order(Prepare({**plan, "load": 5}, 1, _bundle(plan).to_list(), {}))
    (refusal,) = _read(worker)
    assert isinstance(refusal, LocustfileError)
    assert "TypeError" in str(refusal)


def test_how_a_worker_died_is_known(worker: WorkerProcess) -> None:
    worker.kill()
    assert _read(worker) == [None]
    assert worker.wait() == "was killed by SIGKILL"


def test_orders_to_a_worker_that_is_gone_are_dropped(worker: WorkerProcess) -> None:
    worker.kill()
    _read(worker)
    for _ in range(3):
        worker.order(Stop())


def test_what_a_process_does_not_take_at_once_arrives_later(worker: WorkerProcess, tmp_path: Path) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    worker.order(Tell("message", ["big", b"x" * 5_000_000]))
    plan = _plan(tmp_path, "1 / 0\n")
    worker.order(Prepare(plan, 1, _bundle(plan).to_list(), {}))
    assert worker.has_backlog
    os.kill(worker.pid, signal.SIGCONT)
    loop = Loop()
    refusals: list[object] = []
    loop.watch(worker.connection, lambda: refusals.extend(worker.read()), worker)
    while not refusals:
        loop.turn()
    assert not worker.has_backlog
    assert isinstance(refusals[0], LocustfileError), "nothing was lost in between"
    loop.close()


def test_a_process_that_takes_nothing_in_is_killed(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(handles, "MAX_BACKLOG_BYTES", 1_000_000)
    os.kill(worker.pid, signal.SIGSTOP)
    worker.order(Tell("message", ["big", b"x" * 5_000_000]))
    assert not worker.has_backlog
    assert "takes nothing in any more" in caplog.text
    assert worker.wait() == "was killed by SIGKILL"


def test_a_worker_that_does_not_exit_is_killed(worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "EXIT_TIMEOUT_S", 0.0)
    assert worker.wait() == "was killed by SIGKILL"


def test_a_locustfile_that_changes_while_the_processes_start_is_refused(worker: WorkerProcess, tmp_path: Path) -> None:
    plan = _plan(tmp_path, "1\n")
    bundle = _bundle(plan)
    (tmp_path / "locustfile.py").write_text("2\n")
    worker.order(Prepare(plan, 1, bundle.to_list(), {}))
    (error,) = _read(worker)
    assert isinstance(error, LocustfileError)
    assert str(error) == f"{tmp_path}/locustfile.py has changed since this run was started; start the run again"


def _children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_processes_that_no_run_asks_for_are_gone_at_the_end() -> None:
    before = _children()
    with spawning.started_ahead(2, capture=False):
        ahead = _children() - before
        worker = WorkerProcess(0)
        assert len(ahead) == 2
        assert worker.pid in ahead
    assert _children() - before == {worker.pid}
    worker.kill()
    assert worker.wait() == "was killed by SIGKILL"


def test_a_process_that_cannot_be_started_ends_the_others() -> None:
    before = _children()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = {int(file.name) for file in Path("/proc/self/fd").iterdir()}
    # Enough for the first processes, and not for nine.
    limit = [fd for fd in range(soft) if fd not in taken][8]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"), spawning.started_ahead(9, capture=False):
            pytest.fail("has begun")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert _children() == before


def test_the_first_worker_starts_while_the_command_is_read_and_ends_if_it_is_not_needed() -> None:
    before = _children()
    with spawning.first_worker(["run", "http://127.0.0.1:9/"]):
        (ahead,) = _children() - before
        worker = WorkerProcess(0)
        assert worker.pid == ahead
        worker.kill()
        worker.wait()
    with spawning.first_worker(["run", "http://127.0.0.1:9/"]):
        assert len(_children() - before) == 1
    assert _children() == before


@pytest.mark.parametrize("words", [[], ["show", "last"], ["run", "--help"], ["run", "--worker"]], ids=" ".join)
def test_no_worker_starts_for_a_command_that_needs_none(words: list[str]) -> None:
    before = _children()
    with spawning.first_worker(words):
        assert _children() == before
