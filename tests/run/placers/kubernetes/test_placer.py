"""Workers as Pods, on a real control plane of Kubernetes whose kubelet is a stand-in: `tests.run.placers.kubelet`."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from kubernetes.config import incluster_config
from tests.command import wait_until
from tests.run.joined import VISITOR, free_port, start_master, stored_facts
from tests.run.placers.control_plane import NAMESPACE, PROGRAM, TOKENS, ControlPlane

from plimsoll.run.placers.kubernetes import cluster
from plimsoll.run.placers.kubernetes.options import JobOptions

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PROGRAM.exists(), reason="make kubernetes builds the control plane"),
]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("kubernetes")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("LOCUST_", "PLIMSOLL_"))}
    plane = ControlPlane.__new__(ControlPlane)
    try:
        plane.__init__(folder, {**own, "HOME": str(folder)})
        yield plane
    finally:
        plane.close()


@pytest.fixture(autouse=True)
def account(plimsoll: Command, plane: ControlPlane) -> Iterator[None]:
    """Runs have the account with the rights that the guide names, and leave nothing behind."""
    plimsoll.environment["KUBECONFIG"] = str(plane.kubeconfig("runner"))
    yield
    wait_until(lambda: plane.left() == [])


def conditions(plane: ControlPlane, job: str) -> set[str]:
    return {each.type for each in plane.batch.read_namespaced_job(job, NAMESPACE).status.conditions or ()}


def start(plimsoll: Command, *arguments: str, on: str = "workers=3") -> subprocess.Popen[str]:
    where = f"k8s:image=registry.test/plimsoll,memory=200Mi,{on}"
    return plimsoll.start("run", "--headless", "--on", where, "--master-host", "127.0.0.1", *arguments)


def run(plimsoll: Command, *arguments: str, on: str = "workers=3") -> CommandResult:
    return plimsoll.end(start(plimsoll, *arguments, on=on))


def kill(plane: ControlPlane, pod: Any) -> None:
    """All processes of a Pod, as the kernel does it when the memory of its group is used up."""
    os.killpg(plane.kubelet.pods[pod.metadata.uid].process.pid, signal.SIGKILL)


def test_pods_on_all_nodes_send_what_the_target_counts_and_nothing_is_left(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    plimsoll.environment["SHOP_TOKEN"] = "s3cret-of-the-shop"
    plimsoll.write("import os\nassert len(os.environ['SHOP_TOKEN']) == 18\n" + VISITOR)
    master = start(
        plimsoll, "-f", "locustfile.py", "-H", target.url, "-u", "9", "-t", "5s", "-s", "10s", "--env", "SHOP_TOKEN"
    )
    wait_until(lambda: target.total > 0)
    pods = plane.pods()
    (job,) = plane.batch.list_namespaced_job(NAMESPACE).items
    (secret,) = plane.core.list_namespaced_secret(NAMESPACE).items
    done = plimsoll.end(master)
    assert done.code == 0, done
    assert plimsoll.stored()["generator"]["workers"] == 3
    assert plimsoll.stored()["total"]["requests"] == target.total > 0
    assert {pod.spec.node_name for pod in pods} == {"node-a", "node-b", "node-c"}
    assert job.spec.completion_mode == "Indexed"
    assert [owner.uid for owner in secret.metadata.owner_references] == [job.metadata.uid]
    assert not any(pod.spec.automount_service_account_token for pod in pods)


def test_arrivals_of_a_schedule_are_dealt_out_over_pods_with_several_workers(
    plimsoll: Command, target: CountingTarget
) -> None:
    done = run(plimsoll, target.url, "--rate", "100/s", "-t", "3s", on="workers=4,per_pod=2,cpu=500m")
    assert done.code == 0, done
    assert plimsoll.stored()["generator"]["workers"] == 4
    assert plimsoll.stored()["total"]["requests"] == target.total == 300


def test_a_pod_that_is_killed_is_said_with_its_log_and_the_job_replaces_it(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "40s", "--exit-code-on-invalid", "3")
    wait_until(lambda: target.total > 120)
    kill(plane, plane.pods()[0])
    done = plimsoll.end(master)
    assert done.code == 3, done
    assert re.search(r"Pod \S+ on node-\w has failed with exit code 137; it printed:\n    joined the master", done.err)
    assert re.search(r"Pod \S+ on node-\w runs, in the place of one that is lost", done.err), done
    assert re.search(r"worker \d \(on .*\) takes the place of the lost one", done.err)
    run = plimsoll.stored()
    # What the killed process had not reported is missing, and named: at most three seconds of a third of the load.
    assert target.total - 3 * 20 - 20 <= run["total"]["requests"] <= target.total
    assert stored_facts(plimsoll)["lost"]


def test_an_evicted_pod_is_said_and_its_place_is_filled_again(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "40s", "--exit-code-on-invalid", "3")
    wait_until(lambda: target.total > 120)
    pod = plane.pods()[0].metadata
    plane.core.create_namespaced_pod_eviction(
        pod.name, NAMESPACE, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name}}
    )
    done = plimsoll.end(master)
    assert done.code == 3, done
    # It ends within a second here: whether it is seen before that is a matter of luck.
    seen = r"(was deleted \(EvictionByEvictionAPI|has failed with exit code 143|is gone)"
    assert re.search(rf"Pod {pod.name} on node-\w {seen}", done.err), done
    assert re.search(r"worker \d \(on .*\) takes the place of the lost one", done.err), done
    assert target.total - 3 * 20 - 20 <= plimsoll.stored()["total"]["requests"] <= target.total


def test_pods_that_no_node_has_room_for_are_said_in_words(plimsoll: Command, plane: ControlPlane) -> None:
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s", "--expect-workers-max-wait", "8", on="workers=4,cpu=1500m")
    assert done.code == 2
    assert re.search(
        r"\n1 of 4 Pods wait: 0/3 nodes are available: 3 Insufficient cpu\..*\n(.*\n)*"
        r"plimsoll: 3 of 4 workers have joined within 8 s \(--expect-workers-max-wait\): 1 of 4 Pods wait: 0/3 nodes",
        done.err,
    ), done


def test_a_quota_that_refuses_pods_is_said(plimsoll: Command, plane: ControlPlane) -> None:
    quota = {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "1"}}}
    plane.core.create_namespaced_resource_quota(NAMESPACE, quota)
    try:
        wait_until(lambda: plane.core.read_namespaced_resource_quota("small", NAMESPACE).status.hard)
        done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s", "--expect-workers-max-wait", "6")
    finally:
        plane.core.delete_namespaced_resource_quota("small", NAMESPACE)
    assert done.code == 2
    assert re.search(r"\d of 3 Pods are not there: Error creating: pods .* is forbidden: (exceeded|status)", done.err)


def test_a_job_that_is_deleted_under_the_run_is_said_and_counts_stay_right(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "60s", "--exit-code-on-invalid", "3")
    wait_until(lambda: target.total > 120)
    (job,) = plane.batch.list_namespaced_job(NAMESPACE).items
    plane.batch.delete_namespaced_job(job.metadata.name, NAMESPACE, propagation_policy="Background")
    done = plimsoll.end(master)
    assert done.code in (2, 3), done
    assert f"the Job {job.metadata.name} in namespace load was deleted; its Pods end with it" in done.err, done
    assert target.total - 3 * 60 <= plimsoll.stored()["total"]["requests"] <= target.total


def test_a_restart_of_the_api_server_changes_nothing_for_the_run(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "20s")
    wait_until(lambda: target.total > 120)
    plane.stop_api_server()
    seen = target.total
    wait_until(lambda: target.total > seen + 240)
    plane.start_api_server()
    done = plimsoll.end(master)
    assert done.code == 0, done
    assert "the API server of Kubernetes does not answer: " in done.err, done
    assert "what happens to Pods is not known now" in done.err
    assert plimsoll.stored()["total"]["requests"] == target.total == 1200


def test_an_account_without_rights_is_refused_with_the_rights_that_it_needs(
    plimsoll: Command, plane: ControlPlane
) -> None:
    plimsoll.environment["KUBECONFIG"] = str(plane.kubeconfig("nobody"))
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s")
    assert done.code == 2
    assert done.err.startswith(
        'plimsoll: Kubernetes refuses to create jobs in namespace load: jobs.batch is forbidden: User "nobody"'
    ), done
    assert done.err.endswith(
        "this account needs a Role that allows: create, get, delete jobs; create, delete secrets; list pods; get "
        "pods/log; list events\n"
    )
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s", on="workers=1,namespace=elsewhere")
    assert done.code == 2 and "in namespace elsewhere" in done.err


def test_a_worker_that_is_refused_fails_with_its_own_words_and_is_not_tried_again(
    plimsoll: Command, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(plane.kubelet.environment, "PLIMSOLL_INSECURE_JOIN", "true")
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s", on="workers=1")
    assert done.code == 2
    assert re.search(
        r"plimsoll: Pod \S+ on node-\w has failed with exit code 2; it printed:\n    plimsoll: --insecure-join goes "
        r"without a token; .*\n$",
        done.err,
    ), done


def test_in_a_pod_the_account_of_the_pod_is_used(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {"token": TOKENS["runner"], "namespace": NAMESPACE}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cluster, "OWN_ACCOUNT", tmp_path)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(plane.folder / "apiserver.crt"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(plane.port))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    own = cluster.KubernetesCluster(JobOptions(image="p"))
    assert (own.namespace, own.pods("none", 10)) == (NAMESPACE, [])
    own.close()


def test_a_printed_job_joins_a_master_that_a_person_starts(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    port = free_port()
    plimsoll.environment["PLIMSOLL_JOIN_TOKEN"] = "a token of this test alone"
    where = f"k8s:image=registry.test/plimsoll,workers=2,memory=200Mi,namespace={NAMESPACE}"
    printed = plimsoll(
        "cluster", "manifest", where, "--master-host", "127.0.0.1", "--master-port", str(port), "--name", "by-hand"
    )
    assert printed.code == 0, printed
    secret, job = yaml.safe_load_all(printed.out)
    plane.core.create_namespaced_secret(NAMESPACE, secret)
    plane.batch.create_namespaced_job(NAMESPACE, job)
    done = plimsoll.end(start_master(plimsoll, port, target.url, "--rate", "50/s", "-t", "2s", "--expect-workers", "2"))
    assert done.code == 0, done
    assert plimsoll.stored()["total"]["requests"] == target.total == 100
    wait_until(lambda: "Complete" in conditions(plane, "by-hand"))
    plane.batch.delete_namespaced_job("by-hand", NAMESPACE, propagation_policy="Background")
    plane.core.delete_namespaced_secret("by-hand", NAMESPACE)


def test_workers_that_find_no_master_fail_with_their_own_words(plimsoll: Command, plane: ControlPlane) -> None:
    where = "k8s:image=registry.test/plimsoll,workers=1,memory=200Mi"
    done = plimsoll.in_a_process(
        "run", "--headless", "--on", where, "--master-host", "127.0.0.9", "--master-bind-host", "127.0.0.1",
        "http://127.0.0.1:1/", "-t", "1s", "--expect-workers-max-wait", "5",
    )  # fmt: skip
    assert done.code == 2
    assert "0 of 1 worker have joined within 5 s" in done.err, done


def test_ctrl_c_ends_a_run_and_a_wait_and_both_leave_nothing(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "60s")
    wait_until(lambda: target.total > 60)
    master.send_signal(signal.SIGINT)
    done = plimsoll.end(master)
    assert plimsoll.stored()["total"]["requests"] == target.total, done
    wait_until(lambda: plane.left() == [])
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "60s", on="workers=9")
    wait_until(lambda: len(plane.pods()) == 9)
    master.send_signal(signal.SIGINT)
    done = plimsoll.end(master)
    assert (done.code, done.err.splitlines()[-1]) == (2, "plimsoll: stopped before it had begun"), done


@pytest.mark.exhaustive
def test_pods_of_a_command_that_is_killed_end_by_themselves(
    plimsoll: Command, target: CountingTarget, plane: ControlPlane
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "60s")
    wait_until(lambda: target.total > 60)
    master.kill()
    pods = [plane.kubelet.pods[pod.metadata.uid].process for pod in plane.pods()]
    assert [process.wait(timeout=90) for process in pods] == [2, 2, 2]
    (job,) = plane.batch.list_namespaced_job(NAMESPACE).items
    wait_until(lambda: conditions(plane, job.metadata.name) & {"Failed"})
    # The controller would remove it after five minutes.
    plane.batch.patch_namespaced_job(job.metadata.name, NAMESPACE, {"spec": {"ttlSecondsAfterFinished": 1}})
