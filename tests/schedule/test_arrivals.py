from __future__ import annotations

from itertools import islice

import pytest

from plimsoll._engine import Arrivals, Shape


def test_arrivals_are_due_times_in_ns():
    assert list(Arrivals(Shape.constant(4, 1))) == [0, 250_000_000, 500_000_000, 750_000_000]
    assert list(Arrivals(Shape.steps([(1, 1), (5, 0), (1, 1)]))) == [0, 6_000_000_000]


def test_an_ended_stream_stays_so():
    arrivals = Arrivals(Shape.constant(1, 1))
    assert [next(arrivals, None) for _ in range(3)] == [0, None, None]


def test_a_limit_counts_over_all_workers():
    shape = Shape.constant(10)
    parts = [list(Arrivals(shape, index=index, of=3, limit=4)) for index in range(3)]
    assert parts == [[0, 300_000_000], [100_000_000], [200_000_000]]


@pytest.mark.parametrize("of", [1, 2, 5])
def test_workers_share_one_poisson_process(of):
    shape = Shape.ramp(0, 500, 10)
    whole = list(Arrivals(shape, poisson=True, seed=7))
    parts = [list(Arrivals(shape, poisson=True, seed=7, index=index, of=of)) for index in range(of)]
    assert sorted(due for part in parts for due in part) == whole
    assert whole != list(Arrivals(shape, poisson=True, seed=8))


def test_a_seed_means_the_same_times_for_ever():
    due = list(islice(Arrivals(Shape.constant(1000), poisson=True, seed=42), 3))
    assert due == [1_683_651, 2_067_581, 6_196_155]


def test_what_cannot_be_shared_out_is_refused():
    with pytest.raises(ValueError, match="index must be below of = 2; it is 2"):
        Arrivals(Shape.constant(1), index=2, of=2)
    with pytest.raises(ValueError, match="spacing must be uniform with a replay"):
        Arrivals(Shape.replay([1]), poisson=True)
