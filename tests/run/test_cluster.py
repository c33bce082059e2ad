"""Whole runs on a Ray cluster whose nodes are all on this machine."""

from __future__ import annotations

import contextlib
import platform
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow.parquet
import pytest
import requests
from tests.command import wait_until
from tests.run.page_session import PageSession
from tests.run.ray_cluster import RayCluster

from plimsoll._engine import Histogram
from plimsoll.record import merge
from plimsoll.run.sizing import MachineCapacity, keep
from plimsoll.run.transport.cluster import with_token
from plimsoll.store import Store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

LOCUSTFILE = """
import os
from pathlib import Path
from locust import FastHttpUser, constant, task
from pages import PATH

assert "gevent" not in Path(f"/proc/{os.getppid()}/maps").read_text() or os.getenv("MAIN")
print("worker in", os.getcwd(), "of", os.getppid())

class Visitor(FastHttpUser):
    wait_time = constant(0.02)
    @task
    def index(self):
        self.client.get(PATH)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Only who has its token may use it."""
    folder = tmp_path_factory.mktemp("ray")
    made = RayCluster(folder, 2, with_token({"RAY_AUTH_TOKEN_PATH": str(folder / "token")}))
    yield made
    made.close()


@pytest.fixture
def plimsoll(plimsoll: Command, cluster: RayCluster) -> Command:
    plimsoll.environment["RAY_AUTH_TOKEN_PATH"] = cluster.environment["RAY_AUTH_TOKEN_PATH"]
    return plimsoll


def _run(plimsoll: Command, cluster: RayCluster, *arguments: str) -> CommandResult:
    return plimsoll.in_a_process("run", "--cluster", cluster.address, "--nodes", "2", "--headless", *arguments)


def _facts(plimsoll: Command) -> dict[str, Any]:
    with Store.open(str(plimsoll.store), create=False) as store:
        return store.run("last").facts.to_json()


