"""Facts about this machine that are needed to interpret a figure."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path


def facts() -> dict[str, object]:
    """Kernel, processor and repository state, as JSON values."""
    return {
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "kernel": platform.release(),
        "system": system_name(),
        "python": f"{platform.python_version()} ({Path(sys.executable).resolve()})",
        "commit": commit(),
    }


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def system_name() -> str:
    return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())


def commit() -> str | None:
    """The measured commit, with "+changes" if the tree differs from it; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty=+changes", "--abbrev=12"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    return done.stdout.strip() or None


def first_line(command: list[str]) -> str:
    """The first line of a program's version output; stderr counts too (nginx, wrk)."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().partition("\n")[0]


def version_of(command: list[str]) -> str:
    """The same without paths and build details."""
    return re.split(r" \[| \(| <| from ", first_line(command))[0]
