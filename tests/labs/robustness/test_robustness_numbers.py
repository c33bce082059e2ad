"""Numbers at their limits: two kept trials, and each broken promise is found."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from labs.robustness.groups.numbers import Seen, broken, trial

GOOD = Seen(1, "", {"endpoints": [{"method": "GET", "requests": 7, "unanswered": 1}]}, 8)


def found(seen: Seen) -> str:
    return "; ".join(broken(seen))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_keeps_its_record(seed: int, tmp_path: Path) -> None:
    judgement = trial(tmp_path, Random(seed))
    assert not judgement.broken, judgement


def test_each_broken_promise_is_named() -> None:
    assert found(GOOD) == ""
    assert found(replace(GOOD, exit_code=None)) == "the command did not end"
    assert found(replace(GOOD, exit_code=2)) == "the exit code is 2"
    assert found(replace(GOOD, words="Traceback … OverflowError: too large")) == "a traceback is shown"
    assert found(replace(GOOD, words="the run is not completely stored")) == "something was not stored"
    assert found(replace(GOOD, stored=None)) == "the store has no run"
    assert found(replace(GOOD, arrived=9)) == "the target has read 9 requests, and the store has 7 to 8"
    lost = {"endpoints": [*GOOD.stored["endpoints"], {"method": "custom", "requests": 1, "unanswered": 0}]}
    assert found(replace(GOOD, stored=lost)) == "1 of 7 measurements are stored"
