"""A part of `make robustness`: two trials of each kind of disturbance, the same ones each time. One is of HTTP/1.1, the
other of another protocol."""

from itertools import cycle
from pathlib import Path

import pytest
from labs.robustness.disturbances import DISTURBANCES
from labs.robustness.disturbed_run import judge
from labs.robustness.protocols import HTTP, PROTOCOLS
from labs.robustness.trial import draw

pytestmark = pytest.mark.long

OTHERS = cycle(each for each in PROTOCOLS if each != HTTP)
CASES = [(name, each) for name, other in zip(DISTURBANCES, OTHERS, strict=False) for each in (HTTP, other)]


@pytest.mark.parametrize(("name", "protocol"), CASES)
def test_promises_are_kept(name: str, protocol: str, tmp_path: Path) -> None:
    judgement = judge(draw(1, (name,), (protocol,)), tmp_path)
    assert not judgement.broken, str(judgement)


def test_a_number_draws_the_same_trial_each_time() -> None:
    assert draw(7) == draw(7) != draw(8)
