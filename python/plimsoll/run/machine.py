"""What of this machine moves a number, or ends a run: its clock speed, its share of the CPU, its limits."""

from __future__ import annotations

import os
import platform
import resource
from pathlib import Path
from typing import Any

from plimsoll.run.control_group import cpu_quota, memory_limit

_ROOT = Path("/")


def machine(root: Path = _ROOT) -> dict[str, Any]:
    """JSON; what is not known here is null. root: where sys and proc are.

    - hostname
    - governor: how the clock speed of CPU 0 is chosen; null where the host of a virtual machine does it
    - cpus: how many this process may run on
    - cpu_quota: how many cores' worth of time its control group may take; null: no limit
    - memory_limit: bytes that its control group may have; null: no limit
    - somaxconn: most connections that may wait for a server here to accept them
    """
    somaxconn = _read(root, "proc/sys/net/core/somaxconn")
    return {
        "hostname": platform.node() or None,
        "governor": _read(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "cpus": usable_cpus(),
        "cpu_quota": cpu_quota(root),
        "memory_limit": memory_limit(root),
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


def _read(root: Path, path: str) -> str | None:
    try:
        return (root / path).read_text().strip() or None
    except OSError:
        return None
