"""A real control plane of Kubernetes on 127.0.0.1: etcd, API server, controllers and scheduler, from `make kubernetes`.

Its kubelet is a stand-in: `tests.run.placers.kubelet`.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from tests.command import wait_until
from tests.run.placers.kubelet import Kubelet
from urllib3.exceptions import HTTPError

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = Path(__file__).parents[3] / "target" / "kubernetes" / "control-plane"
NAMESPACE = "load"
TOKENS = {"admin": "admin-token", "runner": "runner-token", "nobody": "nobody-token"}
NODES = ("node-a", "node-b", "node-c")
CPUS = 2
CONTROLLERS = (
    "job-controller,garbage-collector-controller,namespace-controller,ttl-after-finished-controller,"
    "resourcequota-controller"
)
RULES = [
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "get", "delete"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["list"]},
]
"""What docs/guides/many-machines.md says that an account needs; runs of these tests have no more."""


class ControlPlane:
    """folder: for its files."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._etcd, peer, self.port = _free_ports(3)
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "rsa", "-m", "PEM", "-N", "", "-f", folder / "account_key"], check=True
        )
        groups = {"admin": "system:masters"}
        (folder / "tokens.csv").write_text(
            "".join(f"{token},{name},{name},{groups.get(name, name)}\n" for name, token in TOKENS.items())
        )
        for name in TOKENS:
            self.kubeconfig(name).write_text(json.dumps(self._config(name)))
        self._run(
            "etcd", "--data-dir", str(folder / "etcd"), "--unsafe-no-fsync",
            "--listen-client-urls", f"http://127.0.0.1:{self._etcd}",
            "--advertise-client-urls", f"http://127.0.0.1:{self._etcd}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-cluster", f"default=http://127.0.0.1:{peer}",
        )  # fmt: skip
        self.start_api_server()
        kubeconfig = str(self.kubeconfig("admin"))
        settings = ("--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0")
        self._run("controllers", *settings, "--controllers", CONTROLLERS)
        self._run("scheduler", *settings)
        self.api = config.new_client_from_config(kubeconfig)
        self.core, self.batch = client.CoreV1Api(self.api), client.BatchV1Api(self.api)
        self._make_namespace()
        self.kubelet = Kubelet(
            self.api, folder / "kubelet", NODES, CPUS, folder / "apiserver.crt", folder / "apiserver.key", environment
        )
        self.kubelet.start()

    def kubeconfig(self, name: str) -> Path:
        """That of an account in `TOKENS`."""
        return self.folder / f"{name}.kubeconfig"

    def start_api_server(self) -> None:
        """It answers then."""
        key = str(self.folder / "account_key")
        self._run(
            "apiserver", "--etcd-servers", f"http://127.0.0.1:{self._etcd}", "--secure-port", str(self.port),
            "--bind-address=127.0.0.1", "--cert-dir", str(self.folder), "--service-account-key-file", key,
            "--service-account-signing-key-file", key, "--service-account-issuer=https://kubernetes.default.svc",
            "--token-auth-file", str(self.folder / "tokens.csv"), "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
            "--kubelet-preferred-address-types=InternalIP",
        )  # fmt: skip
        wait_until(self._is_ready, 0.2)

    def stop_api_server(self) -> None:
        process = self._processes["apiserver"]
        process.kill()
        process.wait()

    def pods(self) -> list[Any]:
        """Of the namespace."""
        pods: list[Any] = self.core.list_namespaced_pod(NAMESPACE).items
        return pods

    def left(self) -> list[str]:
        """Names of the Jobs, Pods and Secrets that are there."""
        jobs = self.batch.list_namespaced_job(NAMESPACE).items
        secrets = self.core.list_namespaced_secret(NAMESPACE).items
        return [each.metadata.name for each in (*jobs, *self.pods(), *secrets)]

    def close(self) -> None:
        if hasattr(self, "kubelet"):
            self.kubelet.close()
        if hasattr(self, "api"):
            self.api.close()
        for process in reversed(list(self._processes.values())):
            process.kill()
            process.wait()

    def _run(self, part: str, *words: str) -> None:
        with (self.folder / f"{part}.log").open("ab") as log:
            self._processes[part] = subprocess.Popen(
                [PROGRAM, part, *words], stdout=log, stderr=log, cwd=self.folder, stdin=subprocess.DEVNULL
            )

    def _is_ready(self) -> bool:
        process = self._processes["apiserver"]
        assert process.poll() is None, (self.folder / "apiserver.log").read_text()[-2000:]
        if not (self.folder / "apiserver.crt").exists():
            return False
        with contextlib.suppress(HTTPError, OSError, ApiException):
            with config.new_client_from_config(str(self.kubeconfig("admin"))) as api:
                client.CoreV1Api(api).read_namespace("default", _request_timeout=2)
            return True
        return False

    def _make_namespace(self) -> None:
        strict = {"pod-security.kubernetes.io/enforce": "restricted"}
        self.core.create_namespace({"metadata": {"name": NAMESPACE, "labels": strict}})
        rbac = client.RbacAuthorizationV1Api(self.api)
        rbac.create_namespaced_role(NAMESPACE, {"metadata": {"name": "runs"}, "rules": RULES})
        binding = {
            "metadata": {"name": "runs"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "runs"},
            "subjects": [{"kind": "User", "name": "runner", "apiGroup": "rbac.authorization.k8s.io"}],
        }
        rbac.create_namespaced_role_binding(NAMESPACE, binding)

    def _config(self, name: str) -> dict[str, Any]:
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": "apiserver.crt"}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": TOKENS[name]}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name, "namespace": NAMESPACE}}],
        }


def _free_ports(count: int) -> Sequence[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
