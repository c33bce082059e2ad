"""The number of cores that processes may use, by their affinity and the quota of their control groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from plimsoll.observe.owners import CGROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable

PROC = Path("/proc")


def cores_of(processes: Iterable[psutil.Process]) -> float:
    """For all of them together; the machine's cores if the system does not report limits."""
    allowed: set[int] = set()
    quotas: dict[str, float] = {}
    for process in processes:
        try:
            # macOS has no affinity.
            allowed.update(process.cpu_affinity() if hasattr(process, "cpu_affinity") else ())
            group = _group_of(process.pid)
        except (psutil.Error, OSError):
            continue
        quotas.setdefault(group, _quota(CGROUPS / group) if group else float("inf"))
    cores = float(len(allowed) or machine_cores())
    return min(cores, sum(quotas.values())) if quotas else cores


def machine_cores() -> int:
    return psutil.cpu_count() or 1


def _group_of(pid: int) -> str:
    """Its control group (version 2) below the root; "" for the root, and without one."""
    lines = (PROC / str(pid) / "cgroup").read_text().splitlines()
    return next((line[4:] for line in lines if line.startswith("0::/")), "")


def _quota(group: Path) -> float:
    """The lowest quota of the group and its ancestors, in cores."""
    found = float("inf")
    while group != CGROUPS:
        try:
            quota, period = (group / "cpu.max").read_text().split()
            found = min(found, float(quota) / float(period))
        except (OSError, ValueError):
            pass  # "max" is no number: no quota here
        group = group.parent
    return found
