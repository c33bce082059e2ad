from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from plimsoll.observe.owners import Tree
from plimsoll.observe.processes import UNITS, Machine, Processes
from plimsoll.observe.sampler import ProbeError
from plimsoll.record.observed import ObservedSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
import mmap, os, subprocess, sys, threading, time
kept = []
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class Child:
    """A process that does what it is told, line by line."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid
        self.do("pass")

    def do(self, line: str) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        print(line, file=stdin, flush=True)
        assert stdout.readline() == "done\n"

    def end(self) -> None:
        with self._process as process:
            process.kill()


@pytest.fixture
def child() -> Iterator[Child]:
    process = Child()
    yield process
    process.end()


def test_memory_threads_and_files_are_counted(child: Child, tmp_path: Path) -> None:
    probe = Processes("target", Tree(child.pid))
    before = probe.read(0.0)
    child.do("kept.append(os.urandom(30_000_000))")
    child.do("[threading.Thread(target=time.sleep, args=(600,), daemon=True).start() for _ in range(3)]")
    child.do(f"kept += [open({str(tmp_path / 'f')!r}, 'w') for _ in range(5)]")
    after = probe.read(1.0)
    assert 25e6 < after["rss"] - before["rss"] < 60e6
    assert after["threads"] - before["threads"] == 3
    assert after["files"] - before["files"] == 5
    assert (before["processes"], after["processes"]) == (1, 1)
    assert set(after) == set(UNITS)
    assert [probe.unit(each) for each in ("rss", "cpu")] == ["bytes", "cores"]


def test_all_that_descends_from_it_is_part_of_it_or_only_that(child: Child) -> None:
    start = "import subprocess; p = subprocess.Popen(['sleep', '600']); input()"
    child.do(f"kept.append(subprocess.Popen([sys.executable, '-c', {start!r}], stdin=subprocess.PIPE))")
    whole, below = Processes("target", Tree(child.pid)), Processes("target", Tree(child.pid, itself=False))
    for _ in range(1000):
        if whole.read(0.0)["processes"] == 3:
            break
        time.sleep(0.01)
    assert whole.read(0.0)["processes"] == 3
    assert below.read(0.0)["processes"] == 2
    assert below.read(0.0)["rss"] < whole.read(0.0)["rss"]
    for process in psutil.Process(child.pid).children(recursive=True):
        process.kill()


def test_cpu_is_cores_since_the_sample_before(child: Child) -> None:
    """The seconds that pass are ours to say; the CPU time that was taken is the kernel's."""
    burn = "exec('end = time.process_time() + {}\\nwhile time.process_time() < end: pass')"
    probe = Processes("target", Tree(child.pid))
    assert "cpu" not in probe.read(100.0)
    child.do(burn.format(0.5))
    assert 0.45 <= probe.read(101.0)["cpu"] <= 0.8
    assert probe.read(102.0)["cpu"] <= 0.1
    child.do(burn.format(0.5))
    assert 0.04 <= probe.read(112.0)["cpu"] <= 0.08, "of ten seconds"


def test_the_cpu_of_children_that_came_and_went_counts(child: Child) -> None:
    probe = Processes("target", Tree(child.pid))
    probe.read(0.0)
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    child.do(f"subprocess.run([sys.executable, '-c', {burn!r}])")
    assert probe.read(1.0)["cpu"] >= 0.45


SHARING = """
shared = mmap.mmap(-1, 40_000_000)
shared.write(bytes(40_000_000))
kept.append(shared)
reading, writing = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        shared[::4096]  # every page
        os.write(writing, b".")
        time.sleep(600)
started = b""
while len(started) < 3:
    started += os.read(reading, 3)
"""


def test_what_processes_share_counts_once(child: Child) -> None:
    """40 MB that four processes have in common."""
    probe = Processes("target", Tree(child.pid))
    before = probe.read(0.0)["rss"]
    child.do(f"exec({SHARING!r})")
    family = [psutil.Process(child.pid), *psutil.Process(child.pid).children()]
    assert len(family) == 4
    assert sum(each.memory_info().rss for each in family) > 160e6
    assert 38e6 < probe.read(1.0)["rss"] - before < 110e6
    for process in family[1:]:
        process.kill()


def test_what_goes_to_disk_is_per_second(child: Child, tmp_path: Path) -> None:
    probe = Processes("target", Tree(child.pid))
    assert "disk written" not in probe.read(0.0)
    path = str(tmp_path / "written")
    child.do(f"f = open({path!r}, 'wb'); f.write(os.urandom(4_000_000)); f.flush(); os.fsync(f.fileno())")
    counted = psutil.Process(child.pid).io_counters().write_bytes
    # A file system in memory writes to no disk.
    assert probe.read(2.0)["disk written"] == counted / 2
    assert probe.read(3.0)["disk written"] == 0.0


def test_when_none_is_left_that_is_an_error(child: Child) -> None:
    below = Processes("shop", Tree(child.pid, itself=False))
    with pytest.raises(ProbeError, match="none of its processes is left"):
        below.read(0.0)
    child.end()
    with pytest.raises(ProbeError, match="none of its processes is left"):
        Processes("target", Tree(child.pid)).read(0.0)


def test_a_zombie_takes_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(ProbeError):
            Processes("target", Tree(process.pid)).read(0.0)


def test_files_that_may_not_be_counted_are_left_out(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: psutil.Process) -> int:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "num_fds", refuse)
    figures = Processes("target", Tree(child.pid)).read(0.0)
    assert "files" not in figures
    assert figures["rss"] > 0


def test_the_cores_that_may_be_used_are_known_when_the_processes_have_ended(child: Child) -> None:
    psutil.Process(child.pid).cpu_affinity([0])
    probe = Processes("target", Tree(child.pid))
    assert probe.facts() is None
    probe.read(0.0)
    child.end()
    assert probe.facts() == ObservedSource(cores=1.0)


def test_a_machine_is_as_busy_as_what_runs_on_it(child: Child) -> None:
    probe = Machine()
    assert probe.read(100.0) == {}
    child.do("exec('end = time.process_time() + 0.5\\nwhile time.process_time() < end: pass')")
    assert probe.read(101.0)["cpu"] >= 0.45
    assert probe.unit("cpu") == "cores"
    assert probe.facts() == ObservedSource(cores=psutil.cpu_count())
