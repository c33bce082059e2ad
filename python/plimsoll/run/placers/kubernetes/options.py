"""What stands after `--on k8s:`: KEY=VALUE with commas between."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from plimsoll.errors import UsageError
from plimsoll.load.mistakes import nearest

LONGEST_NAME = 50
"""Names of Pods are made from that of the Job, and have 63 characters at most."""
MOST_WORKERS = 10_000
SPREADS = ("prefer", "require", "none")

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_CPU = re.compile(r"[0-9]+(\.[0-9]{1,3})?|[0-9]+m")
_MEMORY = re.compile(r"[0-9]+(\.[0-9]+)?([KMGT]i?)?")
_IMAGE = re.compile(r"[\w][\w./:@-]*")


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The Job that is asked for. Raises UsageError for values that Kubernetes refuses."""

    image: str = ""
    """It has Plimsoll, of the same version."""
    workers: int = 1
    """Over all Pods; one core each."""
    per_pod: int = 1
    """Workers of each Pod."""
    cpu: str = ""
    """Cores of each Pod, as Kubernetes writes them; "": one for each of its workers."""
    memory: str = "1Gi"
    """Memory of each Pod."""
    spread: str = "prefer"
    """Whether Pods are spread evenly over nodes: one of `SPREADS`."""
    namespace: str = ""
    """"": that of the context, or of the Pod in which the command runs."""
    context: str = ""
    """Of the kubeconfig; "": the current one."""
    account: str = ""
    """The service account of the Pods; "": that of the namespace."""

    def __post_init__(self) -> None:
        if not _IMAGE.fullmatch(self.image):
            raise UsageError(
                f"image={self.image} is not the name of an image; write image=REGISTRY/plimsoll:VERSION"
                if self.image
                else "name the image of the workers: k8s:image=REGISTRY/plimsoll:VERSION,workers=4"
            )
        for name, count in (("workers", self.workers), ("per_pod", self.per_pod)):
            if not 1 <= count <= MOST_WORKERS:
                raise UsageError(f"{name}={count}: from 1 to {MOST_WORKERS}")
        if self.workers % self.per_pod:
            raise UsageError(f"workers={self.workers} is no multiple of per_pod={self.per_pod}: all Pods are the same")
        if not _CPU.fullmatch(self.cpu or "1"):
            raise UsageError(f"cpu={self.cpu}: cores as Kubernetes writes them, as 2 or 500m")
        if not _MEMORY.fullmatch(self.memory):
            raise UsageError(f"memory={self.memory}: a size of Kubernetes, as 4Gi or 500Mi")
        if self.spread not in SPREADS:
            raise UsageError(f"spread={self.spread}: one of {', '.join(SPREADS)}")
        for name, value in (("namespace", self.namespace), ("account", self.account)):
            if value and not _NAME.fullmatch(value):
                raise UsageError(f"{name}={value}: small letters, digits and dashes")

    @classmethod
    def of(cls, text: str) -> JobOptions:
        """Raises UsageError that names the key."""
        known = {field.name for field in fields(cls)}
        values: dict[str, str | int] = {}
        for setting in filter(None, text.split(",")):
            key, equals, value = setting.strip().partition("=")
            if key not in known or not equals:
                meant = nearest(key, known)
                guess = f"; did you mean {meant}=?" if meant and meant != key else ""
                raise UsageError(f"{setting} is not understood{guess}; there are {', '.join(sorted(known))}")
            if key in ("workers", "per_pod"):
                if not value.isdecimal() or len(value) > len(str(MOST_WORKERS)):
                    raise UsageError(f"{setting}: from 1 to {MOST_WORKERS}")
                values[key] = int(value)
            else:
                values[key] = value
        return replace(cls(image=str(values.pop("image", ""))), **values)  # type: ignore[arg-type]

    @property
    def pods(self) -> int:
        return self.workers // self.per_pod

    @property
    def cores(self) -> str:
        """Of each Pod."""
        return self.cpu or str(self.per_pod)


def checked_name(name: str) -> str:
    """The name of a Job. Raises UsageError for one that Kubernetes refuses."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise UsageError(f"--name {name}: small letters, digits and dashes, {LONGEST_NAME} at most")
    return name
