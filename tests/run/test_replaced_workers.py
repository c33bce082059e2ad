"""Workers that join while a run goes on, in the places of lost ones: `--master` and `--worker`."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, Link, processes_of, start_master, start_worker, stored_facts, stored_health
from tests.run.replaced import RATE, check_replaced, lost, whole_since

if TYPE_CHECKING:
    import subprocess

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]


def _start(plimsoll: Command, port: int, *arguments: str) -> subprocess.Popen[str]:
    return start_master(
        plimsoll, port, "--expect-workers", "2", "-t", "300s", "--exit-code-on-invalid", "3", *arguments
    )


def _end(plimsoll: Command, master: subprocess.Popen[str], workers: list[subprocess.Popen[str]]) -> CommandResult:
    master.terminate()
    done = plimsoll.end(master)
    for each in workers:
        plimsoll.end(each)
    assert done.code == 3, done.out + done.err
    return done


def _kill(worker: subprocess.Popen[str]) -> None:
    """As if its machine were gone: with its process."""
    for each in processes_of(worker):
        each.kill()
    worker.kill()
    worker.communicate()


@pytest.mark.parametrize("action", ["redistribute", "mark"])
def test_arrivals_of_a_killed_worker_go_to_the_one_that_joins_in_its_place(
    plimsoll: Command, target: CountingTarget, port: int, action: str
) -> None:
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = _start(plimsoll, port, target.url + "/", *RATE, "--on-worker-loss", action)
    wait_until(lambda: target.total > 150)
    _kill(workers[0])
    workers[0] = start_worker(plimsoll, port)
    wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 2)
    done = _end(plimsoll, master, workers)

    place, begin = check_replaced(plimsoll, target, action)
    assert re.search(
        rf"worker {place} \(on .*\) takes the place of the lost one \(on .*\) from second {begin} on", done.err
    )


@pytest.mark.parametrize("action", ["mark", "redistribute"])
def test_users_of_a_killed_worker_come_again_on_one_that_has_waited(
    plimsoll: Command, target: CountingTarget, port: int, action: str
) -> None:
    plimsoll.write(VISITOR)
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = _start(
        plimsoll, port, "-f", "locustfile.py", "-H", target.url, "-u", "6", "-r", "6", "--on-worker-loss", action
    )
    wait_until(lambda: {3} == {_users(plimsoll)[worker] for worker in (0, 1)})
    workers.append(start_worker(plimsoll, port))
    assert master.stderr is not None
    seen = ""
    while "has joined: 3 now; it takes the place of a worker that is lost" not in seen:
        seen += master.stderr.readline()
    _kill(workers.pop(0))
    while not (found := re.search(r"worker (\d) .* takes the place of the lost one .* from second (\d+) on", seen)):
        seen += master.stderr.readline()
    place, begin = map(int, found.groups())
    wait_until(lambda: [_users(plimsoll, begin)[worker] for worker in (0, 1)] == [3, 3])
    _end(plimsoll, master, workers)
    (missing,) = stored_facts(plimsoll)["incomplete"]
    assert missing["worker"] == place
    assert target.total >= plimsoll.stored()["total"]["requests"]
    if action == "mark":
        assert max(sum(each.values()) for each in _users_by_second(plimsoll).values()) == 6


def _users_by_second(plimsoll: Command) -> dict[int, Counter[int]]:
    found: dict[int, Counter[int]] = {}
    for row in stored_health(plimsoll):
        found.setdefault(row.second, Counter())[row.worker] = row.users
    return found


def _users(plimsoll: Command, since: int = 0) -> Counter[int]:
    """By worker, in the last second that both have reported, from this one on."""
    both = {second: users for second, users in _users_by_second(plimsoll).items() if len(users) == 2}
    last = max(both, default=-1)
    return both[last] if last >= since else Counter()


@pytest.mark.parametrize(
    "is_replaced", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["returns", "replaced"]
)
def test_a_worker_that_has_lost_its_master_comes_back_with_what_it_measured(
    plimsoll: Command, target: CountingTarget, port: int, is_replaced: bool
) -> None:
    with Link(port) as link:
        workers = [start_worker(plimsoll, link.port), start_worker(plimsoll, port)]
        master = _start(plimsoll, port, target.url + "/", *RATE)
        wait_until(lambda: target.total > 150)
        before = target.total
        link.cut()
        wait_until(lambda: target.total > before + 90)
        if is_replaced:
            workers.append(start_worker(plimsoll, port))
        link.sever()
        if not is_replaced:
            link.mend()
        wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 2)
        link.mend()
        assert master.stderr is not None
        seen = ""
        while not ("has handed over what was missing of it" in seen and "takes the place of the lost one" in seen):
            seen += master.stderr.readline()
        _end(plimsoll, master, workers)
    facts = stored_facts(plimsoll)
    assert (facts["lost_workers"], len(facts["replaced"]), facts.get("incomplete")) == (1, 1, None)
    # Each that has joined once, also if it has nothing to do.
    assert plimsoll.stored()["total"]["requests"] == target.total


@pytest.mark.exhaustive
def test_a_worker_that_was_cut_off_for_a_while_hands_over_all_and_begins_again(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    with Link(port) as link:
        workers = [start_worker(plimsoll, link.port), start_worker(plimsoll, port)]
        master = _start(plimsoll, port, target.url + "/", *RATE)
        wait_until(lambda: target.total > 150)
        link.cut()
        time.sleep(6)  # longer than the lease of its load
        link.mend()
        wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 2)
        done = _end(plimsoll, master, workers)
    assert "kept is all that it measured" in done.err
    assert "takes the place of the lost one" in done.err
    facts = stored_facts(plimsoll)
    assert (facts["lost_workers"], len(facts["replaced"]), facts.get("incomplete")) == (1, 1, None)
    assert plimsoll.stored()["total"]["requests"] == target.total
