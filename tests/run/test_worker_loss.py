"""What follows when a worker of a run ends, or stands still, as --on-worker-loss has it."""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import psutil
from tests.command import wait_until

from plimsoll.run.coordinator.recovery.loss import LOSS_TIMEOUT_S
from plimsoll.store import Store

if TYPE_CHECKING:
    import subprocess

    from tests.command import Command, CommandResult, CountingTarget

LOCUSTFILE = """
from locust import FastHttpUser, constant, events, task

@events.init.add_listener
def init(environment, **_):
    FastHttpUser.name = f"/{getattr(environment.runner, 'worker_index', 'main')}"

class Visitor(FastHttpUser):
    wait_time = constant(0.05)
    @task
    def index(self):
        self.client.get(FastHttpUser.name)
"""


def _start(plimsoll: Command, *arguments: str) -> subprocess.Popen[str]:
    return plimsoll.start("run", "--headless", "--exit-code-on-invalid", "3", *arguments)


def _worker(process: subprocess.Popen[str], index: int) -> psutil.Process:
    found = psutil.Process(process.pid).children()
    return next(each for each in found if each.cmdline()[-2:-1] and each.cmdline()[-1] == str(index))


def _end(plimsoll: Command, process: subprocess.Popen[str]) -> CommandResult:
    process.send_signal(signal.SIGINT)
    return plimsoll.end(process)


def _offered(plimsoll: Command) -> dict[int, Counter[int]]:
    """Arrivals by worker and second."""
    found: dict[int, Counter[int]] = {}
    with Store.open(str(plimsoll.store), create=False) as store:
        for row in store.run("last").health():
            found.setdefault(row.worker, Counter())[row.second] += row.offered
    return found


def _facts(plimsoll: Command) -> dict[str, Any]:
    with Store.open(str(plimsoll.store), create=False) as store:
        return store.run("last").facts.to_json()


def test_arrivals_of_a_lost_worker_go_to_the_others_with_their_due_times(
    plimsoll: Command, target: CountingTarget
) -> None:
    process = _start(
        plimsoll, target.url + "/", "--rate", "120/s", "-t", "60s", "--processes", "3", "--on-worker-loss",
        "redistribute",
    )  # fmt: skip
    wait_until(lambda: target.total > 60)
    victim = _worker(process, 1)
    victim.suspend()
    try:
        wait_until(lambda: plimsoll.store.exists() and _whole_seconds(plimsoll) >= 2)
        done = _end(plimsoll, process)
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.resume()
    assert done.code == 3, done
    assert f"worker 1 (pid {victim.pid}) has not reported for 3 s" in done.err
    assert "the others take its load over" in done.err
    facts = _facts(plimsoll)
    assert (facts["lost_workers"], facts["load_taken_over"]) == (1, True)
    assert [each["worker"] for each in facts["incomplete"]] == [1]
    run = plimsoll.stored()
    assert run["total"]["requests"] <= target.total
    offered = _offered(plimsoll)
    whole = [second for second in offered[0] if offered[0][second] + offered[2][second] == 120]
    assert all((offered[0][second], offered[2][second]) == (60, 60) for second in whole)
    check = next(each for each in run["validity"]["checks"] if each["name"] == "workers")
    assert "worker 1 (pid " in check["text"] and "; the others take its load over" in check["text"]


def _whole_seconds(plimsoll: Command) -> int:
    """Seconds in which two workers had all arrivals."""
    offered = _offered(plimsoll)
    return sum(1 for second in offered.get(0, ()) if offered[0][second] + offered.get(2, Counter())[second] == 120)


def test_users_of_a_killed_worker_come_again_on_the_others(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(LOCUSTFILE)
    process = _start(
        plimsoll, "-H", target.url, "-u", "6", "-r", "6", "--processes", "2", "--on-worker-loss", "redistribute"
    )
    wait_until(lambda: target.counts["/0"] and target.counts["/1"])
    _worker(process, 1).kill()
    wait_until(lambda: _users(plimsoll)[0] == 6)
    done = _end(plimsoll, process)
    assert done.code == 3, done
    assert "was killed by SIGKILL: its 3 users are lost" in done.err
    assert "the others take its load over" in done.err


def _users(plimsoll: Command) -> Counter[int]:
    """The most at a time, by worker."""
    most = Counter[int]()
    if plimsoll.store.exists():
        with Store.open(str(plimsoll.store), create=False) as store:
            for row in store.run("last").health():
                most[row.worker] = max(most[row.worker], row.users)
    return most


def test_nothing_is_missing_of_a_worker_that_comes_back(plimsoll: Command, target: CountingTarget) -> None:
    process = _start(plimsoll, target.url + "/", "--rate", "60/s", "-t", "12s", "--processes", "2")
    wait_until(lambda: target.total > 30)
    victim = _worker(process, 1)
    victim.suspend()
    with Store.open(str(plimsoll.store), create=False) as store:
        wait_until(lambda: max((row.second for row in store.run("last").health()), default=0) > 6)
    victim.resume()
    done = plimsoll.end(process)
    assert "worker 1" in done.err and "has not reported for 3 s" in done.err
    assert "is back: nothing of it is missing" in done.err
    assert plimsoll.stored()["total"]["requests"] == target.total == 720
    facts = _facts(plimsoll)
    assert (facts["lost_workers"], facts.get("incomplete")) == (0, None)


def test_silence_of_the_only_worker_does_not_end_the_run(plimsoll: Command, target: CountingTarget) -> None:
    process = _start(plimsoll, target.url + "/", "--rate", "60/s", "-t", "12s", "--processes", "1")
    wait_until(lambda: target.total > 30)
    victim = _worker(process, 0)
    victim.suspend()
    time.sleep(LOSS_TIMEOUT_S + 2)
    victim.resume()
    done = plimsoll.end(process)
    assert "has not reported for 3 s" in done.err
    assert "is back: nothing of it is missing" in done.err
    assert plimsoll.stored()["total"]["requests"] == target.total == 720


def test_a_run_ends_with_a_lost_worker_if_it_is_to(plimsoll: Command, target: CountingTarget) -> None:
    process = _start(
        plimsoll, target.url + "/", "--rate", "60/s", "-t", "300s", "--processes", "2", "--on-worker-loss", "stop"
    )
    wait_until(lambda: target.total > 30)
    _worker(process, 0).kill()
    done = plimsoll.end(process)
    assert done.code == 3, done
    assert "the run was ended by --on-worker-loss stop: a worker is lost" in done.err
    run = plimsoll.stored()
    assert run["run"]["status"] == "failed"
    assert run["total"]["requests"] <= target.total
