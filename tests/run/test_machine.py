from __future__ import annotations

import json
import os
import resource
from typing import TYPE_CHECKING

import pytest

from plimsoll.record.manifest import ProcessLimits
from plimsoll.run import machine as module
from plimsoll.run.machine import limits, machine

if TYPE_CHECKING:
    from pathlib import Path


def _write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


def test_what_this_machine_tells_is_json() -> None:
    facts = machine().to_json()
    assert json.loads(json.dumps(facts)) == facts
    assert 1 <= facts["cpus"] <= (os.cpu_count() or 1)
    assert set(facts) == {"hostname", "governor", "cpus", "cpu_quota", "memory_limit", "somaxconn", "link"}


def test_files_of_the_system_are_read(tmp_path: Path) -> None:
    _write(
        tmp_path,
        sys__devices__system__cpu__cpu0__cpufreq__scaling_governor="powersave",
        proc__sys__net__core__somaxconn="4096",
    )
    facts = machine(tmp_path)
    assert (facts.governor, facts.somaxconn, facts.cpu_quota) == ("powersave", 4096, None)


def test_what_is_not_known_is_null(tmp_path: Path) -> None:
    facts = machine(tmp_path)
    assert (facts.governor, facts.somaxconn, facts.cpu_quota) == (None, None, None)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"sys__fs__cgroup__cpu_dot_max": "max 100000"}, None),
        ({"sys__fs__cgroup__cpu_dot_max": "150000 100000"}, 1.5),
        (
            {"proc__self__cgroup": "1:name=x:/other\n0::/slice/unit", "sys__fs__cgroup__slice__unit__cpu_dot_max":
             "max 100000", "sys__fs__cgroup__slice__cpu_dot_max": "50000 100000"},
            0.5,
        ),
        (
            {"proc__self__cgroup": "0::/slice", "sys__fs__cgroup__slice__cpu_dot_max": "200000 100000",
             "sys__fs__cgroup__cpu_dot_max": "400000 100000"},
            2.0,
        ),
        (
            {"proc__self__cgroup": "0::/slice", "sys__fs__cgroup__slice__cpu_dot_max": "200000 100000",
             "sys__fs__cgroup__cpu_dot_max": "100000 100000"},
            1.0,
        ),
        (
            {"sys__fs__cgroup__cpu__cpu_dot_cfs_quota_us": "25000", "sys__fs__cgroup__cpu__cpu_dot_cfs_period_us":
             "100000"},
            0.25,
        ),
        (
            {"sys__fs__cgroup__cpu__cpu_dot_cfs_quota_us": "-1", "sys__fs__cgroup__cpu__cpu_dot_cfs_period_us":
             "100000"},
            None,
        ),
    ],
)  # fmt: skip
def test_the_quota_is_the_least_of_all_groups_that_we_are_in(
    tmp_path: Path, files: dict[str, str], quota: float | None
) -> None:
    _write(tmp_path, **files)
    assert machine(tmp_path).cpu_quota == quota


def test_limits_of_open_files_are_told_unless_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.resource, "getrlimit", lambda _: (1024, resource.RLIM_INFINITY))
    assert limits() == ProcessLimits(open_files=1024)
