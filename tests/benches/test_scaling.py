from __future__ import annotations

import re

import pytest
from benches.scaling import SINK, Scaling, Window, measure, measure_wrk, render

ONE = Window(rate=100_000.0, workers=1.0, coordinator=0.01, target=0.3)


def test_two_workers_scale_if_each_cpu_second_of_theirs_carries_as_many_requests() -> None:
    two = Window(rate=152_000.0, workers=1.6, coordinator=0.01, target=0.4)
    found = Scaling.of([(ONE, two)])
    assert found.efficiency == pytest.approx(0.95)
    assert found.rates == pytest.approx(1.52)


def test_one_bad_pair_of_three_does_not_count() -> None:
    good = Window(rate=200_000.0, workers=2.0, coordinator=0.01, target=0.6)
    bad = Window(rate=50_000.0, workers=2.0, coordinator=0.01, target=0.6)
    pairs = [(ONE, good), (ONE, bad), (ONE, good)]
    assert Scaling.of(pairs) == Scaling(efficiency=1.0, rates=2.0)
    text = render(pairs, pairs)
    assert "1.00 × the requests per CPU second (bar 0.95: holds)" in text
    assert "which share nothing: 1.00 × and 2.00 ×" in text
    assert re.search(r"\| plimsoll +\| +2 \| +200,000 \|", text)


@pytest.mark.skipif(not SINK.exists(), reason="the sink is built by `make bench-scaling`")
def test_a_window_of_a_real_run_has_the_cpu_of_all_parties() -> None:
    for window in (measure(workers=2, seconds=0.5), measure_wrk(processes=2, seconds=0.5)):
        assert window.rate > 100
        assert min(window.workers, window.target) > 0
