import random

import pytest
from benches.trend import HOUR, MIB, Trend, trend

TIMES = [10.0 * turn for turn in range(180)]


def grown(mib_per_hour: float, jitter: float = 0.0) -> list[int]:
    """Sizes at TIMES, in bytes, with jitter in MiB."""
    noise = random.Random(7)
    return [round((50 + mib_per_hour * each / HOUR + noise.uniform(-jitter, jitter)) * MIB) for each in TIMES]


def slope(sizes: list[int]) -> Trend:
    found = trend(TIMES, sizes)
    assert found is not None
    return found


@pytest.mark.parametrize("rate", [-3.0, 0.0, 0.5, 40.0])
def test_a_straight_line_has_its_own_slope(rate: float) -> None:
    found = slope(grown(rate))
    assert found.slope == pytest.approx(rate, abs=1e-3)
    assert found.low == pytest.approx(rate, abs=1e-3)
    assert found.high == pytest.approx(rate, abs=1e-3)


@pytest.mark.parametrize("rate", [0.0, 5.0])
def test_the_interval_is_around_the_truth_in_spite_of_noise(rate: float) -> None:
    found = slope(grown(rate, jitter=0.1))
    assert found.low < rate < found.high
    assert 0 < found.high - found.low < 1


def test_the_warm_up_is_left_out() -> None:
    assert trend(TIMES[:10], [0, 0] + 8 * [MIB]) == Trend(0.0, 0.0, 0.0)
    found = trend(TIMES[:10], [0, 0, 0, 0] + 6 * [MIB])
    assert found is not None
    assert found.high > 0


def test_a_jump_of_a_few_samples_does_not_sway_it() -> None:
    sizes = grown(0.0)
    sizes[100:103] = [size + 500 * MIB for size in sizes[100:103]]
    assert slope(sizes).slope == 0


def test_a_few_samples_tell_nothing() -> None:
    assert trend(TIMES[:9], grown(0.0)[:9]) is None  # two of nine are the warm-up
    assert trend(TIMES[:10], grown(0.0)[:10]) is not None


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-1.0, 1.0, "holds"), (0.9, 1.1, "undecided"), (1.0, 1.1, "undecided"), (1.1, 1.2, "GROWS")],
)
def test_the_verdict_is_by_the_interval_and_not_by_the_slope(low: float, high: float, verdict: str) -> None:
    assert Trend(0.0, low, high).verdict == verdict
