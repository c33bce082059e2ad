from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll._engine import Shape


@pytest.mark.parametrize(
    ("shape", "seconds", "count"),
    [
        (Shape.constant(10, 3), 3, 30),
        (Shape.constant(10), None, None),
        (Shape.ramp(0, 10, 4), 4, 20),
        (Shape.steps([(1, 10), (2, 0), (1, 5)]), 4, 15),
        (Shape.steps([[1, 10]]), 1, 10),
        (Shape.staircase(10, 5, 2, 3), 6, 90),
        (Shape.staircase(10, 10, 2, 2, rise=1), 5, 75),
        (Shape.spike(1, 9, 2, 3, 10), 10, 34),
        (Shape.spike(1, 9, 2, 3, 12, rise=1), 12, 44),
        (Shape.sine(10, 5, 2, 4), 4, 40),
        (Shape.sine(10, 5, 2), None, None),
        (Shape.stages([(2, 10), (2, 0)]), 4, 20),
        (Shape.stages([(2, 10)], start=10), 2, 20),
        (Shape.replay([1.5, 0.5]), 2, 2),
    ],
)
def test_a_shape_knows_how_long_it_lasts_and_how_many_it_brings(shape, seconds, count):
    assert shape.seconds == seconds
    assert shape.count == (None if count is None else pytest.approx(count))


def test_a_level_is_that_of_its_time_and_nothing_before_and_after():
    shape = Shape.stages([(10, 100), (10, 100)])
    assert [shape.level(at) for at in (0, 5, 10, 19.9, 20, 1e300)] == [0, 50, 100, 100, 0, 0]
    assert [Shape.constant(7).level(at) for at in (-1, -1e-12, float("nan"), 0, 1e9)] == [0, 0, 0, 7, 7]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shape.constant(-1), "level must be from 0 to 1e9; it is -1"),
        (lambda: Shape.ramp(0, 1, 0), "seconds must be above 0 (1 ns) and at most 1e9 s; it is 0"),
        (lambda: Shape.steps([]), "steps must have at least one element; it is empty"),
        (lambda: Shape.steps([(1, 1), (1, 2e9)]), "steps[1].level must be from 0 to 1e9; it is 2000000000"),
        (lambda: Shape.staircase(1, 1, 1, -1), "count must be from 1 to 100000; it is -1"),
        (lambda: Shape.spike(1, 2, 3, 4, 5), "seconds must be at least at + rise + hold + rise = 7; it is 5"),
        (
            lambda: Shape.sine(1, 2, 3),
            "amplitude must be from 0 to 1 (at most mean, and with mean at most 1e9); it is 2",
        ),
        (lambda: Shape.stages([(1, float("inf"))]), "stages[0].target must be from 0 to 1e9; it is inf"),
        (lambda: Shape.replay([-0.5]), "times[0] must be from 0 to 1e9 s; it is -0.5"),
        (lambda: Shape.constant(1e9, 1e9), "seconds must leave at most 9007199254740992 events in all; there are 1e18"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(make, message):
    with pytest.raises(ValueError) as refused:
        make()
    assert str(refused.value) == message


def test_a_pair_has_two_numbers():
    with pytest.raises(ValueError):
        Shape.steps([(1, 2, 3)])


ANY = st.floats()


@given(ANY, ANY, ANY, ANY, ANY, st.integers(-10, 10**6), st.lists(st.tuples(ANY, ANY), max_size=5))
def test_whatever_is_given_a_shape_comes_out_or_a_value_error(a, b, c, d, e, n, pairs):
    for make in (
        lambda: Shape.constant(a, b),
        lambda: Shape.ramp(a, b, c),
        lambda: Shape.steps(pairs),
        lambda: Shape.staircase(a, b, c, n, d),
        lambda: Shape.spike(a, b, c, d, e),
        lambda: Shape.sine(a, b, c, d),
        lambda: Shape.stages(pairs, a),
        lambda: Shape.replay([a, b, c]),
    ):
        try:
            shape = make()
        except ValueError:
            continue
        assert shape.seconds > 0
        assert 0 <= shape.count <= 2**53
        assert 0 <= shape.level(shape.seconds / 2) <= 1e9
