"""Nodes of a Ray cluster that come while a run goes on, in the places of lost ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.command import wait_until
from tests.run.joined import stored_facts, stored_health
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


def _raylet(cluster: RayCluster) -> psutil.Process:
    """Of the second node."""
    (raylet,) = [each for each in cluster.processes_of(1) if each.name() == "raylet"]
    return raylet


def _actors_of(raylet: psutil.Process) -> list[psutil.Process]:
    return [each for each in raylet.children() if "ray::NodeAgent" in " ".join(each.cmdline())]


@pytest.mark.parametrize("action", ["redistribute", pytest.param("mark", marks=pytest.mark.exhaustive)])
def test_a_node_that_is_added_takes_the_place_of_a_killed_one(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, action: str
) -> None:
    process = _start(plimsoll, cluster, target.url + "/", *RATE, "--on-worker-loss", action)
    wait_until(lambda: target.total > 150)
    _raylet(cluster).kill()
    cluster.add()
    wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 2)
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
    process = _start(plimsoll, cluster, target.url + "/", "--rate", "120/s", "--workers-per-node", "2")
    wait_until(lambda: target.total > 300)
    (actor,) = _actors_of(_raylet(cluster))
    actor.kill()

    def replaced() -> list[int]:
        if not plimsoll.store.exists():
            return []
        begun = {row.worker: row.second for row in stored_health(plimsoll) if row.offered == 30}
        return sorted(worker for worker, second in begun.items() if second >= max(begun.values()) - 1)

    assert process.stderr is not None
    seen = ""
    while seen.count("takes the place of the lost one") < 2:
        seen += process.stderr.readline()
    wait_until(lambda: replaced() == [0, 1, 2, 3])
    _end(plimsoll, process)
    facts = stored_facts(plimsoll)
    assert (facts["lost_workers"], len(facts["replaced"])) == (2, 2)


@pytest.mark.exhaustive
def test_a_worker_that_crashes_by_itself_does_not_come_back(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = _start(plimsoll, cluster, target.url + "/", *RATE)
    wait_until(lambda: target.total > 150)
    (actor,) = _actors_of(_raylet(cluster))
    (worker,) = [each for each in actor.children() if "plimsoll.locust.script.process" in each.cmdline()]
    worker.kill()
    assert process.stderr is not None
    while "was killed by SIGKILL" not in process.stderr.readline():
        pass
    before = target.total
    wait_until(lambda: target.total > before + 8 * 30)
    done = _end(plimsoll, process)
    assert "takes the place" not in done.err
    assert actor.pid not in psutil.pids(), "nothing of the run is left on the cluster"
    assert "replaced" not in stored_facts(plimsoll)
