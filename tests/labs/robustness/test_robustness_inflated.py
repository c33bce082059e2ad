"""Targets that send little which grows to very much: one kept trial, and each broken promise is found."""

from dataclasses import replace
from pathlib import Path
from random import Random

from labs.robustness.groups.inflated import MIB, Seen, broken, trial

GOOD = Seen(1, "", {"endpoints": [{"method": "GET", "response_ms": {"max": 1200.0}}]}, 5.0, 300 * MIB, 0.0)


def found(seen: Seen) -> str:
    return "; ".join(broken(seen))


def test_a_run_keeps_its_limits(tmp_path: Path) -> None:
    judgement = trial(tmp_path, Random(4))
    assert not judgement.broken, judgement


def test_each_broken_promise_is_named() -> None:
    assert found(GOOD) == ""
    assert found(replace(GOOD, exit_code=None)) == "the command did not end"
    assert found(replace(GOOD, exit_code=2)) == "the exit code is 2"
    assert found(replace(GOOD, words="Traceback (most recent call last)")) == "a traceback is shown"
    assert found(replace(GOOD, words="1 worker was lost")) == "a worker was lost"
    assert found(replace(GOOD, ended=22.0)) == "a load of 3 s ended after 22.0 s"
    assert found(replace(GOOD, ended=22.0, stall=3.0)) == "", "the machine stood still"
    assert found(replace(GOOD, peak_bytes=2000 * MIB)) == "a process took 2000 MiB"
    slow = {"endpoints": [{"method": "GET", "response_ms": {"max": 10_900.0}}]}
    assert found(replace(GOOD, report=slow)) == "a request of GET with a limit of 1 s took 10.9 s"
