from __future__ import annotations

from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import assess
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.view import RunView


def test_it_is_what_the_stored_run_says(busy):
    result = ThresholdResult("p99 < 300ms", False, 400.0, 300.0, "p99 was 400 ms, not < 300 ms", "ms")
    assessment = assess(
        busy,
        Manifest(model="closed", users=5),
        RunFacts(lost_workers=0, thresholds=(result.to_dict(),)),
        "finished",
    )
    assert assessment.thresholds == (result,)
    assert not assessment.validity.valid
    assert assessment.omission is not None
    assert not assessment.is_open


def test_the_open_model_omits_nothing(busy):
    assessment = assess(busy, Manifest(model="open", max_users=100), RunFacts(), "finished")
    assert (assessment.omission, assessment.is_open, assessment.max_users) == (None, True, 100)


def test_a_run_of_which_nothing_is_known():
    assessment = assess(RunView(), Manifest(), RunFacts(), "finished")
    assert (assessment.thresholds, assessment.omission, assessment.is_open, assessment.max_users) == (
        (),
        None,
        False,
        None,
    )
    assert assess(RunView(), Manifest(), RunFacts(), "finished").thresholds == ()
