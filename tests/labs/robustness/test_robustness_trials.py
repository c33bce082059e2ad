"""A part of `make robustness`: two trials of each kind of disturbance, the same ones each time."""

import pytest
from labs.robustness.__main__ import judge
from labs.robustness.disturbances import DISTURBANCES
from labs.robustness.trial import draw

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", DISTURBANCES)
def test_promises_are_kept(name: str) -> None:
    judgement = judge(draw(1, (name,)))
    assert not judgement.broken, str(judgement)


def test_a_number_draws_the_same_trial_each_time() -> None:
    assert draw(7) == draw(7) != draw(8)
