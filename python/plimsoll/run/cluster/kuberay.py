"""The RayCluster of KubeRay, for a cluster on Kubernetes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.errors import UsageError

LONGEST_NAME = 50
"""KubeRay makes names of pods from it, which have 63 characters at most."""
HEALTH = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
"""With these a head notices a node that is gone after 1.5 s and one that hangs after 6 s, instead of 15 s and a minute.
"""

GCS_PORT = 6379
"""Of the head; it is Ray's default."""
RAYLET_PORT = 6380
"""Of a worker's pod. Ray would choose one at random, which no probe could name."""

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_MEMORY = re.compile(r"[0-9]+(\.[0-9]+)?([KMGT]i?)?")
_IMAGE = re.compile(r"[\w][\w./:@-]*")


@dataclass(frozen=True, slots=True)
class KubeRayCluster:
    """Machines of a cluster on Kubernetes. Raises UsageError for names and sizes that Kubernetes refuses."""

    name: str
    workers: int
    """Pods with workers; the head has none."""
    cpus: int
    """Of each of them: whole cores."""
    memory: str
    """The same, as Kubernetes has it: 4Gi."""
    image: str
    """Of Plimsoll, with Ray."""
    ray_version: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > LONGEST_NAME:
            raise UsageError(
                f"--name {self.name}: small letters, digits and dashes, a letter first, {LONGEST_NAME} at most"
            )
        if not _MEMORY.fullmatch(self.memory):
            raise UsageError(f"--memory {self.memory}: a size of Kubernetes, as 4Gi or 500Mi")
        if not _IMAGE.fullmatch(self.image):
            raise UsageError(f"--image {self.image}: not the name of an image")

    def to_yaml(self) -> str:
        """For `kubectl apply -f -`."""
        env = "\n".join(f'          - name: {name}\n            value: "{value}"' for name, value in HEALTH.items())
        return f"""\
# A Ray cluster for Plimsoll: kubectl apply -f this. It needs KubeRay 1.5.1 or later.
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: {self.name}
spec:
  rayVersion: "{self.ray_version}"
  # KubeRay makes a Secret with a token, and gives it to all containers: others cannot use the cluster.
  authOptions:
    mode: token
  headGroupSpec:
    rayStartParams:
      # The run's coordinator is here, and no worker.
      num-cpus: "0"
    template:
      spec:
        containers:
        - name: ray-head
          image: {self.image}
          env:
{env}
{_probes(GCS_PORT)}
          resources:
{_resources(2, "4Gi")}
  workerGroupSpecs:
  - groupName: workers
    replicas: {self.workers}
    minReplicas: {self.workers}
    maxReplicas: {self.workers}
    rayStartParams:
      node-manager-port: "{RAYLET_PORT}"
    template:
      spec:
        # Two of them on one machine would disturb each other.
        topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              ray.io/cluster: {self.name}
              ray.io/node-type: worker
        containers:
        - name: ray-worker
          image: {self.image}
{_probes(RAYLET_PORT)}
          # Requests that equal limits keep the cores for the generator.
          resources:
{_resources(self.cpus, self.memory)}
"""


def _probes(port: int) -> str:
    """KubeRay's own probes ask Ray's dashboard and its agent. Plain Ray has neither, so all pods would be ended. A
    connection costs a generator next to nothing."""
    return "\n".join(
        f"""\
          {name}Probe:
            tcpSocket:
              port: {port}
            periodSeconds: 5
            failureThreshold: {failures}"""
        for name, failures in (("readiness", 3), ("liveness", 24))
    )


def _resources(cpus: int, memory: str) -> str:
    sizes = "\n".join(f'{" " * 14}{name}: "{value}"' for name, value in (("cpu", cpus), ("memory", memory)))
    return "\n".join(f"{' ' * 12}{kind}:\n{sizes}" for kind in ("requests", "limits"))
