"""A stand-in for the kubelet: the containers of Pods are processes of this machine.

It is the one part of Kubernetes in these tests that is not the real one: there is no container runtime here. It starts
each Pod's command, with its variables from Secrets, and tells the API server phase, exit code and log.
"""

from __future__ import annotations

import contextlib
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from kubernetes.client import CoreV1Api
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

if TYPE_CHECKING:
    from pathlib import Path

    from kubernetes.client import ApiClient

LOOK_S = 0.1


@dataclass
class RunningPod:
    """The process of a Pod."""

    process: subprocess.Popen[bytes]
    log: Path
    kill_at: float | None = None
    """By time.monotonic(), once it was told to end."""
    is_reported: bool = False
    """The API server knows how it ended."""


@dataclass
class Kubelet:
    """All nodes of a cluster. nodes: their names. cpus: cores of each. certificate, key: of its HTTPS server."""

    client: ApiClient
    folder: Path
    nodes: tuple[str, ...]
    cpus: int
    certificate: Path
    key: Path
    environment: dict[str, str] = field(default_factory=dict)
    pods: dict[str, RunningPod] = field(default_factory=dict)
    """By uid."""

    def start(self) -> None:
        self.core = CoreV1Api(self.client)
        self.folder.mkdir()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.folder))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        for name in self.nodes:
            self._register(name)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._server.shutdown()
        self._server.server_close()
        for pod in self.pods.values():
            _signal(pod, signal.SIGKILL)
            pod.process.wait()

    def _register(self, name: str) -> None:
        self.core.create_node({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        sizes = {"cpu": str(self.cpus), "memory": "16Gi", "pods": "100"}
        status = {
            "capacity": sizes,
            "allocatable": sizes,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "stand-in"}],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._server.server_port}},
        }
        self.core.patch_node_status(name, {"status": status})
        self.core.patch_node(name, {"spec": {"taints": None}})

    def _serve(self) -> None:
        while not self._is_over.wait(LOOK_S):
            # The API server may be away for a while; processes go on.
            with contextlib.suppress(HTTPError, OSError, ApiException):
                for pod in self.core.list_pod_for_all_namespaces(_request_timeout=5).items:
                    if pod.spec.node_name in self.nodes:
                        with contextlib.suppress(ApiException):
                            self._look(pod)

    def _look(self, pod: Any) -> None:
        running = self.pods.get(pod.metadata.uid)
        if running is None:
            if pod.metadata.deletion_timestamp is not None:
                self._remove(pod)
            elif pod.status.phase == "Pending":
                self._start(pod)
            return
        if pod.metadata.deletion_timestamp is not None and running.kill_at is None:
            _signal(running, signal.SIGTERM)
            running.kill_at = time.monotonic() + (pod.metadata.deletion_grace_period_seconds or 0)
        if (code := running.process.poll()) is None:
            if running.kill_at is not None and time.monotonic() > running.kill_at:
                _signal(running, signal.SIGKILL)
            return
        if not running.is_reported:
            code = 128 - code if code < 0 else code
            ended = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error"}}
            self._tell(pod, "Failed" if code else "Succeeded", ended)
            running.is_reported = True
        if pod.metadata.deletion_timestamp is not None:
            self._remove(pod)

    def _start(self, pod: Any) -> None:
        (container,) = pod.spec.containers
        environment = dict(self.environment)
        for variable in container.env or ():
            if (reference := variable.value_from.secret_key_ref) is None:
                continue  # the index of the Pod, which no worker reads
            # Raises until the Secret is there; the next look tries again.
            secret = self.core.read_namespaced_secret(reference.name, pod.metadata.namespace)
            environment[variable.name] = _decoded(secret.data[reference.key])
        log = self.folder / f"{pod.metadata.namespace}_{pod.metadata.name}"
        program, *words = container.command
        assert program == "plimsoll"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "plimsoll", *words],
                env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                start_new_session=True,
            )  # fmt: skip
        self.pods[pod.metadata.uid] = RunningPod(process, log)
        self._tell(pod, "Running", {"running": {}})

    def _tell(self, pod: Any, phase: str, state: dict[str, Any]) -> None:
        (container,) = pod.spec.containers
        shown = {
            "name": container.name, "image": container.image, "imageID": "", "restartCount": 0,
            "ready": phase == "Running", "state": state,
        }  # fmt: skip
        status = {"phase": phase, "containerStatuses": [shown]}
        self.core.patch_namespaced_pod_status(pod.metadata.name, pod.metadata.namespace, {"status": status})

    def _remove(self, pod: Any) -> None:
        self.core.delete_namespaced_pod(pod.metadata.name, pod.metadata.namespace, grace_period_seconds=0)


def _signal(pod: RunningPod, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pod.process.pid, number)


def _decoded(data: Any) -> str:
    import base64

    return base64.b64decode(data).decode()


def _handler(folder: Path) -> type[BaseHTTPRequestHandler]:
    class Logs(BaseHTTPRequestHandler):
        """GET /containerLogs/NAMESPACE/POD/CONTAINER, as the API server asks for it."""

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            _, _, namespace, pod, _ = address.path.split("/")
            asked = parse_qs(address.query)
            lines = (folder / f"{namespace}_{pod}").read_bytes().splitlines(keepends=True)
            data = b"".join(lines[-int(asked.get("tailLines", ["1000"])[0]) :])
            data = data[: int(asked.get("limitBytes", ["1000000"])[0])]
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Logs
