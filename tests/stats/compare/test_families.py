from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.stats.compare.families import benjamini_hochberg


def test_the_example_of_the_paper():
    ps = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    adjusted = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.10571, 0.216, 0.216, 0.216]
    assert [round(each, 5) for each in benjamini_hochberg(ps)] == adjusted


def test_none_and_one():
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([0.03]) == [0.03]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_they_stay_in_place_and_in_order_and_never_fall(ps):
    adjusted = benjamini_hochberg(ps)
    assert all(p <= q + 1e-12 <= 1 + 1e-9 for p, q in zip(ps, adjusted, strict=True))
    by_p = sorted(zip(ps, adjusted, strict=True))
    assert [q for _, q in by_p] == sorted(adjusted)
    assert max(adjusted) == pytest.approx(max(ps))


def test_what_is_no_probability():
    with pytest.raises(ValueError):
        benjamini_hochberg([1.2])
