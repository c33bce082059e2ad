"""`plimsoll stop`: a run is ended from another process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

LOCUSTFILE = """
from locust import User, constant, task

class Sleeper(User):
    wait_time = constant(0.1)

    @task
    def sleep(self):
        self.environment.events.request.fire(
            request_type="X", name="x", response_time=1, response_length=0, exception=None
        )
"""
TIMEOUT_S = 60


@pytest.fixture
def start(plimsoll, tmp_path):
    """Starts runs that last, and returns their ids once they are in progress."""
    running = []

    def begin() -> str:
        (tmp_path / "locustfile.py").write_text(LOCUSTFILE)
        before = set(_running_ids())
        command = [sys.executable, "-m", "plimsoll", "run", "--headless", "-t", "10m"]
        running.append(subprocess.Popen(command, cwd=tmp_path, env=os.environ, stderr=subprocess.PIPE))
        deadline = time.monotonic() + TIMEOUT_S
        while not (new := set(_running_ids()) - before):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return new.pop()

    yield begin
    for each in running:
        each.kill()
        each.communicate()


def _running_ids() -> list[str]:
    if not Path("plimsoll.db").exists():
        return []
    with Store.open() as store:
        return [each.id for each in store.runs() if each.status == "running"]


def test_the_run_in_progress_ends_in_order(plimsoll, start):
    run = start()
    done = plimsoll("stop")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines() == [f"run {run} was asked to end", f"run {run}: stopped"]
    again = plimsoll("stop")
    assert (again.exit_code, again.stderr) == (2, f"plimsoll: no run is in progress in store {_store()}\n")


def test_one_of_several_has_to_be_named(plimsoll, start):
    first, second = start(), start()
    unclear = plimsoll("stop")
    assert unclear.exit_code == 2
    assert "several runs are in progress, say which: " in unclear.stderr
    assert first in unclear.stderr and second in unclear.stderr
    assert plimsoll("stop", first).exit_code == 0
    assert _running_ids() == [second]
    ended = plimsoll("stop", first)
    assert (ended.exit_code, ended.stderr) == (2, f"plimsoll: run {first} is not in progress: stopped\n")


def test_a_run_of_another_machine_is_stopped_there(plimsoll, monkeypatch):
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("plimsoll.store.owner._machine", lambda: "elsewhere")
        with Store.open() as store:
            store.start_run(Manifest(started=time.time()))
    done = plimsoll("stop")
    assert done.exit_code == 2
    assert "it runs on another machine or in another container; use `plimsoll stop` there" in done.stderr


def _store() -> str:
    with Store.open() as store:
        return store.name
