"""What of this machine moves a number, or ends a run: its clock speed, its share of the CPU, its limits.

A container is a control group. Its limits are in /sys/fs/cgroup, not in what the machine tells. Version 2 has one tree;
version 1 has a tree per controller, and both may be there at once.
"""

from __future__ import annotations

import platform
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.record.facts import CpuPeriods
from plimsoll.record.manifest import Computer, ProcessLimits
from plimsoll.run.limits import usable_cpus

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("/")
_UNLIMITED_BYTES = 1 << 60
"""Version 1 says "no limit" with a number of this size."""


def machine(root: Path = ROOT) -> Computer:
    """This machine. root: where sys and proc are."""
    somaxconn = _read(root / "proc/sys/net/core/somaxconn")
    return Computer(
        hostname=platform.node() or None,
        governor=_read(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        cpus=usable_cpus(),
        cpu_quota=cpu_quota(root),
        memory_limit=memory_limit(root),
        somaxconn=int(somaxconn) if somaxconn and somaxconn.isdigit() else None,
    )


def limits() -> ProcessLimits:
    """Limits of this process and its workers."""
    soft, hard = (
        None if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    return ProcessLimits(open_files=soft, open_files_hard=hard)


def cpu_quota(root: Path = ROOT) -> float | None:
    """How many cores' worth of time this process may take: the least of its group and of those that it is part of.
    None: no limit. root: where sys and proc are."""
    quotas = []
    for folder in _folders(root, "cpu"):
        quota, _, period = (_read(folder / "cpu.max") or "").partition(" ")
        if not quota:
            quota, period = (_read(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
        if quota.isdigit() and period.isdigit() and int(period):
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def memory_limit(root: Path = ROOT) -> int | None:
    """Bytes that this process and the others of its group may have, in the same way."""
    values = (value for folder in _folders(root, "memory") for value in _memory(folder))
    return min((value for value in values if value < _UNLIMITED_BYTES), default=None)


def memory_left(root: Path = ROOT) -> int | None:
    """Bytes up to the nearest of these limits. What the kernel can drop at once, files it has read, counts as free."""
    free = []
    for folder in _folders(root, "memory"):
        used = next(_numbers(folder, "memory.current", "memory.usage_in_bytes"), None)
        if used is not None:
            stat = _stat(folder / "memory.stat")
            idle = stat.get("inactive_file", 0)
            free += [limit - used + idle for limit in _memory(folder) if limit < _UNLIMITED_BYTES]
    return None if not free else max(0, min(free))


def cpu_periods(root: Path = ROOT) -> dict[Path, CpuPeriods]:
    """Of each group with a limit that this process is in, since the group was made."""
    stats = ((folder, _stat(folder / "cpu.stat")) for folder in _folders(root, "cpu"))
    return {
        folder: CpuPeriods(stat["nr_periods"], stat.get("nr_throttled", 0))
        for folder, stat in stats
        if stat.get("nr_periods")
    }


def throttled_since(before: dict[Path, CpuPeriods], now: dict[Path, CpuPeriods]) -> CpuPeriods:
    """What happened in between to the group that was throttled most."""
    none = CpuPeriods()
    passed = [
        CpuPeriods(
            periods.periods - before.get(folder, none).periods, periods.throttled - before.get(folder, none).throttled
        )
        for folder, periods in now.items()
    ]
    return max(passed, key=lambda periods: periods.throttled, default=none)


class PeriodsSince:
    """Counts the periods of this process's groups from a moment on."""

    def __init__(self, root: Path = ROOT) -> None:
        """From now on. root: where sys and proc are."""
        self._root = root
        self._before = cpu_periods(root)

    def restart(self) -> None:
        self._before = cpu_periods(self._root)

    def passed(self) -> CpuPeriods:
        return throttled_since(self._before, cpu_periods(self._root))


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Of the group that this process is in, and of those around it. In a container the mount may begin at its own
    group, which /proc names with its full path: folders that are not there are passed over."""
    top = root / "sys/fs/cgroup"
    groups = {"": "/", controller: "/"}
    for line in (_read(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        groups |= dict.fromkeys(controllers.split(","), path)
    mounts = {top: groups[""], top / "unified": groups[""], top / controller: groups[controller]}
    mounts[top / "cpu,cpuacct"] = groups[controller]
    for mount, path in mounts.items():
        own = mount / path.lstrip("/")
        yield from (folder for folder in (own, *own.parents) if folder == mount or mount in folder.parents)


def _memory(folder: Path) -> Iterator[int]:
    return _numbers(folder, "memory.max", "memory.limit_in_bytes")


def _numbers(folder: Path, *names: str) -> Iterator[int]:
    texts = (_read(folder / name) or "" for name in names)
    return (int(text) for text in texts if text.isdigit())


def _stat(path: Path) -> dict[str, int]:
    pairs = (line.partition(" ") for line in (_read(path) or "").splitlines())
    return {name: int(value) for name, _, value in pairs if value.isdigit()}


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None
