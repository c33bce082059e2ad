"""The placers that there are, and the notation of `--on`: NAME[:WHERE]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.doors import members
from plimsoll.errors import UsageError
from plimsoll.load.mistakes import nearest
from plimsoll.run.placers.placer import PlacerKind

if TYPE_CHECKING:
    from plimsoll.run.placers.placer import Placer

GROUP = "plimsoll.placers"
"""The entry points by which another package adds a placer: objects of `PlacerKind`."""

# Each function imports what its placer needs: most runs have none.


def _ssh(where: str) -> Placer:
    from plimsoll.run.placers.ssh import SshPlacer

    return SshPlacer.of(where)


def _kubernetes(where: str) -> Placer:
    from plimsoll.run.placers.kubernetes.options import JobOptions
    from plimsoll.run.placers.kubernetes.placer import KubernetesPlacer

    return KubernetesPlacer(JobOptions.of(where))


def _ray(where: str) -> Placer:
    from plimsoll.run.placers.ray import RayOptions, RayPlacer

    return RayPlacer(RayOptions.of(where))


PLACERS = {
    "ssh": PlacerKind("ssh:hosts.txt", "hosts of a file, or USER@HOST,HOST, over the system's ssh", _ssh),
    "ray": PlacerKind("ray:10.0.0.1:6379,nodes=8", "machines of a Ray cluster, as --cluster and --nodes say", _ray),
    "k8s": PlacerKind("k8s:image=IMAGE,workers=4", "Pods of an indexed Job on Kubernetes", _kubernetes),
}
"""All placers by the name that `--on` has."""


def placer_of(text: str, said: str = "") -> Placer:
    """text: as in `PLACERS`. said: the option that asks for it, if it is not --on. Raises UsageError that names it."""
    said = said or f"--on {text}"
    name, _, where = text.partition(":")
    kinds = members(GROUP, PlacerKind, PLACERS)
    if (kind := kinds.get(name)) is None:
        meant = nearest(name, kinds)
        guess = f"; did you mean {meant}?" if meant else ""
        examples = ", ".join(kinds[name].example for name in sorted(kinds))
        raise UsageError(f"{said}: there is no such placer{guess}; there are {examples}")
    try:
        return kind.make(where)
    except UsageError as error:
        raise UsageError(f"{said}: {error}") from error
