"""What an open page costs: the figures from made-up windows."""

import math

import pytest
from benches.cost import Cost
from benches.page import Window, ratio, render


def window(is_open, workers_us, cpu_us=10.0):
    return Window(is_open, Cost(cpu_us, workers_us, 1000.0, 50.0, 0.0))


def test_the_ratio_is_that_of_neighbours_in_either_order():
    windows = [window(False, 10.0), window(True, 11.0), window(True, 22.0), window(False, 20.0)]
    found = ratio(windows, "workers_us")
    assert found.value == pytest.approx(1.1)
    assert found.low == pytest.approx(1.1) and found.high == pytest.approx(1.1)


def test_pairs_that_disagree_widen_the_interval():
    windows = [window(False, 10.0), window(True, 10.0), window(True, 12.1), window(False, 10.0)]
    found = ratio(windows, "workers_us")
    assert found.value == pytest.approx(1.1)
    assert found.low < 1.0 < found.high


def test_one_pair_tells_nothing_of_its_spread():
    found = ratio([window(False, 10.0), window(True, 11.0)], "workers_us")
    assert (found.low, found.high) == (0.0, math.inf)


@pytest.mark.parametrize(("with_page", "word"), [(10.0, "holds"), (10.9, "MISSED")])
def test_the_bar_is_told(with_page, word):
    windows = [window(False, 10.0), window(True, with_page), window(True, with_page), window(False, 10.0)]
    text = render(windows, [500.0], [120.0, 180.0])
    assert f"at most ×1.02: {word} (2 pairs)" in text
    assert "first paint without: median 150 ms, most 180 ms of 2" in text
