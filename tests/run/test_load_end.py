"""Load ends when it should, whatever the coordinating process does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.command import TIMEOUT_S, wait_until

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

VISITOR = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def index(self):
        self.client.get("/index")
"""

USERS = {
    "python": ("-u", "2", "-r", "2"),
    "python, open": ("--rate", "50/s"),
    "native": ("-u", "2", "-r", "2"),
    "native, open": ("--rate", "50/s"),
}


def _arguments(plimsoll: Command, target: CountingTarget, users: str) -> list[str]:
    plimsoll.write(VISITOR)
    where = ["-H", target.url] if users.startswith("python") else [f"{target.url}/index"]
    return ["run", *where, *USERS[users], "--headless", "-s", "9"]


def _wait_for_silence(target: CountingTarget) -> None:
    """Until the target has had no request for a second and a half."""
    deadline = time.monotonic() + TIMEOUT_S
    seen, since = -1, time.monotonic()
    while time.monotonic() - since < 1.5:
        assert time.monotonic() < deadline, "the load did not end"
        if target.total != seen:
            seen, since = target.total, time.monotonic()
        time.sleep(0.05)


@pytest.mark.parametrize("users", USERS)
def test_workers_end_their_load_when_the_coordinator_stands_still(
    plimsoll: Command, target: CountingTarget, users: str
) -> None:
    running = plimsoll.start(*_arguments(plimsoll, target, users), "-t", "300")
    wait_until(lambda: target.total > 10)
    running.send_signal(signal.SIGSTOP)
    _wait_for_silence(target)
    running.send_signal(signal.SIGCONT)
    done = plimsoll.end(running)
    assert "so the workers ended their load after" in done.err, done
    assert "Traceback" not in done.err
    stored = plimsoll.stored()
    assert stored["validity"]["valid"] is False
    failed = {each["name"] for each in stored["validity"]["checks"] if each["state"] == "failed"}
    # The run ended before its time, and the reason stands beside it.
    assert failed == {"coordinator", "ended"}
    assert stored["total"]["requests"] == target.total, "nothing that was measured is lost"


@pytest.mark.parametrize("users", ["python", "native"])
def test_a_reader_that_takes_nothing_does_not_prolong_the_load(
    plimsoll: Command, target: CountingTarget, users: str
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, b"-" * 4096)
    os.set_blocking(writing, True)
    running = plimsoll.start(*_arguments(plimsoll, target, users), "-t", "2s", stderr=writing)
    os.close(writing)
    wait_until(lambda: target.total > 10)
    _wait_for_silence(target)
    requests = target.total
    with os.fdopen(reading, errors="replace") as reader:
        said = reader.read()
    done = plimsoll.end(running)
    assert done.code == 0, (done, said[-2000:])
    stored = plimsoll.stored()
    assert stored["total"]["requests"] == requests == target.total
    assert stored["validity"]["valid"], stored["validity"]
    assert stored["duration_s"] == pytest.approx(2.0, abs=1.0)


INTERRUPTED_AS_IT_ENDS = """
import os, signal
from plimsoll.cli import main
from plimsoll.run.coordinator.coordinator import Coordinator

finish = Coordinator._finish

def interrupted(self):
    os.kill(os.getpid(), signal.SIGINT)
    return finish(self)

Coordinator._finish = interrupted
main(prog_name="plimsoll")
"""


def test_a_ctrl_c_that_comes_as_the_load_ends_does_not_cost_the_report(
    plimsoll: Command, target: CountingTarget
) -> None:
    arguments = ["run", f"{target.url}/index", "--headless", "-u", "2", "-r", "2", "-t", "1s"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AS_IT_ENDS, *arguments],
        cwd=plimsoll.directory, env=plimsoll.environment, capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert "once more to leave without it" in done.stderr
    assert "Aborted" not in done.stderr
    assert "# Requests" in done.stdout
    total = plimsoll.stored()["total"]
    assert total["completed"] + total["unanswered"] == target.total
