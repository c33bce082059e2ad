"""Runs on a Ray cluster whose command is killed, and which `plimsoll run --attach` continues, or nobody does."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, stored_facts, stored_health
from tests.run.ray_cluster import RayCluster

from plimsoll.run.transport.own_folder import PREFIX, OwnFolder
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Two nodes with two CPUs each."""
    made = RayCluster(tmp_path_factory.mktemp("ray"), 2, {"RAY_AUTH_MODE": "disabled"})
    yield made
    made.close()


@pytest.fixture
def plimsoll(plimsoll: Command) -> Iterator[Command]:
    """Links that wait for somebody end with the test."""
    plimsoll.environment["RAY_AUTH_MODE"] = "disabled"
    yield plimsoll
    for each in _links(plimsoll):
        each.kill()


class KilledRun:
    """Its command is killed once the target has some requests. Each node has one worker."""

    def __init__(self, plimsoll: Command, cluster: RayCluster, target: CountingTarget, *arguments: str) -> None:
        before = target.total
        process = _start(plimsoll, cluster, *arguments)
        wait_until(lambda: target.total > before + 90 and stored_health(plimsoll))
        (self.link,) = _links(plimsoll)
        self.processes = _on_the_cluster()
        assert len(self.processes) == 4, "two actors, two workers"
        process.kill()
        # Nobody who reads what the command printed waits for the link.
        self.err = process.communicate()[1]
        self.id = _stored(plimsoll).id

    def wait_until_the_cluster_is_free(self) -> None:
        assert psutil.wait_procs(self.processes, timeout=30)[1] == []


def _start(plimsoll: Command, cluster: RayCluster, *arguments: str) -> subprocess.Popen[str]:
    return plimsoll.start(
        "run", "--cluster", cluster.address, "--nodes", "2", "--headless", "--exit-code-on-invalid", "3", *arguments
    )  # fmt: skip


def _stored(plimsoll: Command) -> Any:
    with Store.open(str(plimsoll.store), create=False) as store:
        return store.run("last")


def _attach(plimsoll: Command, run: str) -> subprocess.Popen[str]:
    return plimsoll.start("run", "--attach", run)


def _links(plimsoll: Command) -> list[psutil.Process]:
    """Of this test, also those whose command is gone."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "ray_link" in " ".join(each.cmdline()) and each.cwd() == str(plimsoll.directory.resolve()):
                found.append(each)
    return found


def _on_the_cluster() -> list[psutil.Process]:
    """Actors and workers of runs, not those of other tests."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            words = " ".join(each.cmdline())
            is_worker = "plimsoll.locust.script.process" in words and "ray::" in " ".join(each.parent().cmdline())  # type: ignore[union-attr]
            if ("ray::NodeAgent" in words or is_worker) and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
    return found


def _folders_of(run: str) -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{run}"))


def _offered(plimsoll: Command) -> Counter[tuple[int, int]]:
    found = Counter[tuple[int, int]]()
    for row in stored_health(plimsoll):
        found[row.worker, row.second] += row.offered
    return found


def _has_whole_seconds(plimsoll: Command, count: int) -> bool:
    """After the run was continued, on both workers."""
    resumed = stored_facts(plimsoll).get("resumed")
    since = resumed[-1]["to_second"] if resumed else 1_000
    whole = [second for (_, second), offered in _offered(plimsoll).items() if second >= since and offered == 30]
    return len(whole) >= 2 * count


def _end(plimsoll: Command, process: subprocess.Popen[str]) -> CommandResult:
    process.terminate()
    return plimsoll.end(process)


