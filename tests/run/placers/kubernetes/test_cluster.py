from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.placers.kubernetes import cluster, placer
from plimsoll.run.placers.kubernetes.cluster import KubernetesCluster
from plimsoll.run.placers.kubernetes.options import JobOptions
from plimsoll.run.placers.kubernetes.placer import KubernetesPlacer
from plimsoll.run.placers.placer import MasterAddress

if TYPE_CHECKING:
    from pathlib import Path


def test_the_address_is_found_in_a_pod_and_asked_for_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UsageError, match=r"say by which address Pods reach this machine: --master-host ADDRESS"):
        KubernetesPlacer(JobOptions(image="p")).start(MasterAddress(None, 5557, "a token"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setattr(cluster, "OWN_ACCOUNT", tmp_path)
    monkeypatch.setattr(placer, "reachable", lambda _: "10.1.2.3")
    assert placer._own_address() == "10.1.2.3"


def test_without_a_cluster_or_its_client_what_to_do_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UsageError, match=r"no Kubernetes cluster is known here: .*; set KUBECONFIG, or name a context"):
        KubernetesCluster(JobOptions(image="p"))
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(UsageError, match=r"needs the client of Kubernetes: pip install 'plimsoll-lab\[kubernetes\]'"):
        KubernetesCluster(JobOptions(image="p"))
