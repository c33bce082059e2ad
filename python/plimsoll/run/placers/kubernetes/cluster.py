"""Kubernetes through its official client: what the placer asks of it, and nothing else."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.distribution import pip_install
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.plain_text import one_line, plain_lines
from plimsoll.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.placers.kubernetes.manifests import Manifest
    from plimsoll.run.placers.kubernetes.options import JobOptions

TIMEOUT_S = (3.0, 10.0)
"""Seconds to connect, and for a reply."""
LOG_LINES = 12
LOG_BYTES = 4000
LONGEST_MESSAGE = 500
MOST_EVENTS = 50
OWN_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""What a Pod knows of its cluster."""
FORBIDDEN, GONE, UNAUTHORIZED = 403, 404, 401


class GoneError(PlimsollError):
    """The object is not there."""


class UnreachableError(PlimsollError):
    """The API server does not answer now."""


@dataclass(frozen=True, slots=True)
class PodState:
    """A Pod of the Job."""

    uid: str
    name: str
    index: str
    node: str
    phase: str
    why: str
    """Why it waits, or has failed; "" if it says nothing."""
    exit_code: int | None
    is_leaving: bool
    """It was deleted, and has not ended yet."""


class KubernetesCluster:
    """The namespace of a cluster. Raises UsageError if it cannot be known or reached with these options."""

    def __init__(self, options: JobOptions) -> None:
        try:
            from kubernetes import client, config
        except ImportError as error:
            raise UsageError(f"--on k8s needs the client of Kubernetes: {pip_install('kubernetes')}") from error
        settings = client.Configuration()
        try:
            if is_in_pod() and not options.context and not _has_kubeconfig():
                config.load_incluster_config(client_configuration=settings)
                own = (OWN_ACCOUNT / "namespace").read_text().strip()
            else:
                config.load_kube_config(client_configuration=settings, context=options.context or None)
                own = _namespace(config, options.context)
            self.namespace = options.namespace or own
        except config.ConfigException as error:
            raise UsageError(
                f"no Kubernetes cluster is known here: {one_line(str(error))}; set KUBECONFIG, or name a context: "
                "k8s:context=NAME"
            ) from error
        settings.retries = False
        self._api = client.ApiClient(settings)
        self._core, self._batch = client.CoreV1Api(self._api), client.BatchV1Api(self._api)

    def create_job(self, manifest: Manifest) -> str:
        """Its uid. Raises PlimsollError."""
        with self._asking("create", "jobs"):
            made = self._batch.create_namespaced_job(self.namespace, manifest, _request_timeout=TIMEOUT_S)
            return str(made.metadata.uid)

    def create_secret(self, manifest: Manifest) -> None:
        """Raises PlimsollError."""
        with self._asking("create", "secrets"):
            self._core.create_namespaced_secret(self.namespace, manifest, _request_timeout=TIMEOUT_S)

    def delete_job(self, name: str) -> None:
        """With its Pods, and what it owns. Raises PlimsollError."""
        with self._asking("delete", "jobs"):
            self._batch.delete_namespaced_job(
                name, self.namespace, propagation_policy="Background", _request_timeout=TIMEOUT_S
            )

    def delete_secret(self, name: str) -> None:
        """Raises PlimsollError."""
        with self._asking("delete", "secrets"):
            self._core.delete_namespaced_secret(name, self.namespace, _request_timeout=TIMEOUT_S)

    def job_failure(self, name: str) -> str:
        """Why the Job has failed; "" if it has not. Raises PlimsollError; GoneError."""
        with self._asking("get", "jobs"):
            found = self._batch.read_namespaced_job(name, self.namespace, _request_timeout=TIMEOUT_S)
        for condition in found.status.conditions or ():
            if condition.type == "Failed" and condition.status == "True":
                return _said(condition.message or condition.reason)
        return ""

    def pods(self, job: str, most: int) -> list[PodState]:
        """The Pods of a Job, at most so many. Raises PlimsollError."""
        with self._asking("list", "pods"):
            found = self._core.list_namespaced_pod(
                self.namespace, label_selector=f"job-name={job}", limit=most, _request_timeout=TIMEOUT_S
            )
        return [_pod_state(pod) for pod in found.items]

    def log(self, pod: str, token: str) -> str:
        """The last lines of what it has printed, without secrets; "" if there are none to be had."""
        try:
            with self._asking("get", "pods/log"):
                text = self._core.read_namespaced_pod_log(
                    pod, self.namespace, tail_lines=LOG_LINES, limit_bytes=LOG_BYTES, _request_timeout=TIMEOUT_S
                )
        except PlimsollError:
            return ""
        return redact(plain_lines(str(text)[:LOG_BYTES].replace(token, "***")).strip())

    def warning(self, job: str) -> str:
        """The last warning about a Job itself, as that of a quota; "" if there is none. Raises PlimsollError."""
        with self._asking("list", "events"):
            found = self._core.list_namespaced_event(
                self.namespace, field_selector=f"involvedObject.kind=Job,involvedObject.name={job},type=Warning",
                limit=MOST_EVENTS, _request_timeout=TIMEOUT_S,
            )  # fmt: skip
        return _said(found.items[-1].message) if found.items else ""

    def close(self) -> None:
        """Close its connections."""
        self._api.close()

    @contextmanager
    def _asking(self, verb: str, what: str) -> Iterator[None]:
        """What the client raises becomes an error for people. verb, what: as a Role has them."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        try:
            yield
        except ApiException as error:
            if error.status == GONE and "namespaces" not in _message(error):
                raise GoneError(_message(error)) from error
            if error.status in (FORBIDDEN, UNAUTHORIZED):
                raise UsageError(
                    f"Kubernetes refuses to {verb} {what} in namespace {self.namespace}: {_message(error)}; this "
                    "account needs a Role that allows: create, get, delete jobs; create, delete secrets; list pods; "
                    "get pods/log; list events"
                ) from error
            if error.status is None or error.status >= 500:
                raise UnreachableError(f"the API server cannot {verb} {what}: {_message(error)}") from error
            raise UsageError(
                f"Kubernetes cannot {verb} {what} in namespace {self.namespace}: {_message(error)}"
            ) from error
        except (HTTPError, OSError) as error:
            raise UnreachableError(f"the API server of Kubernetes does not answer: {_said(str(error))}") from error


def is_in_pod() -> bool:
    """The command runs in a Pod."""
    return "KUBERNETES_SERVICE_HOST" in os.environ and OWN_ACCOUNT.exists()


def _has_kubeconfig() -> bool:
    return "KUBECONFIG" in os.environ or (Path.home() / ".kube" / "config").exists()


def _namespace(config: Any, context: str) -> str:
    """That of a context of the kubeconfig; "": the current one."""
    contexts, active = config.list_kube_config_contexts()
    chosen = next((entry for entry in contexts if entry["name"] == context), active)
    return str(chosen["context"].get("namespace") or "default")


def _message(error: Any) -> str:
    """What an ApiException says: its body is a Status object."""
    import json

    try:
        return _said(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        return _said(error.reason or str(error))


def _said(text: object) -> str:
    return redact(one_line(str(text or ""))[:LONGEST_MESSAGE])


def _pod_state(pod: Any) -> PodState:
    labels, status = pod.metadata.labels or {}, pod.status
    why, code = _said(status.message or status.reason), None
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            why = _said(condition.message or condition.reason)
        elif condition.type == "DisruptionTarget" and condition.status == "True":
            why = _said(f"{condition.reason}: {condition.message}")
    for container in status.container_statuses or ():
        state = container.state
        if state is not None and state.waiting is not None and state.waiting.reason != "ContainerCreating":
            why = _said(f"{state.waiting.reason}: {state.waiting.message or ''}".rstrip(": "))
        if state is not None and state.terminated is not None:
            code = state.terminated.exit_code
            if state.terminated.reason == "OOMKilled":
                why = "OOMKilled: give the Pods more memory="
    return PodState(
        uid=str(pod.metadata.uid),
        name=str(pod.metadata.name),
        index=str(labels.get("batch.kubernetes.io/job-completion-index", "?")),
        node=str(pod.spec.node_name or ""),
        phase=str(status.phase or ""),
        why=why,
        exit_code=code,
        is_leaving=pod.metadata.deletion_timestamp is not None,
    )
