import sys
import time

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
        family = measured.tree()
        assert len(family) == 2
        assert all(process.cpu_affinity() == [1] for process in family)
        assert measured.peak_resident() >= measured.resident() > 2**20
    assert not any(process.is_running() for process in family)


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
