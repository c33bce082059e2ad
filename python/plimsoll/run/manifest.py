"""What is needed to repeat a run, and to judge it: plan, versions, machine."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.run.plan import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.plan import RunPlan

PACKAGES = ("plimsoll", "gevent", "greenlet", "requests", "msgpack", "sqlalchemy")
"""Those whose version may move a number."""
_GIT_PATIENCE = 5.0


def manifest(plan: RunPlan, command: Sequence[str], name: str | None) -> dict[str, Any]:
    """All but `started` and `stamp`, which are known when the run begins. name: of the scenario, else the file's."""
    return {
        "tool": "plimsoll",
        "version": version("plimsoll"),
        "command": shlex.join(command),
        "scenario": _scenario(plan, name),
        "plan": plan.to_dict(),
        "host": plan.host or plan.url,
        "users": plan.users,
        "spawn_rate": plan.spawn_rate,
        "run_time": plan.run_time,
        "processes": plan.processes,
        "seed": plan.seed,
        "versions": {package: found for package in PACKAGES if (found := _version(package))},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "git": git_state(Path(plan.locustfiles[0]).parent) if plan.locustfiles else None,
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": {"model": _cpu_model(), "count": os.cpu_count()},
    }


def git_state(directory: Path) -> dict[str, Any] | None:
    """The commit that the directory is at, and whether anything differs from it; None outside of a repository."""
    commit = _git(directory, "rev-parse", "HEAD")
    if not commit:
        return None
    return {"commit": commit, "dirty": bool(_git(directory, "status", "--porcelain", "--untracked-files=no"))}


def _git(directory: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _scenario(plan: RunPlan, name: str | None) -> dict[str, Any]:
    files = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in plan.locustfiles}
    own_name = ", ".join(Path(path).name for path in plan.locustfiles) or plan.url
    return {
        "name": name or own_name,
        "model": "closed",
        "users": "python" if plan.locustfiles else "native",
        "files": [{"path": path, "sha256": digest} for path, digest in files.items()],
        "run_time": format_duration(plan.run_time) if plan.run_time is not None else None,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or sys.platform
