import sys
import time

import psutil
import pytest
from benches.errors import BenchError
from benches.process import Measured

BURN = "while True: pass"
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}])\n{BURN}"


def test_the_cpu_time_of_children_counts_and_is_told_apart() -> None:
    with Measured([sys.executable, "-c", PARENT], {}) as measured:
        total, children = 0.0, 0.0
        while children < 0.1 or total - children < 0.1:  # pytest's timeout is the limit
            time.sleep(0.02)
            total, children = measured.cpu_seconds()
        family = family_of_two(measured)
        assert all(process.cpu_affinity() == [1] for process in family)
        assert measured.peak_resident() >= measured.resident() > 2**20
    assert not any(process.is_running() for process in family)


def family_of_two(measured: Measured) -> list[psutil.Process]:
    """Both run their own program. Until the child does, its parent waits in vfork(2), and would not stop."""
    while len(family := measured.tree()) < 2 or family[1].cmdline()[-1:] != [BURN]:  # pytest's timeout is the limit
        time.sleep(0.02)
    return family


def test_a_pause_stops_all_its_processes() -> None:
    with Measured([sys.executable, "-c", PARENT], {}) as measured:
        family = family_of_two(measured)
        measured.pause()
        while any(process.status() != psutil.STATUS_STOPPED for process in family):
            time.sleep(0.02)
        before = measured.cpu_seconds()
        assert measured.cpu_seconds() == before
        measured.resume()
        while measured.cpu_seconds()[1] <= before[1]:
            time.sleep(0.02)
        measured.pause()
    assert not any(process.is_running() for process in family), "stopped ones are killed as well"


def test_a_stopped_child_does_not_outlive_its_parent() -> None:
    with Measured([sys.executable, "-c", PARENT], {}) as measured:
        root, child = family_of_two(measured)
        measured.pause()
        root.kill()
        with pytest.raises(BenchError, match="exit status -9"):
            measured.finish()
        assert child.is_running()
        with pytest.raises(BenchError, match="ended too early"):
            measured.resume()
    assert not child.is_running()


def test_an_early_end_is_an_error_with_the_programs_words() -> None:
    with Measured([sys.executable, "-c", "print('no such flag')"], {}) as measured:
        measured.finish()
        with pytest.raises(BenchError, match="no such flag"):
            measured.cpu_seconds()


def test_a_failure_status_is_an_error() -> None:
    with (
        Measured([sys.executable, "-c", "raise SystemExit(3)"], {}) as measured,
        pytest.raises(BenchError, match="exit status 3"),
    ):
        measured.finish()
