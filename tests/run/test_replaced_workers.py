"""Workers that join while a run goes on, in the places of lost ones: `--master` and `--worker`."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, Link, processes_of, start_master, start_worker, stored_facts, stored_health

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


def _offered(plimsoll: Command) -> dict[int, Counter[int]]:
    """Arrivals by worker and second."""
    found: dict[int, Counter[int]] = {0: Counter(), 1: Counter()}
    for row in stored_health(plimsoll):
        found[row.worker][row.second] += row.offered
    return found


def _whole_since(plimsoll: Command, silent: int) -> int:
    """Seconds in which both workers had their arrivals, after one in which one of them had none."""
    offered = _offered(plimsoll)
    idle = [second for second in offered[1 - silent] if not offered[silent][second]]
    return sum(1 for second, count in offered[silent].items() if idle and second > idle[0] and count == 30)


def _lost(plimsoll: Command) -> int:
    """The worker that has reported least."""
    seconds = Counter(row.worker for row in stored_health(plimsoll))
    return min((0, 1), key=seconds.__getitem__)


@pytest.mark.parametrize("action", ["redistribute", "mark"])
def test_arrivals_of_a_killed_worker_go_to_the_one_that_joins_in_its_place(
    plimsoll: Command, target: CountingTarget, port: int, action: str
) -> None:
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = _start(plimsoll, port, target.url + "/", "--rate", "60/s", "--on-worker-loss", action)
    wait_until(lambda: target.total > 150)
    _kill(workers[0])
    workers[0] = start_worker(plimsoll, port)
    wait_until(lambda: _whole_since(plimsoll, _lost(plimsoll)) >= 2)
    done = _end(plimsoll, master, workers)

    facts = stored_facts(plimsoll)
    (missing,), (replaced,) = facts["incomplete"], facts["replaced"]
    lost, begin = replaced["worker"], replaced["to_second"]
    assert (missing["worker"], facts["lost_workers"]) == (lost, 1)
    assert missing["from_second"] < missing["to_second"] <= begin
    offered = _offered(plimsoll)
    last = max(offered[lost])
    for second in (*range(missing["from_second"]), *range(begin, last)):
        assert [offered[worker][second] for worker in (0, 1)] == [30, 30], (second, offered)
    assert not any(offered[lost][second] for second in range(missing["from_second"], begin))
    # Others have its arrivals from the first second on that is wholly theirs.
    others = [offered[1 - lost][second] for second in range(missing["to_second"] + 1, begin)]
    assert set(others) <= {60 if action == "redistribute" else 30}
    unreported = target.total - plimsoll.stored()["total"]["requests"]
    assert 0 <= unreported <= 30 * (missing["to_second"] - missing["from_second"])
    assert re.search(
        rf"worker {lost} \(on .*\) takes the place of the lost one \(on .*\) from second {begin} on", done.err
    )
    check = next(each for each in plimsoll.stored()["validity"]["checks"] if each["name"] == "workers")
    until = {"mark": "until another one", "redistribute": "until the others took it over; another one"}[action]
    assert (
        f"1 worker lost: a part of the load was missing {until} took its place with second {begin}; " in check["text"]
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
    lost, begin = map(int, found.groups())
    wait_until(lambda: [_users(plimsoll, begin)[worker] for worker in (0, 1)] == [3, 3])
    _end(plimsoll, master, workers)
    (missing,) = stored_facts(plimsoll)["incomplete"]
    assert missing["worker"] == lost
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
        master = _start(plimsoll, port, target.url + "/", "--rate", "60/s")
        wait_until(lambda: target.total > 150)
        before = target.total
        link.cut()
        wait_until(lambda: target.total > before + 90)
        if is_replaced:
            workers.append(start_worker(plimsoll, port))
        link.sever()
        if not is_replaced:
            link.mend()
        wait_until(lambda: _whole_since(plimsoll, _lost(plimsoll)) >= 2)
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
        master = _start(plimsoll, port, target.url + "/", "--rate", "60/s")
        wait_until(lambda: target.total > 150)
        link.cut()
        time.sleep(6)  # longer than the lease of its load
        link.mend()
        wait_until(lambda: _whole_since(plimsoll, _lost(plimsoll)) >= 2)
        done = _end(plimsoll, master, workers)
    assert "kept is all that it measured" in done.err
    assert "takes the place of the lost one" in done.err
    facts = stored_facts(plimsoll)
    assert (facts["lost_workers"], len(facts["replaced"]), facts.get("incomplete")) == (1, 1, None)
    assert plimsoll.stored()["total"]["requests"] == target.total
