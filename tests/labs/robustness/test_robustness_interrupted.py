"""A part of `make robustness`: each phase once, and what its judge finds."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
from labs.robustness.groups.interrupted import KINDS, LIMIT_S, End, broken, interrupted, trial
from labs.robustness.phases import PHASES

GOOD = End(130, 1.0, 0.0, "plimsoll: interrupted", has_report=True, left=[])
LOAD = PHASES["load"]


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), list(zip(PHASES, cycle(KINDS), strict=False)))
def test_a_signal_ends_the_command_in_each_phase(name: str, kind: str, tmp_path: Path) -> None:
    end = interrupted(tmp_path, PHASES[name], kind, 0.1)
    assert not broken(end, PHASES[name]), end


def test_a_number_draws_the_same_trial_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labs.robustness.groups.interrupted.interrupted", lambda *_: GOOD)
    drawn = [trial(tmp_path, Random(seed)).what for seed in (7, 7, 8)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": None}, "did not end"),
        ({"seconds": LIMIT_S + 0.1}, "ended after 3.1 s"),
        ({"words": "Traceback (most recent call last):"}, "a traceback"),
        ({"has_report": False}, "no report"),
        ({"left": ["12 sleep 600"]}, "processes are left: 12 sleep 600"),
    ],
)
def test_a_broken_guarantee_is_found(change: dict[str, Any], said: str) -> None:
    assert broken(GOOD, LOAD) == []
    assert said in "; ".join(broken(replace(GOOD, **change), LOAD))


def test_what_the_machine_took_is_added_to_the_limit() -> None:
    assert broken(replace(GOOD, seconds=LIMIT_S + 2.0, delayed=2.1), LOAD) == []
