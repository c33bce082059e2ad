"""What of this machine moves a number, or ends a run: its clock speed, its share of the CPU, its limits."""

from __future__ import annotations

import os
import platform
import resource
from pathlib import Path
from typing import Any

_ROOT = Path("/")


def machine(root: Path = _ROOT) -> dict[str, Any]:
    """JSON; what is not known here is null. root: where sys and proc are.

    - hostname
    - governor: how the clock speed of CPU 0 is chosen; null where the host of a virtual machine does it
    - cpus: how many this process may run on
    - cpu_quota: how many cores' worth of time its control group may take; null: no limit
    - somaxconn: most connections that may wait for a server here to accept them
    """
    somaxconn = _read(root, "proc/sys/net/core/somaxconn")
    return {
        "hostname": platform.node() or None,
        "governor": _read(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "cpus": usable_cpus(),
        "cpu_quota": _cpu_quota(root),
        "somaxconn": int(somaxconn) if somaxconn and somaxconn.isdigit() else None,
    }


def usable_cpus() -> int:
    """How many this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limits() -> dict[str, Any]:
    """Of this process and its workers, JSON: open_files now, and open_files_hard, which it could be raised to. null: as
    many as one likes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {
        "open_files": soft if soft != resource.RLIM_INFINITY else None,
        "open_files_hard": hard if hard != resource.RLIM_INFINITY else None,
    }


def _cpu_quota(root: Path) -> float | None:
    """The least of our control group and of those that it is part of, in version 2; else what version 1 says."""
    own = next((line[3:] for line in (_read(root, "proc/self/cgroup") or "").splitlines() if line[:3] == "0::"), "/")
    top = root / "sys/fs/cgroup"
    group = top / own.lstrip("/")
    found = []
    for folder in (group, *group.parents):
        if folder.is_relative_to(top) and (text := _read(folder, "cpu.max")):
            quota, _, period = text.partition(" ")
            found += [int(quota) / int(period)] if quota.isdigit() and period.isdigit() else []
    quota_1, period_1 = (_read(top, f"cpu/cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
    found += [int(quota_1) / int(period_1)] if quota_1.isdigit() and period_1.isdigit() else []
    return min(found, default=None)


def _read(root: Path, path: str) -> str | None:
    try:
        return (root / path).read_text().strip() or None
    except OSError:
        return None
