"""Nodes of a Ray cluster that come while a run goes on, in the places of lost ones."""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, stored_facts, stored_health
from tests.run.ray_cluster import RayCluster
from tests.run.replaced import RATE, check_replaced, lost, whole_since

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]


@pytest.fixture
def plimsoll(plimsoll: Command) -> Command:
    plimsoll.environment["RAY_AUTH_MODE"] = "disabled"
    return plimsoll


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Two nodes. The second may be killed."""
    made = RayCluster(tmp_path_factory.mktemp("ray"), 1, {"RAY_AUTH_MODE": "disabled"})
    made.add()
    yield made
    made.close()


def _start(plimsoll: Command, cluster: RayCluster, *arguments: str) -> subprocess.Popen[str]:
    return plimsoll.start(
        "run", "--cluster", cluster.address, "--nodes", "2", "--headless", "-t", "300s",
        "--exit-code-on-invalid", "3", *arguments,
    )  # fmt: skip


def _end(plimsoll: Command, process: subprocess.Popen[str]) -> CommandResult:
    process.terminate()
    done = plimsoll.end(process)
    assert done.code == 3, done
    return done


def _actor(cluster: RayCluster) -> psutil.Process:
    """On the second node."""
    return next(each for each in cluster.processes_of(1) if _is_actor(each))


def _is_actor(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return "ray::NodeAgent" in " ".join(process.cmdline())
    return False


@pytest.mark.parametrize("action", ["redistribute", pytest.param("mark", marks=pytest.mark.exhaustive)])
def test_a_node_that_is_added_takes_the_place_of_a_killed_one(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, action: str
) -> None:
    process = _start(plimsoll, cluster, target.url + "/", *RATE, "--on-worker-loss", action)
    wait_until(lambda: target.total > 100)
    raylet = _actor(cluster).parent()
    assert raylet is not None and raylet.name() == "raylet"
    raylet.kill()
    cluster.add()
    wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 1)
    done = _end(plimsoll, process)

    place, begin = check_replaced(plimsoll, target, action)
    said = rf"worker {place} \(on .*/3\) takes the place of the lost one \(on .*\) from second {begin} on"
    assert re.search(said, done.err), done.err
    machines = stored_facts(plimsoll)["cluster"]["machines"]
    assert [each["workers"] for each in machines] == [[0], [1], [place]]
    assert all(abs(each["clock_offset_ms"]) <= each["clock_error_ms"] for each in machines)


@pytest.mark.exhaustive
def test_all_workers_of_a_killed_actor_come_again_on_its_node(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.write(VISITOR)
    process = _start(
        plimsoll, cluster, "-f", "locustfile.py", "-H", target.url, "-u", "8", "-r", "8", "--workers-per-node", "2"
    )
    wait_until(lambda: target.total > 100)
    actor = _actor(cluster)
    actor.kill()
    begin = max(int(_read_until(process, r"place of the lost one .* from second (\d+) on")[1]) for _ in range(2))
    wait_until(lambda: _users(plimsoll, begin) == {0: 2, 1: 2, 2: 2, 3: 2})
    _end(plimsoll, process)
    facts = stored_facts(plimsoll)
    assert (facts["lost_workers"], len(facts["replaced"]), len(facts["incomplete"])) == (2, 2, 2)
    assert target.total >= plimsoll.stored()["total"]["requests"]


def _read_until(process: subprocess.Popen[str], line: str) -> re.Match[str]:
    """What a line of its log says."""
    assert process.stderr is not None
    while not (found := re.search(line, process.stderr.readline())):
        pass
    return found


def _users(plimsoll: Command, since: int) -> dict[int, int]:
    """By worker, in the last second that all four have reported, from this one on."""
    found: dict[int, dict[int, int]] = {}
    for row in stored_health(plimsoll):
        if row.second >= since:
            found.setdefault(row.second, {})[row.worker] = row.users
    whole = [second for second, users in found.items() if len(users) == 4]
    return found[max(whole)] if whole else {}


@pytest.mark.exhaustive
def test_a_worker_whose_actor_stood_still_hands_over_all_and_begins_again(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = _start(plimsoll, cluster, target.url + "/", *RATE)
    wait_until(lambda: target.total > 150)
    actor = _actor(cluster)
    actor.suspend()
    time.sleep(6)  # longer than the lease of the load
    actor.resume()
    wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 2)
    done = _end(plimsoll, process)
    assert "kept is all that it measured" in done.err
    facts = stored_facts(plimsoll)
    assert (facts["lost_workers"], len(facts["replaced"]), facts.get("incomplete")) == (1, 1, None)
    assert plimsoll.stored()["total"]["requests"] == target.total


@pytest.mark.exhaustive
def test_a_worker_that_crashes_by_itself_does_not_come_back(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = _start(plimsoll, cluster, target.url + "/", *RATE)
    wait_until(lambda: target.total > 150)
    actor = _actor(cluster)
    (worker,) = [each for each in actor.children() if "plimsoll.locust.script.process" in each.cmdline()]
    worker.kill()
    _read_until(process, "was killed by SIGKILL")
    before = target.total
    wait_until(lambda: target.total > before + 8 * 30)
    done = _end(plimsoll, process)
    assert "takes the place" not in done.err
    assert actor.pid not in psutil.pids(), "nothing of the run is left on the cluster"
    assert "replaced" not in stored_facts(plimsoll)
