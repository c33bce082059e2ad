"""Whether a load fits what its machines were measured to send."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.run.test_guard import arrivals, scenario

from plimsoll.run.plan import RunPlan
from plimsoll.run.sizing import (
    CAPACITIES,
    CapacityWarning,
    MachineCapacity,
    keep,
    known_capacities,
    shortfalls,
)
from plimsoll.run.transport.cluster_node import ClusterNode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget

VM = MachineCapacity("vm-a", 4, 40_000.0, 20_000.0, 28_000, 16_512, "2026-11-25")
KNOWN = {"vm-a": VM, "vm-b": replace(VM, host="vm-b", measured="2026-11-20")}
WORKERS = {"vm-a": 2, "vm-b": 2}
NATIVE = RunPlan(scenario=scenario((1, 1.0)), processes=4)
PYTHON = RunPlan(locustfiles=("shop.py",), host="http://10.0.0.9", processes=4)


@pytest.mark.parametrize(
    ("plan", "rate", "warning"),
    [
        (NATIVE, 200_000, None),
        (
            NATIVE, 210_000,
            "the load asks for 210\u202f000 requests/s, and 4 workers with native users can send about "
            "160\u202f000 requests/s (measured on 2026-11-20): use about 8 workers with a core each or a lower rate",
        ),
        (replace(NATIVE, scenario=scenario((3, 1.0))), 70_000, "the load asks for 210\u202f000 requests/s"),
        (PYTHON, 100_000, None),
        (PYTHON, 101_000, "use about 8 workers with a core each, native users (a plan), or a lower rate"),
    ],
)  # fmt: skip
def test_a_rate_above_what_all_workers_can_send_is_said(plan: RunPlan, rate: float, warning: str | None) -> None:
    found = shortfalls(replace(plan, load=arrivals(rate)), WORKERS, KNOWN)
    assert len(found) == (warning is not None)
    assert all(str(warning) in each for each in found)


def test_workers_beyond_the_cores_of_a_machine_send_no_more() -> None:
    plan = replace(NATIVE, processes=8, load=arrivals(210_000))
    assert shortfalls(plan, {"vm-a": 8}, KNOWN)
    assert not shortfalls(plan, {"vm-a": 4, "vm-b": 4}, KNOWN)


@pytest.mark.parametrize(
    ("plan", "users", "is_said"),
    [
        (PYTHON, 56_000, False),
        (PYTHON, 56_001, True),
        (replace(PYTHON, source_addresses=("10.0.0.1", "10.0.0.2")), 65_536, False),
        (replace(PYTHON, source_addresses=("10.0.0.1", "10.0.0.2")), 65_537, True),  # open files
        (replace(PYTHON, host="http://localhost:8000"), 65_536, False),
        (replace(PYTHON, host=None), 65_536, False),
    ],
)
def test_more_users_than_connections_are_said(plan: RunPlan, users: int, is_said: bool) -> None:
    found = shortfalls(replace(plan, users=users), WORKERS, KNOWN)
    assert bool(found) == is_said
    assert all("2 machines can hold about" in each and "use more machines" in each for each in found)


def test_nothing_is_said_without_a_measurement_of_all_machines() -> None:
    plan = replace(NATIVE, load=arrivals(1e9))
    assert not shortfalls(plan, WORKERS, {})
    assert not shortfalls(plan, WORKERS, {"vm-a": VM})
    unmeasured = {host: replace(each, native=None) for host, each in KNOWN.items()}
    assert not shortfalls(plan, WORKERS, unmeasured)


class _Launch:
    plan = replace(NATIVE, load=arrivals(1e9))
    shaped = False
    machines = (ClusterNode("vm-a", [0, 1]), ClusterNode("vm-a/2", [2, 3]))


def test_nodes_of_one_machine_share_its_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    keep([replace(VM, cpus=3)])
    CapacityWarning(lambda: _Launch).start(0.0, "kernel")  # type: ignore[arg-type, return-value]
    (record,) = caplog.records
    assert "4 workers with native users can send about 120\u202f000 requests/s" in record.message


def test_measurements_are_kept_by_machine_and_those_of_another_version_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert known_capacities() == {}
    keep([VM])
    keep([replace(VM, cpus=8), replace(VM, host="old", version="0.0.1")])
    assert known_capacities() == {"vm-a": replace(VM, cpus=8)}


@pytest.mark.parametrize("text", ["", "[]", '{"vm-a": 1}', '{"vm-a": {"host": "vm-a"}}', "CPUS"])
def test_a_file_that_cannot_be_read_knows_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    keep([VM])
    path = tmp_path / CAPACITIES
    path.write_text(path.read_text().replace('"cpus": 4', '"cpus": "4"') if text == "CPUS" else text)
    assert known_capacities() == {}


@pytest.mark.parametrize("rate", ["30/s", "20/s"])
def test_a_run_says_before_its_load_begins_that_it_cannot_fit(
    rate: str, plimsoll: Command, target: CountingTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(plimsoll.directory))
    keep([replace(VM, host=platform.node(), native=20.0)])
    plimsoll.environment["HOME"] = str(plimsoll.directory)
    done = plimsoll.in_a_process("run", target.url, "--rate", rate, "-t", "1s", "--headless")
    assert done.code == 0, done
    said = "the load asks for 30 requests/s, and 1 worker with native users can send about 20 requests/s"
    assert (said in done.err) == (rate == "30/s"), done
    assert json.loads((plimsoll.directory / CAPACITIES).read_text())
