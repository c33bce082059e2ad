import math

import pytest

from plimsoll.stats.little import effective_users, little, little_open, lognormal_mean


@pytest.mark.parametrize(
    ("users", "requests", "mean", "longest", "ratio"),
    [
        (10, 207, 8502, 14281, 0.978),
        (30, 207, 23659, 29505, 0.907),
        (50, 203, 37889, 47310, 0.855),
        (10, 285, 6097, 11275, 0.965),
        (30, 270, 18602, 35524, 0.930),
        (50, 239, 33494, 61685, 0.889),
        (10, 246, 7035, 11785, 0.961),
        (30, 221, 22675, 37918, 0.928),
        (50, 202, 38554, 65534, 0.865),
        (10, 448, 3938, 14456, 0.980),
        (30, 403, 12255, 39826, 0.915),
        (50, 393, 20128, 61986, 0.879),
    ],
)
def test_what_is_cut_off_at_the_end_of_a_run_is_not_missing(
    users: int, requests: int, mean: int, longest: int, ratio: float
) -> None:
    found = little(users, requests / 180, mean, duration=180, longest=longest)

    assert round(found.ratio, 3) == ratio
    assert found.low == pytest.approx(1 - longest / 180_000 - 0.02)
    assert found.word == "holds"


@pytest.mark.parametrize(
    ("seconds", "rate", "mean", "ratio"),
    [
        (120.0, 21.95868, 2131.93, 0.977),
        (119.9, 21.94637, 2152.81, 0.986),
        (119.8, 24.81812, 1914.50, 0.992),
        (119.9, 28.05817, 1689.47, 0.989),
        (119.9, 27.51369, 1726.96, 0.992),
        (66.6, 54.57598, 846.56, 0.999),
        (96.9, 62.20372, 758.88, 0.996),
    ],
)
def test_users_that_are_still_being_started_do_not_count_whole(
    seconds: float, rate: float, mean: float, ratio: float
) -> None:
    found = little(50, rate, mean, duration=seconds, ramp=10, longest=5598)

    assert found.users == pytest.approx(50 * (1 - 5 / seconds))
    assert found.ratio == pytest.approx(ratio, abs=6e-4)
    assert found.word == "holds"


def test_think_time_is_time_of_users_too() -> None:
    assert little(48, 9.4, 206, think=4.9, duration=300).ratio == pytest.approx(1.0, abs=1e-3)
    assert little(10, 10, 500, think=1, per_think=2).ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("ratio", "word"),
    [(1.11, "impossible"), (1.05, "doubtful"), (1.01, "holds"), (0.95, "holds"), (0.92, "doubtful"), (0.89, "missing")],
)
def test_how_far_off_the_law_a_table_is(ratio: float, word: str) -> None:
    assert little(10, 10 * ratio, 1000, duration=100, longest=3500).word == word


def test_a_guessed_mean_may_be_further_off() -> None:
    assert little(10, 10.4, 1000, duration=100, longest=1000).word == "doubtful"
    assert little(10, 10.4, 1000, duration=100, longest=1000, guessed=True).word == "holds"


def test_open_arrivals_are_held_against_what_was_counted_in_flight() -> None:
    assert little_open(50, 1000, 50, duration=60, longest=200).word == "holds"
    assert little_open(50, 1000, 60, duration=60, longest=200).word == "impossible"
    assert little_open(50, 1000, 40, duration=60, longest=200).word == "missing"


def test_a_lognormal_mean_from_two_percentiles() -> None:
    # σ = 0.5: p95 lies 1.645 σ above the median on the logarithm's scale, the mean σ²/2.
    assert lognormal_mean(100, 100 * math.exp(0.5 * 1.645)) == pytest.approx(100 * math.exp(0.125))
    assert lognormal_mean(100, 100) == 100


def test_users_who_come_at_once_are_all_there() -> None:
    assert effective_users(50, 0, 120) == 50
    assert effective_users(50, 10, None) == 50


def test_a_run_may_end_before_all_users_are_there() -> None:
    assert effective_users(50, 10, 10) == 25
    assert effective_users(50, 20, 10) == 12.5


def test_a_law_about_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="users"):
        little(0, 1, 1)
    with pytest.raises(ValueError, match="in flight"):
        little_open(0, 1, 1, duration=None, longest=None)
