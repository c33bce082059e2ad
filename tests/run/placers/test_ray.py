"""Workers on a real Ray cluster whose nodes are all on this machine."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, stored_facts, stored_health
from tests.run.placers.ray_cluster import RayCluster
from tests.run.replaced import RATE, check_replaced, lost, whole_since

from plimsoll.run.placers.placer import MASTER_WAIT_S
from plimsoll.run.placers.ray import with_token
from plimsoll.store import Store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Two nodes with two CPUs each. Only who has its token may use it."""
    folder = tmp_path_factory.mktemp("ray")
    made = RayCluster(folder, 2, with_token({"RAY_AUTH_TOKEN_PATH": str(folder / "token")}))
    yield made
    made.close()


@pytest.fixture
def own_cluster(cluster: RayCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """One node, for tests that add and kill others."""
    made = RayCluster(tmp_path_factory.mktemp("ray"), 1, cluster.environment)
    yield made
    made.close()


@pytest.fixture
def plimsoll(plimsoll: Command, cluster: RayCluster) -> Command:
    plimsoll.environment["RAY_AUTH_TOKEN_PATH"] = cluster.environment["RAY_AUTH_TOKEN_PATH"]
    plimsoll.environment["HOME"] = str(plimsoll.directory)
    return plimsoll


def start(plimsoll: Command, cluster: RayCluster, *arguments: str) -> subprocess.Popen[str]:
    words = ("--cluster", cluster.address, "--nodes", "2", "--headless", "--exit-code-on-invalid", "3")
    return plimsoll.start("run", *words, *arguments)


def run(plimsoll: Command, cluster: RayCluster, *arguments: str) -> CommandResult:
    return plimsoll.end(start(plimsoll, cluster, *arguments))


def workers() -> list[psutil.Process]:
    """Processes that join, on the nodes of this test's process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "--worker" in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def actor_of(worker: psutil.Process) -> psutil.Process:
    actor = worker.parent()
    assert actor is not None and "ray::WorkerCommand" in " ".join(actor.cmdline())
    return actor


def test_workers_of_two_machines_send_what_the_target_counts_and_end_with_the_run(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.environment["SHOP_TOKEN"] = "s3cret-of-the-shop"
    plimsoll.write(
        "import os\nfrom pathlib import Path\n"
        "print('\\x1b[36mcoloured\\x1b[0m', len(os.environ['SHOP_TOKEN']), Path('data.txt').read_text())\n" + VISITOR
    )
    plimsoll.write("travelled", "data.txt")
    done = run(
        plimsoll, cluster, "-f", "locustfile.py", "-H", target.url, "--workers-per-node", "2", "-u", "8", "-t", "3s",
        "-s", "10s", "--ship", "data.*", "--env", "SHOP_TOKEN",
    )  # fmt: skip
    assert done.code == 0, done
    stored = plimsoll.stored()
    assert (stored["generator"]["workers"], stored["total"]["requests"]) == (4, target.total)
    assert target.total > 8
    assert ": coloured 18 travelled\n" in done.err and "\x1b" not in done.err, done
    machines = stored_facts(plimsoll)["cluster"]["machines"]
    assert [machine["workers"] for machine in machines] == [[0], [1], [2], [3]]
    assert all(abs(machine["clock_offset_ms"]) <= machine["clock_error_ms"] for machine in machines)
    assert workers() == []


def test_the_token_is_in_no_list_of_processes_and_ctrl_c_ends_all_workers(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.environment["PLIMSOLL_JOIN_TOKEN"] = token = "a token of this test alone"
    master = start(plimsoll, cluster, target.url, "--rate", "50/s", "-t", "60s")
    wait_until(lambda: target.total > 50)
    words = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in words if token in line]
    assert len(workers()) == 2
    master.send_signal(signal.SIGINT)
    done = plimsoll.end(master)
    assert plimsoll.stored()["total"]["requests"] == target.total, done
    assert workers() == []


@pytest.mark.exhaustive
def test_one_schedule_of_arrivals_is_shared_out_to_all_machines(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    done = run(plimsoll, cluster, target.url + "/", "--rate", "197/s", "-t", "2s", "--spacing", "poisson")
    assert done.code == 0, done
    assert plimsoll.stored()["generator"]["offered"] == plimsoll.stored()["total"]["requests"] == target.total
    offered = Counter[int]()
    for row in stored_health(plimsoll):
        offered[row.worker] += row.offered
    assert len(offered) == 2 and abs(offered[0] - offered[1]) <= 1


@pytest.mark.exhaustive
def test_a_clock_that_is_minutes_apart_changes_no_second(
    plimsoll: Command, target: CountingTarget, own_cluster: RayCluster
) -> None:
    """The second node is in a time namespace of its own."""
    own_cluster.add("unshare", "--time", "--monotonic", "300", "--fork", "--kill-child")
    done = run(plimsoll, own_cluster, target.url + "/", "--rate", "100/s", "-t", "4s")
    assert done.code == 0, done
    offsets = [machine["clock_offset_ms"] for machine in stored_facts(plimsoll)["cluster"]["machines"]]
    assert sorted(round(offset / 1e4) for offset in offsets) == [0, 30], "ten seconds each: one is 300 s ahead"
    offered = Counter[tuple[int, int]]()
    for row in stored_health(plimsoll):
        offered[row.worker, row.second] += row.offered
    assert {key: count for key, count in offered.items() if count} == {
        (worker, second): 50 for worker in (0, 1) for second in range(4)
    }
    assert plimsoll.stored()["total"]["requests"] == target.total == 400


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--cluster", "127.0.0.1:1"), "there is no Ray cluster at 127.0.0.1:1: .*refused"),
        (("--cluster", "127.0.0.1"), "--cluster 127.0.0.1: 127.0.0.1 is not HOST:PORT; .*"),
        (("--processes", "2"), "--processes is for this machine; with --cluster say --workers-per-node N"),
        (("--master",), "--cluster and --master do not go together: --cluster starts the workers itself"),
        (("--on", "ssh:a"), "--on and --cluster do not go together: each starts the workers itself"),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, words: tuple[str, ...], why: str
) -> None:
    done = run(plimsoll, cluster, target.url, "-t", "1s", *words)
    assert done.code == 2
    assert re.fullmatch(rf"plimsoll: {why}\n", done.err), done
    assert target.total == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--nodes", "3"), "the cluster has 2 nodes, 2 of them with 1 CPU or more for Ray, and 3 are asked for"),
        (("--workers-per-node", "9"), "the cluster has 2 nodes, 0 of them with 9 CPUs or more for Ray, and 2 are"),
    ],
)
def test_machines_that_a_cluster_lacks_are_waited_for_with_words_and_a_limit(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, words: tuple[str, ...], why: str
) -> None:
    done = run(plimsoll, cluster, target.url, "-t", "1s", "--expect-workers-max-wait", "8", *words)
    assert done.code == 2
    assert re.search(rf"plimsoll: \d of \d+ workers have joined within 8 s .*: {why}", done.err), done
    assert (target.total, workers()) == (0, [])


def test_a_machine_that_comes_while_the_command_waits_gets_its_workers(
    plimsoll: Command, target: CountingTarget, own_cluster: RayCluster
) -> None:
    process = start(plimsoll, own_cluster, target.url + "/", "--rate", "50/s", "-t", "2s")
    assert process.stderr is not None
    while "and 2 are asked for; they may still come" not in process.stderr.readline():
        pass
    own_cluster.add()
    done = plimsoll.end(process)
    assert (done.code, target.total) == (0, 100), done


@pytest.mark.exhaustive
def test_with_another_token_nothing_runs(plimsoll: Command, target: CountingTarget, cluster: RayCluster) -> None:
    del plimsoll.environment["RAY_AUTH_TOKEN_PATH"]
    done = run(plimsoll, cluster, target.url, "-t", "1s")
    assert done.code == 2
    assert "is no Ray cluster, or wants another token (RAY_AUTH_TOKEN_PATH)" in done.err
    assert (plimsoll.directory / ".ray" / "auth_token").exists(), "made in the home of the test"
    assert target.total == 0


@pytest.mark.exhaustive
def test_a_cluster_without_tokens_is_used_only_if_that_is_said(
    plimsoll: Command, target: CountingTarget, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bare = RayCluster(tmp_path_factory.mktemp("ray"), 2, {"RAY_AUTH_MODE": "disabled"})
    try:
        refused = run(plimsoll, bare, target.url, "-t", "1s")
        plimsoll.environment["RAY_AUTH_MODE"] = "disabled"
        done = run(plimsoll, bare, target.url, "--rate", "20/s", "-t", "1s")
    finally:
        bare.close()
    assert refused.code == 2
    assert "for a cluster without tokens set RAY_AUTH_MODE=disabled here" in refused.err
    assert (done.code, target.total) == (0, 20), done


@pytest.mark.parametrize("action", ["redistribute", pytest.param("mark", marks=pytest.mark.exhaustive)])
def test_a_node_that_is_added_takes_the_place_of_a_killed_one(
    plimsoll: Command, target: CountingTarget, own_cluster: RayCluster, action: str
) -> None:
    own_cluster.add()
    process = start(plimsoll, own_cluster, target.url + "/", *RATE, "-t", "300s", "--on-worker-loss", action)
    wait_until(lambda: target.total > 100)
    (raylet,) = [each for each in own_cluster.processes_of(1) if each.name() == "raylet"]
    raylet.kill()
    own_cluster.add()
    wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 1)
    process.terminate()
    done = plimsoll.end(process)
    assert done.code == 3, done
    place, begin = check_replaced(plimsoll, target, action)
    assert re.search(r"is lost \(\w+\); Ray looks for another one", done.err), done
    said = rf"worker {place} \(on .*\) takes the place of the lost one \(on .*\) from second {begin} on"
    assert re.search(said, done.err), done.err
    assert workers() == []


def test_a_killed_actor_takes_its_workers_along_and_others_come_in_their_places(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = start(plimsoll, cluster, target.url + "/", *RATE, "-t", "300s")
    wait_until(lambda: target.total > 100)
    victim = workers()[0]
    below = [victim, *victim.children(recursive=True)]
    actor_of(victim).kill()
    assert psutil.wait_procs(below, timeout=30)[1] == []
    wait_until(lambda: whole_since(plimsoll, lost(plimsoll)) >= 1)
    process.terminate()
    done = plimsoll.end(process)
    assert done.code == 3, done
    check_replaced(plimsoll, target, "mark")
    assert workers() == []


def test_a_run_whose_command_is_killed_is_continued_by_attach_alone(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = start(plimsoll, cluster, target.url + "/", *RATE, "-t", "300s")
    wait_until(lambda: target.total > 100 and bool(stored_health(plimsoll)))
    process.kill()
    process.communicate()
    with Store.open(str(plimsoll.store), create=False) as store:
        killed = store.run("last").id
    (kept,) = (plimsoll.directory / ".plimsoll" / "masters").iterdir()
    assert (kept.name, kept.stat().st_mode & 0o077) == (f"{killed}.json", 0)
    attached = plimsoll.start("run", "--attach", killed)
    wait_until(lambda: _has_whole_seconds(plimsoll, 2))
    attached.terminate()
    done = plimsoll.end(attached)
    assert done.code == 3, done
    stored = plimsoll.stored()
    assert (stored["run"]["id"], stored["total"]["requests"]) == (killed, target.total)
    assert stored_facts(plimsoll)["resumed"][0]["incomplete"] == []
    assert not kept.exists()
    wait_until(lambda: workers() == [] and not _drivers(plimsoll))


def _has_whole_seconds(plimsoll: Command, count: int) -> bool:
    """After the run was continued, on both workers."""
    resumed = stored_facts(plimsoll).get("resumed")
    since = resumed[-1]["to_second"] if resumed else 1_000
    rows = [row for row in stored_health(plimsoll) if row.second >= since and row.offered == 30]
    return len(rows) >= 2 * count


def _drivers(plimsoll: Command) -> list[psutil.Process]:
    """Of this test, also those whose command is gone."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "ray_driver" in " ".join(process.cmdline()) and process.environ().get("HOME") == str(plimsoll.directory):
                found.append(process)
    return found


@pytest.mark.exhaustive
def test_what_a_killed_command_leaves_ends_by_itself(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = start(plimsoll, cluster, target.url + "/", *RATE, "-t", "300s")
    wait_until(lambda: target.total > 100)
    process.kill()
    left = [*workers(), *_drivers(plimsoll)]
    assert len(left) == 3
    assert psutil.wait_procs(left, timeout=MASTER_WAIT_S + 60)[1] == []
    all_cpus = ("--workers-per-node", "2")
    assert run(plimsoll, cluster, target.url + "/", "--rate", "60/s", "-t", "1s", *all_cpus).code == 0


@pytest.mark.exhaustive
def test_a_driver_that_is_killed_takes_the_workers_along_and_is_named(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = start(plimsoll, cluster, target.url + "/", *RATE, "-t", "300s")
    wait_until(lambda: target.total > 100)
    (driver,) = _drivers(plimsoll)
    os.kill(driver.pid, signal.SIGKILL)
    done = plimsoll.end(process)
    assert done.code != 0
    assert "the driver of Ray has ended" in done.err, done
    assert 0 < plimsoll.stored()["total"]["requests"] <= target.total
    wait_until(lambda: workers() == [])


def test_doctor_says_what_each_machine_can_send_and_runs_know_it(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    done = plimsoll.in_a_process("doctor", "--on", f"ray:{cluster.address},nodes=2")
    assert done.code == 0, done
    assert re.search(r"capacity +\d+ workers?, about [\d\u202f]+ requests/s each \(native users\)", done.out), done
    assert "the same Plimsoll and Python" in done.out
    assert (plimsoll.directory / ".plimsoll" / "capacity.json").exists()
    assert workers() == []
    run_done = run(plimsoll, cluster, target.url, "--rate", "9000000/s", "-t", "1s", "--dry-run")
    assert run_done.code == 0, run_done


def facts_of(plimsoll: Command) -> list[dict[str, Any]]:
    with Store.open(str(plimsoll.store), create=False) as store:
        return [each.facts.to_json() for each in store.runs() if each.status == "finished"]


@pytest.mark.exhaustive
def test_the_probes_of_a_search_have_their_workers_on_the_cluster(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = plimsoll.start(
        "capacity", target.url + "/", "--slo", "p99 < 10s", "--from", "10", "--time", "1s", "--warmup", "0s",
        "--cool-down", "0s", "--cluster", cluster.address, "--nodes", "2", "--yes",
    )  # fmt: skip
    wait_until(lambda: plimsoll.store.exists() and len(facts_of(plimsoll)) >= 2)
    process.send_signal(signal.SIGINT)
    plimsoll.end(process)
    assert all(len(facts["cluster"]["machines"]) == 2 for facts in facts_of(plimsoll))
