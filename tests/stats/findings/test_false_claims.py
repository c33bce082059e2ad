"""How often the scaling rules say something that is not so, of simulated ladders whose law is known.

A limit of 5 % is checked with 200 ladders of each kind, so up to 17 of them may be wrong by chance (P = 2 %).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.stats.findings.making import run, study

from plimsoll.say.findings import evidence_of
from plimsoll.stats.findings.retrograde import retrograde
from plimsoll.stats.findings.saturation import saturation
from plimsoll.stats.findings.scaling_law import scaling_law
from plimsoll.stats.study import Measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.stats.study import Study

LONG = pytest.mark.long
LADDERS = 200
MOST_FALSE = 17
SECONDS = 30
DOUBLED, EVEN = (1, 2, 4, 8, 16, 32, 64, 128), (10, 20, 30, 40, 50, 60, 70)

LAWS: dict[str, Callable[[float], float]] = {
    "never saturates": lambda users: 20 * users,
    "flat": lambda _: 600.0,
    "saturates at once": lambda users: min(40 * users, 600.0),
    "saturates slowly": lambda users: 600 * users / (users + 8),
}


def simulated(law: str, loads: tuple[int, ...], spread: float, repeats: int, random: np.random.Generator) -> Study:
    """spread: standard deviation of ln X between runs; counting adds its own."""
    trials = []
    for users in loads:
        for repeat in range(repeats):
            rate = LAWS[law](users) * np.exp(random.normal(0, spread))
            requests = max(1, int(random.poisson(rate * SECONDS)))
            mean = 1000 * users * SECONDS / requests
            row = Measured("GET", "/", requests=requests, failures=0, rate=requests / SECONDS, mean=mean)
            trials.append(run(users, row, repeat=repeat, duration=float(SECONDS), think=0.0))
    return study(*trials)


def claims(of: Study, law: str, loads: tuple[int, ...]) -> Counter[str]:
    said: Counter[str] = Counter()
    for finding in saturation(of):
        if bracket := evidence_of(finding).get("bracket"):
            low, high = bracket  # type: ignore[misc]
            said["knee"] += 1
            # The broken stick of this law bends at 15 users.
            said["elsewhere"] += law == "saturates at once" and not (low <= 15 * 1.2 and high * 1.2 >= 15)  # type: ignore[operator]
            knee = evidence_of(finding).get("knee")
            said["outside"] += knee is not None and not low < knee <= high  # type: ignore[operator]
    said["collapse"] += sum(finding.weight == "warning" for finding in retrograde(of))
    said["law"] += sum("contention" in evidence_of(finding) for finding in scaling_law(of))
    return said


@pytest.mark.parametrize("loads", [DOUBLED, EVEN])
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("spread", [pytest.param(0.02, marks=LONG), 0.05, pytest.param(0.1, marks=LONG)])
@pytest.mark.parametrize("law", LAWS)
def test_claims_about_a_ladder_without_a_peak_are_false_in_one_of_twenty_at_most(
    law: str, loads: tuple[int, ...], repeats: int, spread: float
) -> None:
    random = np.random.default_rng(7)
    said: Counter[str] = Counter()
    for _ in range(LADDERS):
        said += claims(simulated(law, loads, spread, repeats, random), law, loads)
    assert said["outside"] == 0
    assert said["collapse"] <= MOST_FALSE
    assert said["law"] <= MOST_FALSE, "none of these ladders has a peak"
    assert said["elsewhere"] <= MOST_FALSE
    if law in ("never saturates", "flat"):
        assert said["knee"] <= MOST_FALSE


def test_a_knee_that_is_there_is_found_with_one_run_of_each_level() -> None:
    random = np.random.default_rng(7)
    found = [
        claims(simulated("saturates at once", DOUBLED, 0.05, 1, random), "saturates at once", DOUBLED)
        for _ in range(50)
    ]
    assert sum(each["knee"] for each in found) >= 45
