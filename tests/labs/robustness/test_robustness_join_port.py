"""A fixed trial of the fake joiner, and the judge of all of them."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from labs.robustness.groups.join_port import AFTER, BEFORE, Outcome, broken, drawn, trial

KEPT = Outcome(0, "the run is over", (0, 0), 7, 7)
LOST = Outcome(3, "worker 1 (on evil) is disconnected: it sent a frame of 4294967295 bytes", (0, 0), 7, 7)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_promises_are_kept(seed: int, tmp_path: Path) -> None:
    judgement = trial(tmp_path, Random(seed))
    assert not judgement.broken, str(judgement)


def test_a_seed_draws_the_same_attempt_and_all_kinds_are_drawn() -> None:
    assert drawn(Random(5)).what == drawn(Random(5)).what
    assert {drawn(Random(seed)).breaks for seed in range(50)} == {"", BEFORE, AFTER}


@pytest.mark.parametrize(
    ("outcome", "breaks", "why"),
    [
        (replace(KEPT, exit_code=None), "", "the run did not end within 60 s"),
        (replace(KEPT, exit_code=77), "", "the exit code is 77, not 0"),
        (replace(KEPT, words="Traceback (most recent call last):"), "", "there is a traceback"),
        (replace(KEPT, reported=8), "", "8 requests are reported, and the target received 7"),
        (replace(KEPT, reported=None), "", "there is no report"),
        (replace(KEPT, reported=0, received=0), "", "the real workers sent nothing"),
        (replace(KEPT, workers=(0, 2)), "", "the real workers ended with (0, 2)"),
        (
            replace(KEPT, words="the run is void: EVIL WORDS"),
            "",
            "words of the fake joiner stand as ours: the run is void",
        ),
        (replace(LOST, words=""), AFTER, "nothing says what became of the fake worker"),
        (replace(LOST, exit_code=0), AFTER, "the exit code is 0, not 3"),
        (LOST, BEFORE, "the exit code is 3, not 2"),
    ],
)
def test_the_judge_finds_a_broken_promise(outcome: Outcome, breaks: str, why: str) -> None:
    (found,) = broken(outcome, breaks)
    assert found.startswith(why)


def test_the_judge_has_nothing_against_a_run_that_keeps_all() -> None:
    assert broken(KEPT, "") == broken(LOST, AFTER) == []
    assert broken(replace(LOST, exit_code=2, reported=None, received=0), BEFORE) == []