def test_what_is_reported_is_what_the_target_received_and_what_one_process_would_have_made_of_it(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.write(LOCUSTFILE)
    (plimsoll.directory / "pages").mkdir()
    plimsoll.write("from pathlib import Path\nPATH = Path('data.txt').read_text()", "pages/__init__.py")
    plimsoll.write("/from-a-file", "data.txt")
    done = _run(
        plimsoll, cluster, "-f", "locustfile.py", "-H", target.url, "--workers-per-node", "2",
        "-u", "8", "-r", "8", "-t", "4s", "-s", "10s", "--log-exchanges", "all.parquet", "--ship", "data.*",
    )  # fmt: skip
    assert done.code == 0, done
    assert "3 files of" in done.err and "    data.txt  12 bytes" in done.err
    run = plimsoll.stored()
    assert run["total"]["requests"] == target.counts["/from-a-file"] == target.total > 8
    assert run["generator"]["workers"] == 4

    rows = pyarrow.parquet.read_table(plimsoll.directory / "all.parquet").to_pydict()
    alone = Histogram()
    for arrival, due in zip(rows["arrival"], rows["due"], strict=True):
        alone.record(max(1, (arrival - due + 500) // 1000))
    with Store.open(str(plimsoll.store), create=False) as store:
        together = Histogram()
        for each in merge(store.run("last").intervals()):
            together.add(each.response)
    assert together.count == alone.count == target.total
    assert together.buckets() == alone.buckets()

    assert re.search(r"its clock is [+-]0\.\d+ ms ± \d", done.err), done
    assert re.search(r"second 0 began within \d+\.\d+ ms of its time on all 4 workers", done.err)
    facts = _facts(plimsoll)
    assert [each["workers"] for each in facts["cluster"]["machines"]] == [[0, 1], [2, 3]]
    assert all(abs(each["clock_offset_ms"]) <= each["clock_error_ms"] for each in facts["cluster"]["machines"])
    assert re.fullmatch("[0-9a-f]{64}", facts["cluster"]["files_sha256"])
    assert facts["lost_workers"] == 0
    assert len(set(re.findall(r"worker in .* of (\d+)", done.out + done.err))) >= 2, "actors of two nodes"


@pytest.mark.exhaustive
def test_one_schedule_of_arrivals_is_shared_out_to_all_machines(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    done = _run(plimsoll, cluster, target.url + "/", "--rate", "197/s", "-t", "2s", "--spacing", "poisson")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert run["generator"]["offered"] == run["total"]["requests"] == target.total
    with Store.open(str(plimsoll.store), create=False) as store:
        offered = Counter[int]()
        for row in store.run("last").health():
            offered[row.worker] += row.offered
    assert len(offered) == 2 and abs(offered[0] - offered[1]) <= 1


@pytest.mark.exhaustive
def test_no_row_of_a_feeder_goes_to_two_machines(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    rows = "\n".join(f"row-{number}" for number in range(40))
    plimsoll.write(f"path\n{rows}\n", "rows.csv")
    plimsoll.write(
        f"""
        target = "{target.url}"
        [feeder.rows]
        file = "rows.csv"
        at_end = "stop"
        [[request]]
        get = "/${{rows.path}}"
        [[phase]]
        users = 4
        duration = "60s"
        """,
        "plan.toml",
    )
    done = _run(plimsoll, cluster, "plan.toml")
    assert done.code == 0, done
    assert target.counts == {f"/row-{number}": 1 for number in range(40)}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--cluster", "127.0.0.1:1", "--nodes", "1"), "there is no Ray cluster at 127.0.0.1:1: .*refused"),
        (("--nodes", "3"), "the cluster has 2 nodes, not the 3 of --nodes"),
        (("--workers-per-node", "9"), "of which 0 have 9 or more CPUs for Ray, not the 2 of --nodes"),
    ],
)
def test_what_a_cluster_cannot_do_is_one_line(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, arguments: tuple[str, ...], why: str
) -> None:
    done = _run(plimsoll, cluster, target.url, "-t", "1s", *arguments)
    assert done.code == 2
    assert re.fullmatch(rf"plimsoll: .*{why}\n", done.err), done
    assert target.total == 0


@pytest.mark.exhaustive
def test_with_another_token_nothing_runs(plimsoll: Command, target: CountingTarget, cluster: RayCluster) -> None:
    del plimsoll.environment["RAY_AUTH_TOKEN_PATH"]
    done = _run(plimsoll, cluster, target.url, "-t", "1s")
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
        refused = _run(plimsoll, bare, target.url, "-t", "1s")
        plimsoll.environment["RAY_AUTH_MODE"] = "disabled"
        done = _run(plimsoll, bare, target.url, "--rate", "20/s", "-t", "1s")
    finally:
        bare.close()
    assert refused.code == 2
    assert "for a cluster without tokens set RAY_AUTH_MODE=disabled here" in refused.err
    assert (done.code, target.total) == (0, 20), done


@pytest.mark.exhaustive
def test_an_error_of_the_locustfile_on_another_machine_is_shown(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.write(LOCUSTFILE.replace("from pages import PATH", "import not_there"))
    done = _run(plimsoll, cluster, "-f", "locustfile.py", "-H", target.url, "-t", "1s")
    assert done.code == 2
    assert "No module named 'not_there'" in done.err


@pytest.mark.exhaustive
def test_a_clock_that_is_minutes_apart_changes_no_second(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The second node is in a time namespace of its own."""
    skewed = RayCluster(tmp_path_factory.mktemp("ray"), 1, cluster.environment)
    try:
        skewed.add("unshare", "--time", "--monotonic", "300", "--fork", "--kill-child")
        done = _run(plimsoll, skewed, target.url + "/", "--rate", "100/s", "-t", "4s")
    finally:
        skewed.close()
    assert done.code == 0, done
    offsets = [each["clock_offset_ms"] for each in _facts(plimsoll)["cluster"]["machines"]]
    assert sorted(round(each / 1e4) for each in offsets) == [0, 30], "ten seconds each: one is 300 s ahead"
    with Store.open(str(plimsoll.store), create=False) as store:
        offered = Counter[tuple[int, int]]()
        for row in store.run("last").health():
            offered[row.worker, row.second] += row.offered
    assert {key: count for key, count in offered.items() if count} == {
        (worker, second): 50 for worker in (0, 1) for second in range(4)
    }
    assert plimsoll.stored()["total"]["requests"] == target.total == 400


@pytest.mark.exhaustive
def test_the_cells_of_an_experiment_run_on_the_cluster(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.write(
        f"""
        name = "apart"
        question = "Does it run there?"
        repeats = 1
        cool_down = 0
        [scenario]
        url = "/"
        run_time = "1s"
        [levels]
        users = 2
        [compare]
        metrics = ["p50"]
        [target]
        url = "{target.url}"
        [[variant]]
        name = "a"
        [[variant]]
        name = "b"
        changes = "nothing"
        """,
        "experiment.toml",
    )
    done = plimsoll.in_a_process("experiment", "experiment.toml", "--cluster", cluster.address, "--nodes", "2", "--yes")
    assert done.code in (0, 3), done
    with Store.open(str(plimsoll.store), create=False) as store:
        runs = store.runs()
        assert [len(store.run(each.id).facts.to_json()["cluster"]["machines"]) for each in runs] == [2, 2], done


@pytest.mark.exhaustive
def test_the_probes_of_a_search_run_on_the_cluster(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.start(
        "capacity", target.url + "/", "--slo", "p99 < 10s", "--from", "10", "--time", "1s", "--warmup", "0s",
        "--cool-down", "0s", "--cluster", cluster.address, "--nodes", "2", "--yes",
    )  # fmt: skip

    def runs() -> list[Any]:
        if not plimsoll.store.exists():
            return []
        with Store.open(str(plimsoll.store), create=False) as store:
            return [each.facts.to_json() for each in store.runs() if each.status == "finished"]

    wait_until(lambda: len(runs()) >= 2)
    assert all(len(each["cluster"]["machines"]) == 2 for each in runs())


@pytest.mark.exhaustive
def test_the_page_starts_load_on_the_cluster_only_with_its_token(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    plimsoll.write(LOCUSTFILE.replace("from pages import PATH", "PATH = '/'"))
    page = PageSession(
        plimsoll, "-f", "locustfile.py", "-H", target.url, "--cluster", cluster.address, "--nodes", "2",
        "--web-token", "secret-of-the-page",
    )  # fmt: skip
    form = {"user_count": 2, "spawn_rate": 2, "run_time": "2s"}
    assert requests.post(f"{page.url}/swarm", data=form, timeout=30).status_code == 401
    bearer = {"Authorization": "Bearer secret-of-the-page"}
    assert requests.post(f"{page.url}/swarm", data=form, headers=bearer, timeout=30).ok
    wait_until(lambda: "Shutting down" in page.err)
    run = plimsoll.stored()
    assert run["generator"]["workers"] == 2
    # Without a stop timeout the last request of a user may be cut off.
    assert 0 < run["total"]["requests"] <= target.total
    page.interrupt()


def _processes(word: str) -> list[psutil.Process]:
    """Ours and those below, with this word in their command line."""
    children = psutil.Process().children(recursive=True)
    found = []
    for each in children:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if any(word in part for part in each.cmdline()):
                found.append(each)
    return found


def _actors() -> list[psutil.Process]:
    return [each for each in _processes("ray::NodeAgent") if each.status() != psutil.STATUS_ZOMBIE]


def _workers_of(actor: psutil.Process) -> list[psutil.Process]:
    return [each for each in actor.children() if "plimsoll.locust.script.process" in each.cmdline()]


def _start(plimsoll: Command, cluster: RayCluster, target: CountingTarget, *arguments: str) -> subprocess.Popen[str]:
    return plimsoll.start(
        "run", target.url + "/", "--cluster", cluster.address, "--nodes", "2", "--headless", "--rate", "100/s",
        "--exit-code-on-invalid", "3", *arguments,
    )  # fmt: skip


@pytest.mark.exhaustive
def test_a_killed_actor_takes_its_workers_along_and_the_others_take_over(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = _start(plimsoll, cluster, target, "-t", "12s", "--on-worker-loss", "redistribute")
    wait_until(lambda: target.total > 100)
    actor = _actors()[0]
    workers = _workers_of(actor)
    actor.kill()
    gone, alive = psutil.wait_procs(workers, timeout=10)
    assert (len(gone), alive) == (1, [])
    done = plimsoll.end(process)
    assert done.code == 3, done
    assert re.search(
        r"worker \d \(on .*\) is lost with its machine \(\w+\): .* the others take its load over", done.err
    )
    assert 0.75 * 1200 < plimsoll.stored()["total"]["requests"] <= target.total
    assert not _actors(), "nothing of the run is left on the cluster"


@pytest.mark.exhaustive
def test_a_node_that_is_gone_is_a_lost_worker_and_the_run_goes_on(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = RayCluster(tmp_path_factory.mktemp("ray"), 1, cluster.environment)
    try:
        own.add()
        process = _start(plimsoll, own, target, "-t", "14s")
        wait_until(lambda: target.total > 100)
        before = target.total
        raylets = [each for each in own.processes_of(1) if each.name() == "raylet"]
        workers = [worker for actor in _actors() if actor.parent() in raylets for worker in _workers_of(actor)]
        raylets[0].kill()
        _, alive = psutil.wait_procs(workers, timeout=15)
        assert (len(workers), alive) == (1, [])
        done = plimsoll.end(process)
    finally:
        own.close()
    assert done.code == 3, done
    # Its actor may still see that Ray kills the worker.
    assert re.search(r"worker \d \(on .*\) (is lost with its machine|was killed by SIGKILL)", done.err), done
    run = plimsoll.stored()
    assert run["run"]["status"] == "finished"
    assert before < run["total"]["requests"] <= target.total


@pytest.mark.exhaustive
def test_a_node_whose_raylet_stands_still_is_lost_and_the_run_goes_on(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = RayCluster(tmp_path_factory.mktemp("ray"), 1, cluster.environment)
    try:
        own.add()
        process = _start(plimsoll, own, target, "-t", "25s")
        wait_until(lambda: target.total > 100)
        (raylet,) = [each for each in own.processes_of(1) if each.name() == "raylet"]
        raylet.suspend()
        done = plimsoll.end(process)
        raylet.resume()
    finally:
        own.close()
    assert done.code == 3, done
    assert re.search(r"worker \d \(on .*\) is lost with its machine", done.err), done
    run = plimsoll.stored()
    assert run["run"]["status"] == "finished"
    assert 0 < run["total"]["requests"] <= target.total < 2500


@pytest.mark.exhaustive
def test_a_worker_on_another_machine_that_stands_still_is_lost_until_it_is_back(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    process = _start(plimsoll, cluster, target, "-t", "12s")
    wait_until(lambda: target.total > 100)
    (worker,) = _workers_of(_actors()[0])
    worker.suspend()
    time.sleep(5)
    worker.resume()
    done = plimsoll.end(process)
    assert "has not reported for 3 s" in done.err and "is back: nothing of it is missing" in done.err
    assert plimsoll.stored()["total"]["requests"] == target.total == 1200


@pytest.mark.exhaustive
def test_an_actor_that_stands_still_ends_the_load_of_its_workers(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster
) -> None:
    """It stands for a machine that the coordinator cannot reach."""
    process = _start(plimsoll, cluster, target, "-t", "300s", "--on-worker-loss", "stop")
    wait_until(lambda: target.total > 100)
    for each in _actors():
        each.suspend()
    try:
        done = plimsoll.end(process)
        total = target.total
        time.sleep(2)
        assert target.total == total, "without orders no load goes on"
    finally:
        for each in _actors():
            each.resume()
    assert done.code == 3, done
    wait_until(lambda: not _actors())


@pytest.mark.exhaustive
def test_a_rate_above_what_the_nodes_were_measured_to_send_is_said_before_the_load(
    plimsoll: Command, target: CountingTarget, cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(plimsoll.directory))
    plimsoll.environment["HOME"] = str(plimsoll.directory)
    keep([MachineCapacity(platform.node(), 4, 10.0, None, None, None, "2026-11-25")])
    done = _run(plimsoll, cluster, target.url, "--rate", "50/s", "-t", "1s")
    assert done.code == 0, done
    said = "the load asks for 50 requests/s, and 2 workers with native users can send about 20 requests/s"
    assert done.err.index(said) < done.err.index("second 0 began")
    assert target.total == 50
