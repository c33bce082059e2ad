from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.record.facts import CpuPeriods
from plimsoll.run.machine import (
    cpu_periods,
    cpu_quota,
    memory_left,
    memory_limit,
    throttled_since,
)
from plimsoll.run.perform import ThrottlingObserver
from plimsoll.say.causes import throttling_notes

if TYPE_CHECKING:
    from pathlib import Path

V1 = "7:cpu,cpuacct:/docker/a\n4:memory:/docker/a\n0::/"
V1_CPU, V1_MEMORY = "sys/fs/cgroup/cpu,cpuacct/docker/a", "sys/fs/cgroup/memory/docker/a"
V2 = "0::/kube/pod"
V2_GROUP = "sys/fs/cgroup/kube/pod"


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": V2, f"{V2_GROUP}/cpu.max": "20000 100000"}, 0.2),
        ({"proc/self/cgroup": V2, f"{V2_GROUP}/cpu.max": "max 100000", "sys/fs/cgroup/kube/cpu.max": "9 10"}, 0.9),
        ({"proc/self/cgroup": "0::/not/mounted/here", "sys/fs/cgroup/cpu.max": "30000 100000"}, 0.3),
        (
            {"proc/self/cgroup": V1, f"{V1_CPU}/cpu.cfs_quota_us": "20000", f"{V1_CPU}/cpu.cfs_period_us": "100000"},
            0.2,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/wild", "sys/fs/cgroup/cpu/wild/cpu.cfs_quota_us": "20000",
                "sys/fs/cgroup/cpu/wild/cpu.cfs_period_us": "100000", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            0.2,
        ),
        ({"proc/self/cgroup": V1}, None),
        ({"proc/self/cgroup": V2, f"{V2_GROUP}/cpu.max": "broken"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_quota_of_our_own_group_counts(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    _write(tmp_path, files)
    assert cpu_quota(tmp_path) == quota


@pytest.mark.parametrize(
    ("files", "limit", "left"),
    [
        (
            {
                "proc/self/cgroup": V2, f"{V2_GROUP}/memory.max": "1000", f"{V2_GROUP}/memory.current": "800",
                f"{V2_GROUP}/memory.stat": "anon 500\ninactive_file 300",
            },
            1000, 500,
        ),
        ({"proc/self/cgroup": V2, f"{V2_GROUP}/memory.max": "max", f"{V2_GROUP}/memory.current": "8"}, None, None),
        (
            {
                "proc/self/cgroup": V1, f"{V1_MEMORY}/memory.limit_in_bytes": "1000",
                f"{V1_MEMORY}/memory.usage_in_bytes": "1200",
            },
            1000, 0,
        ),
        ({"proc/self/cgroup": V1, f"{V1_MEMORY}/memory.limit_in_bytes": "9223372036854771712"}, None, None),
        ({}, None, None),
    ],
)  # fmt: skip
def test_memory_has_a_limit_and_what_is_left_of_it(
    tmp_path: Path, files: dict[str, str], limit: int | None, left: int | None
) -> None:
    _write(tmp_path, files)
    assert (memory_limit(tmp_path), memory_left(tmp_path)) == (limit, left)


@pytest.mark.parametrize(("groups", "folder"), [(V1, V1_CPU), (V2, V2_GROUP)])
def test_periods_are_those_of_the_group_that_is_throttled_most(tmp_path: Path, groups: str, folder: str) -> None:
    stat = "nr_periods {}\nnr_throttled {}\nthrottled_time 5"
    parent = folder.rpartition("/")[0]
    _write(tmp_path, {"proc/self/cgroup": groups, f"{folder}/cpu.stat": stat.format(10, 4)})
    _write(tmp_path, {f"{parent}/cpu.stat": stat.format(1000, 1)})
    before = cpu_periods(tmp_path)
    assert throttled_since(before, before) == CpuPeriods()
    _write(tmp_path, {f"{folder}/cpu.stat": stat.format(186, 75), f"{parent}/cpu.stat": stat.format(1176, 1)})
    passed = throttled_since(before, cpu_periods(tmp_path))
    assert (passed, passed.is_material) == (CpuPeriods(176, 71), True)


def test_without_a_limit_there_are_no_periods(tmp_path: Path) -> None:
    assert cpu_periods(tmp_path) == {}
    assert throttled_since({}, {}) == CpuPeriods()
    assert not CpuPeriods().is_material
    assert not CpuPeriods(100, 1).is_material


@pytest.mark.parametrize(
    ("after", "passed", "noted"),
    [((186, 75), CpuPeriods(176, 71), True), ((186, 5), CpuPeriods(176, 1), False), ((10, 4), None, False)],
)
def test_a_throttled_generator_is_noted(
    tmp_path: Path, after: tuple[int, int], passed: CpuPeriods | None, *, noted: bool
) -> None:
    stat = tmp_path / "sys/fs/cgroup/cpu.stat"
    stat.parent.mkdir(parents=True)
    stat.write_text("nr_periods 1\nnr_throttled 1\n")
    observer = ThrottlingObserver(tmp_path)
    stat.write_text("nr_periods 10\nnr_throttled 4\n")
    observer.start(0.0, "")
    stat.write_text("nr_periods {}\nnr_throttled {}\n".format(*after))
    assert observer.passed == passed
    notes = [] if passed is None else throttling_notes(passed)
    assert any("throttled in 71 of 176 periods" in note for note in notes) == noted
    assert bool(notes) == noted
