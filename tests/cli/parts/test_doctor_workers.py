"""Checks of machines that were measured. Real workers are in tests/run/placers/test_ray.py."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.cli.parts import doctor_workers as module
from plimsoll.run.sizing import known_capacities

if TYPE_CHECKING:
    from pathlib import Path

MEASURED = {"cpus": 4, "native": 40_000.0, "python": 30_000.0, "open_files": 65_536, "ports": 28_232}


class Machine:
    def __init__(self, host: str, measured: dict[str, Any] | None, difference: str = "") -> None:
        self.host, self.address, self.difference = host, "10.0.0.2", difference
        self.asked = 0
        self._measured = measured

    def measure(self) -> dict[str, Any] | None:
        self.asked += 1
        return self._measured


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Machine]:
    """Workers that a placer has started."""
    monkeypatch.setenv("HOME", str(tmp_path))
    started: list[Machine] = []

    placed = SimpleNamespace(master=lambda *_: nullcontext(SimpleNamespace(ready=started)))
    monkeypatch.setattr(module, "as_master", lambda words: words)
    monkeypatch.setattr(module, "PlacedWorkers", SimpleNamespace(of=lambda _: placed))
    return started


def test_one_worker_of_each_machine_is_measured_and_runs_know_it(machines: list[Machine]) -> None:
    machines += [Machine("vm-b", MEASURED), Machine("vm-a", MEASURED), Machine("vm-a", MEASURED)]
    checks = {check.name: check for check in module.placed_checks("ssh:vm-a,vm-b")}
    assert all(check.ok for check in checks.values())
    assert [machine.asked for machine in machines] == [1, 1, 0]
    assert checks["versions"].value == "the same Plimsoll and Python"
    assert checks["vm-a capacity"].value.startswith("4 workers, about 40\u202f000 requests/s each (native users)")
    assert checks["all workers"].value.startswith("8 workers, about 320\u202f000 requests/s")
    assert set(known_capacities()) == {"vm-a", "vm-b"}


def test_what_differs_and_what_could_not_be_measured_is_named_with_what_to_do(machines: list[Machine]) -> None:
    difference = "has Python 3.99, the master 3.11"
    machines += [Machine("vm-a", None, difference), Machine("vm-b", {**MEASURED, "native": None})]
    checks = {check.name: check for check in module.placed_checks("ssh:vm-a,vm-b")}
    assert checks["versions"].value == f"vm-a {difference}" and not checks["versions"].ok
    for host in ("vm-a", "vm-b"):
        assert checks[f"{host} capacity"].advice == "run plimsoll doctor --measure on that machine"
    assert "all workers" not in checks
