from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from plimsoll.observe import cores
from plimsoll.observe.cores import cores_of, machine_cores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sleeper() -> Iterator[psutil.Process]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


def _group(monkeypatch: pytest.MonkeyPatch, folder: Path, process: psutil.Process, quotas: dict[str, str]) -> None:
    """A process in the control group web/api, with these files cpu.max."""
    proc = folder / "proc" / str(process.pid)
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text("0::/web/api\n")
    for group, quota in quotas.items():
        place = folder / "cgroups" / group
        place.mkdir(parents=True, exist_ok=True)
        (place / "cpu.max").write_text(quota)
    monkeypatch.setattr(cores, "PROC", folder / "proc")
    monkeypatch.setattr(cores, "CGROUPS", folder / "cgroups")


def test_without_limits_all_cores_may_be_used(sleeper: psutil.Process) -> None:
    assert 0 < cores_of([sleeper]) <= machine_cores()


def test_affinity_limits_what_may_be_used(sleeper: psutil.Process) -> None:
    sleeper.cpu_affinity([0])
    assert cores_of([sleeper]) == 1


@pytest.mark.parametrize(
    ("quotas", "expected"),
    [
        ({"web/api": "50000 100000\n"}, 0.5),
        ({"web/api": "max 100000\n", "web": "25000 100000\n"}, 0.25),
        ({"web/api": "50000 100000\n", "web": "25000 100000\n"}, 0.25),
        ({"web/api": "max 100000\n"}, 1.0),
        ({"web/api": "nonsense\n"}, 1.0),
    ],
)
def test_the_tightest_quota_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sleeper: psutil.Process, quotas: dict[str, str], expected: float
) -> None:
    sleeper.cpu_affinity([0])
    _group(monkeypatch, tmp_path, sleeper, quotas)
    assert cores_of([sleeper]) == expected


def test_processes_that_have_ended_are_left_out(sleeper: psutil.Process) -> None:
    sleeper.kill()
    sleeper.wait()
    assert cores_of([sleeper]) == machine_cores()
