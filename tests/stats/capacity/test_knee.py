import pytest

from plimsoll.stats.capacity.knee import knee, proportional, saturation_bound

LADDER = (48, 96, 162, 240, 336, 460, 510, 578)
OLD = (9.4, 18.5, 31, 44.6, 53, 44.5, 32.4, 26.7)
NEW = (8.9, 18.6, 31.6, 45.4, 54.3, 49.1, 33.9, 40.2)


@pytest.mark.parametrize(("rates", "load"), [(OLD, 282), (NEW, 284)])
def test_the_knee_of_a_published_ladder(rates: tuple[float, ...], load: int) -> None:
    found = knee(LADDER, rates)

    assert found is not None
    assert round(found.load) == load
    assert (found.low, found.high) == (240, 336)
    assert found.capacity == pytest.approx(max(rates))


@pytest.mark.parametrize(("first", "capacity", "bound"), [(0.14, 53, 272), (0.15, 54.3, 280)])
def test_more_users_than_the_bound_must_wait(first: float, capacity: float, bound: int) -> None:
    """Five seconds of thinking and the fastest endpoint's median at the lowest rung."""
    assert round(saturation_bound(first + 5, capacity)) == bound


def test_an_exact_stick_is_found_between_its_rungs() -> None:
    found = knee((10, 20, 30, 40, 50), (20, 40, 50, 50, 50.001))

    assert found is not None
    assert (found.load, found.slope) == (pytest.approx(25, rel=1e-4), pytest.approx(2))
    assert (found.low, found.high) == (20, 30)


def test_the_bracket_leaves_out_rungs_that_neither_keep_pace_nor_lag() -> None:
    found = knee((10, 20, 30, 40), (10, 20, 28.2, 29))

    assert found is not None
    assert (found.low, found.high) == (20, 40)


def test_there_is_no_knee_in_a_ladder_that_keeps_pace_or_that_starts_beyond_it() -> None:
    assert knee((10, 20, 30), (10, 20, 30)) is None
    assert knee((10, 30, 50), (1.15, 1.15, 1.13)) is None
    assert knee((2, 6, 12), (340, 350, 361)) is None


def test_rates_that_no_stick_fits_have_no_knee() -> None:
    assert knee((10, 20, 30, 40), (5, 20, 40, 20)) is None


def test_throughput_that_follows_the_load_is_told_by_its_slope() -> None:
    assert proportional((10, 20, 30), (5, 10, 15)) == pytest.approx(0.5)
    assert proportional((10, 20, 30), (5, 10, 12)) is None
    assert proportional((10, 20), (5, 10)) is None


@pytest.mark.parametrize("loads", [(1, 2), (2, 1, 3), (0, 1, 2)])
def test_loads_that_make_no_ladder_are_refused(loads: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="loads"):
        knee(loads, (1, 2, 3))