def test_a_run_is_continued_with_the_arrivals_that_are_due_and_nothing_is_counted_twice(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    killed = KilledRun(plimsoll, cluster, target, target.url + "/", "--rate", "60/s", "-t", "300s")
    before = _stored(plimsoll)
    assert before.status == "interrupted"
    assert re.search(rf"is kept for 300 s: plimsoll run --attach {killed.id}\n", killed.err)
    killed.wait_until_the_cluster_is_free()
    process = _attach(plimsoll, killed.id)
    wait_until(lambda: _has_whole_seconds(plimsoll, 1))
    done = _end(plimsoll, process)
    assert done.code == 3, done

    stored, after = plimsoll.stored(), _stored(plimsoll)
    assert (stored["run"]["id"], stored["run"]["status"]) == (killed.id, "stopped")
    assert stored["total"]["requests"] == target.total
    assert (after.started, after.manifest) == (before.started, before.manifest)
    (resumed,) = after.facts.to_json()["resumed"]
    first, again = resumed["from_second"], resumed["to_second"]
    assert resumed["incomplete"] == []
    offered = _offered(plimsoll)
    last = max(second for _, second in offered)
    whole = (*range(first), *range(again, last))
    assert [offered[worker, second] for second in whole for worker in (0, 1)] == [30] * len(whole) * 2
    assert not any(offered[worker, second] for second in range(first + 1, again) for worker in (0, 1))
    assert f"was lost in second {first}; another one continues it from second {again} on" in done.err

    psutil.wait_procs([killed.link], timeout=30)
    assert (_links(plimsoll), _on_the_cluster(), _folders_of(killed.id)) == ([], [], [])


@pytest.mark.exhaustive
def test_a_run_of_a_locustfile_is_continued_twice_and_by_one_command_at_a_time(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.write(VISITOR)
    killed = KilledRun(
        plimsoll, cluster, target, "-f", "locustfile.py", "-H", target.url, "-u", "8", "-r", "8", "-t", "300s", "-s",
        "10s",
    )  # fmt: skip
    # The first one is lost before the load begins again: the link waits for the next one.
    first = _attach(plimsoll, killed.id)
    wait_until(lambda: len(_links(plimsoll)) == 2)
    first.kill()
    first.communicate()
    second = _attach(plimsoll, killed.id)
    wait_until(lambda: _users(plimsoll) == 8)
    assert plimsoll.end(_attach(plimsoll, killed.id)).code == 2, "the run has a command"
    assert not killed.link.is_running()
    second.kill()
    second.communicate()
    third = _attach(plimsoll, killed.id)
    wait_until(lambda: len(stored_facts(plimsoll)["resumed"]) == 2 and _users(plimsoll) == 8)
    done = _end(plimsoll, third)
    assert done.code == 3, done
    # On a machine that is busy, the request of a user may be under way for longer than a worker waits for it.
    assert 0 <= target.total - plimsoll.stored()["total"]["requests"] <= 2 * 8
    assert [each["incomplete"] for each in stored_facts(plimsoll)["resumed"]] == [[], []]


def _users(plimsoll: Command) -> int:
    """The most at a time, since the run was continued."""
    resumed = stored_facts(plimsoll).get("resumed")
    since = resumed[-1]["to_second"] if resumed else 1_000
    found = Counter[int]()
    for row in stored_health(plimsoll):
        found[row.second] += row.users
    return max((users for second, users in found.items() if second >= since), default=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("command_too", [False, True])
def test_a_link_that_is_killed_leaves_nothing(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, command_too: bool
) -> None:
    process = _start(plimsoll, cluster, target.url + "/", "--rate", "60/s", "-t", "300s")
    wait_until(lambda: target.total > 150 and stored_health(plimsoll))
    processes = _on_the_cluster()
    (link,) = _links(plimsoll)
    if command_too:
        link.suspend()  # neither notices that the other one is gone
        process.kill()
    link.kill()
    done = plimsoll.end(process)
    assert (len(processes), psutil.wait_procs(processes, timeout=30)[1]) == (4, [])
    assert 0 < plimsoll.stored()["total"]["requests"] <= target.total
    refused = plimsoll.end(_attach(plimsoll, "last"))
    assert refused.code == 2
    if command_too:
        assert "measured is not on this machine any more" in refused.err
    else:
        assert "is lost with the connection to the cluster" in done.err
        assert "has ended (failed); there is nothing to continue" in refused.err
    _check_that_all_cpus_are_free(plimsoll, cluster, target)


def _check_that_all_cpus_are_free(plimsoll: Command, cluster: RayCluster, target: CountingTarget) -> None:
    """A run takes all of them."""
    load = (target.url + "/", "--rate", "60/s", "-t", "1s", "--workers-per-node", "2")
    done = plimsoll.end(_start(plimsoll, cluster, *load))
    assert done.code in (0, 3), done


@pytest.mark.exhaustive
def test_a_link_that_is_killed_while_it_waits_leaves_a_folder_that_the_next_one_removes(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    killed = KilledRun(plimsoll, cluster, target, target.url + "/", "--rate", "60/s", "-t", "300s")
    killed.wait_until_the_cluster_is_free()
    killed.link.kill()
    killed.link.wait()
    done = plimsoll.end(_attach(plimsoll, killed.id))
    assert done.code == 2
    assert done.err.splitlines()[-1] == (
        f"plimsoll: what the workers of run {killed.id} measured is not on this machine any more: it is kept for five "
        "minutes; start the run again"
    )
    assert len(_folders_of(killed.id)) == 1
    OwnFolder().close()
    assert _folders_of(killed.id) == []
    _check_that_all_cpus_are_free(plimsoll, cluster, target)


@pytest.mark.exhaustive
def test_while_a_run_waits_others_have_the_cluster_and_then_it_is_continued(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    killed = KilledRun(plimsoll, cluster, target, target.url + "/", "--rate", "60/s", "-t", "300s")
    killed.wait_until_the_cluster_is_free()
    all_cpus = ("--workers-per-node", "2", "--store", str(plimsoll.directory / "other.db"))
    other = _start(plimsoll, cluster, "http://127.0.0.1:1/", "--rate", "1/s", "-t", "300s", *all_cpus)
    wait_until(lambda: len(_on_the_cluster()) == 6)
    refused = plimsoll.end(_attach(plimsoll, killed.id))
    assert refused.code == 2
    assert "with 1 free CPU each were not there within 20 s" in refused.err
    _end(plimsoll, other)
    process = _attach(plimsoll, killed.id)
    wait_until(lambda: _has_whole_seconds(plimsoll, 1))
    assert _end(plimsoll, process).code == 3
    assert plimsoll.stored()["total"]["requests"] == target.total


@pytest.mark.exhaustive
def test_a_run_that_could_not_be_continued_ends_with_its_command_and_another_machine_is_one_line(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    killed = KilledRun(plimsoll, cluster, target, target.url + "/", "-u", "4", "-r", "4", "--requests", "10000000")
    killed.wait_until_the_cluster_is_free()
    killed.link.wait(30)
    assert "plimsoll run --attach" not in killed.err
    done = plimsoll.end(_attach(plimsoll, killed.id))
    assert (done.code, done.err) == (
        2, f"plimsoll: how many requests run {killed.id} has left is not known; start it again\n"
    )  # fmt: skip

    killed = KilledRun(plimsoll, cluster, target, target.url + "/", "--rate", "60/s", "-t", "300s")
    with contextlib.closing(sqlite3.connect(plimsoll.store)) as store, store:
        store.execute("UPDATE run SET writer = 'another-boot/1 1 1.00', written = 0 WHERE id = ?", [killed.id])
    done = plimsoll.end(_attach(plimsoll, killed.id))
    assert (done.code, done.err) == (
        2,
        f"plimsoll: run {killed.id} was started on another machine, or in another container; only there --attach finds "
        "what its workers measured\n",
    )
