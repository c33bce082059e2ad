"""The Job and the Secret of placed workers, as Kubernetes reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from plimsoll.run.placers.placer import MASTER_WAIT_S, REFUSED, worker_words
from plimsoll.run.transport.join_token import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.placers.kubernetes.options import JobOptions

Value: TypeAlias = "bool | int | str | list[Value] | dict[str, Value]"
Manifest: TypeAlias = dict[str, Value]

CONTAINER = "worker"
TOKEN_KEY = "token"
RETRIES = 5
"""Of one index, after Pods that failed of themselves. Pods that are evicted do not count."""
GRACE_S = 10
FINISHED_S = 300
"""Seconds after which a Job that has ended is removed, if the command that made it could not."""


def job(name: str, options: JobOptions, host: str, port: int, wait: int = MASTER_WAIT_S) -> Manifest:
    """The indexed Job. name: also of the Secret. host, port: where the master is. wait: seconds for which its workers
    look for the master."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(name, options.namespace),
        "spec": {
            "completions": options.pods,
            "parallelism": options.pods,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": RETRIES,
            "ttlSecondsAfterFinished": FINISHED_S,
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "FailIndex",
                        "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": [REFUSED]},
                    },
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                ]
            },
            "template": {"metadata": {"labels": _labels(name)}, "spec": _pod(name, options, host, port, wait)},
        },
    }


def secret(name: str, namespace: str, token: str, owner: str = "") -> Manifest:
    """The Secret with the join token. owner: the uid of the Job, with which it is removed; "": it has none."""
    metadata = _metadata(name, namespace)
    if owner:
        reference: Manifest = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner}
        metadata["ownerReferences"] = [reference]
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "stringData": {TOKEN_KEY: token},
    }


def _metadata(name: str, namespace: str) -> Manifest:
    """namespace: "": the one that is used where it is created."""
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": _labels(name)}


def _labels(name: str) -> Manifest:
    return {"app.kubernetes.io/name": "plimsoll", "app.kubernetes.io/instance": name}


def _pod(name: str, options: JobOptions, host: str, port: int, wait: int) -> Manifest:
    resources: Manifest = {"cpu": options.cores, "memory": options.memory}
    command: list[Value] = ["plimsoll", *worker_words(host, port, options.per_pod, wait)]
    pod: Manifest = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        # A worker has no business with the cluster.
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        # With that of the container, what the strictest of the Pod security standards asks for.
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": CONTAINER,
                "image": options.image,
                "command": command,
                "env": [{"name": VARIABLE, "valueFrom": {"secretKeyRef": {"name": name, "key": TOKEN_KEY}}}],
                # Requests that equal limits keep the cores for the generator.
                "resources": {"requests": resources, "limits": resources},
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }
        ],
    }
    if options.account:
        pod["serviceAccountName"] = options.account
    if options.spread != "none":
        pod["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule" if options.spread == "require" else "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app.kubernetes.io/instance": name}},
            }
        ]
    return pod


def to_yaml(manifests: list[Manifest]) -> str:
    """For `kubectl apply -f -`."""
    return "".join("---\n" + "".join(f"{line}\n" for line in _lines(manifest, "")) for manifest in manifests)


def _lines(value: Value, indent: str) -> Iterator[str]:
    """Of a mapping or a list that is not empty."""
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield f"{indent}{key}:"
                yield from _lines(member, indent if isinstance(member, list) else f"{indent}  ")
            else:
                yield f"{indent}{key}: {json.dumps(member)}"
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, dict | list):
                first, *others = _lines(member, f"{indent}  ")
                yield f"{indent}- {first[len(indent) + 2 :]}"
                yield from others
            else:
                yield f"{indent}- {json.dumps(member)}"
