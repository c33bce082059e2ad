"""Runs whose coordinator is killed, and which `plimsoll run --attach` continues."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, start_master, start_worker, stored_health

from plimsoll.store import Store

if TYPE_CHECKING:
    import subprocess

    from tests.command import Command, CommandResult, CountingTarget

    from plimsoll.store import StoredRun

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


def _master(plimsoll: Command, port: int, *arguments: str) -> subprocess.Popen[str]:
    return start_master(plimsoll, port, "--exit-code-on-invalid", "3", *arguments)


def _run(plimsoll: Command, reference: str = "last") -> StoredRun:
    with Store.open(str(plimsoll.store), create=False) as store:
        return store.run(reference)


def _seconds(plimsoll: Command) -> dict[int, Counter[int]]:
    """Arrivals by worker and second, as the store has them."""
    found: dict[int, Counter[int]] = {}
    for row in stored_health(plimsoll):
        found.setdefault(row.worker, Counter())[row.second] += row.offered
    return found


def _kill(plimsoll: Command, master: subprocess.Popen[str], target: CountingTarget, requests: int) -> str:
    """Once the store has something, and the target so many requests. Returns the id of the run."""
    wait_until(lambda: target.total > requests and _seconds(plimsoll))
    master.kill()
    master.communicate()
    return _run(plimsoll).id


def _end_worker(worker: subprocess.Popen[str]) -> None:
    """It is on its way to a master; the processes that sent the load have ended, or end with it."""
    worker.kill()
    worker.communicate()


def _attach(plimsoll: Command, port: int, run: str, *arguments: str) -> CommandResult:
    return plimsoll.end(
        plimsoll.start(
            "run", "--attach", run, "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port), *arguments
        )
    )  # fmt: skip


def _idle(facts: dict[str, Any]) -> tuple[int, int]:
    (resumed,) = facts["resumed"]
    return resumed["from_second"], resumed["to_second"]


def test_a_run_is_continued_with_the_arrivals_that_are_due_and_nothing_is_counted_twice(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    text = """
        thresholds = ["p99 < 20s", "rps > 1"]
        [[request]]
        get = "/"
        [[phase]]
        rate = "60/s"
        duration = "15s"
    """
    plan = str(plimsoll.write(text, "plan.toml"))
    master = _master(plimsoll, port, plan, "-H", target.url, "--expect-workers", "2", "--threshold", "errors < 1%")
    run = _kill(plimsoll, master, target, 150)
    before = _run(plimsoll)
    assert before.status == "interrupted"
    done = _attach(plimsoll, port, run, "--threshold", "p50 < 20s", "--threshold", "errors < 1%")
    assert done.code == 3, done.out + done.err
    lines = [line.strip() for line in done.out.splitlines()]
    assert [line.split("  ")[0] for line in lines if line[:1] in ("✓", "✗") and line] == [
        "✓ p99 < 20s",
        "✓ rps > 1",
        "✓ errors < 1%",
        "✓ p50 < 20s",
    ], done.out
    ended = [plimsoll.end(each) for each in workers]
    assert [each.code for each in ended] == [0, 0], ended
    assert all(re.search(r"with what it measured \([\d,]+ bytes\)", each.err) for each in ended)

    stored = plimsoll.stored()
    assert (stored["run"]["id"], stored["run"]["status"]) == (run, "finished")
    assert stored["total"]["requests"] == target.total
    run_again = _run(plimsoll)
    assert (run_again.started, run_again.manifest) == (before.started, before.manifest)
    first, last = _idle(run_again.facts.to_json())
    last = min(last, 15)
    assert run_again.facts.to_json()["resumed"][0]["incomplete"] == []
    offered = _seconds(plimsoll)
    for worker in (0, 1):
        assert [offered[worker][second] for second in (*range(first), *range(last, 15))] == [30] * (first + 15 - last)
        assert not any(offered[worker][second] for second in range(first + 1, last))
    check = next(each for each in stored["validity"]["checks"] if each["name"] == "coordinator")
    assert check["state"] == "failed"
    assert f"no full load from second {first} to " in check["text"]
    assert f"was lost in second {first}; another one continues it from second " in done.err


@pytest.mark.exhaustive
def test_a_run_of_a_locustfile_is_continued_twice_and_a_new_worker_takes_the_place_of_a_lost_one(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write(VISITOR)
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = _master(
        plimsoll, port, "-f", "locustfile.py", "-H", target.url, "--expect-workers", "2", "-u", "4", "-r", "4", "-t",
        "45s", "-s", "10s",
    )  # fmt: skip
    run = _kill(plimsoll, master, target, 50)
    again = plimsoll.start("run", "--attach", run, "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port))
    wait_until(
        lambda: any(
            _users(plimsoll, each["to_second"]) == 4 for each in _run(plimsoll).facts.to_json().get("resumed", ())
        )
    )
    again.kill()
    again.communicate()
    between = target.total
    _end_worker(workers[0])
    workers[0] = start_worker(plimsoll, port)
    done = _attach(plimsoll, port, run)
    assert done.code == 3, done.out + done.err
    assert [plimsoll.end(each).code for each in workers] == [0, 0]
    stored, facts = plimsoll.stored(), _run(plimsoll).facts.to_json()
    assert between < stored["total"]["requests"] <= target.total
    first, second = facts["resumed"]
    assert first["incomplete"] == []
    assert first["to_second"] <= second["from_second"] < second["to_second"]
    (missing,) = second["incomplete"]
    assert f"what worker {missing['worker']} measured from second {missing['from_second']} on is missing" in done.err
    assert len([each for each in stored["run"]["notes"] if "another one continues it" in each]) == 2
    assert _users(plimsoll, second["to_second"]) == 4


def _users(plimsoll: Command, since: int) -> int:
    """The most at a time on both workers, from this second on."""
    found: dict[int, list[int]] = {}
    for row in stored_health(plimsoll):
        found.setdefault(row.second, []).append(row.users)
    return max((sum(users) for second, users in found.items() if second >= since and len(users) == 2), default=0)


def test_what_cannot_be_continued_is_one_line_and_exit_code_2(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    local = plimsoll.start("run", "--headless", target.url + "/", "--rate", "20/s", "-t", "60s")
    wait_until(lambda: _seconds(plimsoll))
    alive = _attach(plimsoll, port, "last")
    run = _kill(plimsoll, local, target, 0)
    killed = _attach(plimsoll, port, run)
    plimsoll("run", "--headless", target.url + "/", "--rate", "20/s", "-t", "1s")
    refused = [alive, killed, *(_attach(plimsoll, port, each) for each in ("last", "1999"))]
    refused.append(_attach(plimsoll, port, run, target.url))
    assert [each.code for each in refused] == [2] * 5
    for each, why in zip(
        refused,
        (
            rf"the process of run {run} is still there, so nothing is lost; `plimsoll stop` ends it",
            rf"the workers of run {run} ended with its command; start it again. .*",
            r"run \S+ has ended \(finished\); there is nothing to continue",
            r"store .* has no run '1999'; `plimsoll runs` lists them",
            r"--attach has the load of the run itself; leave out http://.*",
        ),
        strict=True,
    ):
        assert re.fullmatch(f"plimsoll: {why}\n", each.err), each.err


def test_a_mistake_in_the_command_that_continues_a_run_does_not_cost_the_run(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.environment["SHOP_TOKEN"] = "of the shop"
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    load = (target.url + "/", "--expect-workers", "2", "--rate", "60/s", "-t", "300s", "--env", "SHOP_TOKEN")
    run = _kill(plimsoll, _master(plimsoll, port, *load), target, 30)
    del plimsoll.environment["SHOP_TOKEN"]
    without = _attach(plimsoll, port, run)
    assert without.code == 2
    assert without.err.endswith(f"run {run} had SHOP_TOKEN of its command (--env): export it here first\n")
    plimsoll.environment["SHOP_TOKEN"] = "of the shop"
    for mistake in (("--threshold", "p99 < nonsense"), ("--html", "no-such-folder/report.html")):
        assert _attach(plimsoll, port, run, *mistake).code == 2
        assert _run(plimsoll).status == "interrupted"
    before = len(stored_health(plimsoll))
    attached = plimsoll.start("run", "--attach", run)
    wait_until(lambda: len(stored_health(plimsoll)) > before + 8)
    attached.terminate()
    assert plimsoll.end(attached).code in (1, 3)
    assert plimsoll.stored()["total"]["requests"] == target.total
    assert [worker.wait(60) for worker in workers] == [0, 0]
    for worker in workers:
        worker.communicate()


@pytest.mark.exhaustive
def test_workers_that_do_not_come_end_the_wait_and_the_run_stays_as_it_is(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = _master(plimsoll, port, target.url + "/", "--expect-workers", "2", "--rate", "60/s", "-t", "60s")
    run = _kill(plimsoll, master, target, 30)
    _end_worker(workers[0])
    alone = _attach(plimsoll, port, run, "--expect-workers-max-wait", "8")
    assert alone.code == 2
    assert alone.err.splitlines()[-1] == (
        "plimsoll: 1 of 2 workers have come; start another one for each that is lost: plimsoll run -f - --worker"
    )
    _end_worker(workers[1])
    none = _attach(plimsoll, port, run, "--expect-workers-max-wait", "1")
    assert none.code == 2
    assert f"plimsoll: no worker of run {run} has come: they wait for five minutes" in none.err
    assert _run(plimsoll).status == "interrupted"
