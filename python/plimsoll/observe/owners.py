"""Finds processes by a name: those of a program, of a container or of a systemd unit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from plimsoll.errors import UsageError
from plimsoll.observe.sampler import ProbeError

if TYPE_CHECKING:
    from collections.abc import Mapping

CGROUPS = Path("/sys/fs/cgroup")
ANSWER_S = 5.0
"""Timeout for docker, podman and systemctl."""


class Tree:
    """A process and all its descendants. itself: whether the process counts, or only its descendants."""

    def __init__(self, pid: int, *, itself: bool = True) -> None:
        self._pid = pid
        self._itself = itself

    def __call__(self) -> list[psutil.Process]:
        return _tree(self._pid, itself=self._itself)


class Program:
    """All processes of a program, and their descendants. name: of the executable, as in `ps -o comm`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self) -> list[psutil.Process]:
        """Raises ProbeError if there is none."""
        known: dict[int, tuple[psutil.Process, int, bool]] = {}
        for process in psutil.process_iter():
            try:
                known[process.pid] = process, process.ppid(), process.name() == self._name
            except psutil.Error:
                continue
        found = [process for pid, (process, _, _) in known.items() if _descends(pid, known)]
        if not found:
            raise ProbeError(f"no process is called {self._name}")
        return found


class Container:
    """The first process of a running container, and its descendants."""

    def __init__(self, name: str) -> None:
        """Raises UsageError if this machine has no container tool."""
        self._name = name
        self._engines = [path for path in map(shutil.which, ("docker", "podman")) if path]
        if not self._engines:
            raise UsageError("to observe a container, docker or podman must be on this machine")
        self._pid = 0

    def __call__(self) -> list[psutil.Process]:
        """Raises ProbeError if it is not running."""
        if self._pid and (found := _tree(self._pid)):
            return found
        self._pid, said = 0, ""
        for engine in self._engines:
            text, said = _said(engine, "inspect", "--format", "{{.State.Pid}}", self._name)
            if text.isdigit() and int(text) > 0:
                self._pid = int(text)
                return _tree(self._pid)
        raise ProbeError(f"no container {self._name} is running{said and f': {said}'}")


class Unit:
    """The processes in the control group of a systemd unit."""

    def __init__(self, name: str) -> None:
        """Raises UsageError if this machine has no systemd."""
        self._name = name
        self._group = ""
        path = shutil.which("systemctl")
        if path is None:
            raise UsageError("to observe a unit, systemctl must be on this machine")
        self._systemctl = path

    def __call__(self) -> list[psutil.Process]:
        """Raises ProbeError if it is not running."""
        if self._group and (found := _existing(_members(self._group))):
            return found
        text, said = _said(self._systemctl, "show", "--property=ControlGroup", "--value", self._name)
        self._group = text.strip("/")
        if not self._group:
            raise ProbeError(f"the unit {self._name} is not running{said and f': {said}'}")
        return _existing(_members(self._group))


def _descends(pid: int, known: Mapping[int, tuple[psutil.Process, int, bool]]) -> bool:
    """Whether the process or one of its ancestors was chosen."""
    seen = set()
    while pid in known and pid not in seen:
        # Pids are reused: two processes read at different times may name each other as parents.
        seen.add(pid)
        _, pid, chosen = known[pid]
        if chosen:
            return True
    return False


def _tree(pid: int, *, itself: bool = True) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [*([root] if itself else []), *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _members(group: str) -> list[int]:
    """The pids of a control group and its subgroups; of version 2, or of systemd's own tree of version 1."""
    for root in (CGROUPS / group, CGROUPS / "systemd" / group):
        try:
            files = sorted(root.rglob("cgroup.procs"))
            pids = [int(line) for file in files for line in file.read_text().split()]
        except OSError:
            continue
        if pids:
            return pids
    return []


def _existing(pids: list[int]) -> list[psutil.Process]:
    found = []
    for pid in pids:
        try:
            found.append(psutil.Process(pid))
        except psutil.NoSuchProcess:
            continue
    return found


def _said(*command: str) -> tuple[str, str]:
    """Its output, and the last line of stderr."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=ANSWER_S, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    lines = done.stderr.strip().splitlines()
    return done.stdout.strip(), lines[-1] if lines else ""
