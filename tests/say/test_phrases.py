from dataclasses import replace

import pytest

from plimsoll.say import comparisons, phrases
from plimsoll.stats.compare.comparison import Comparison, Remark
from plimsoll.stats.metric import Metric

P50, P99, THROUGHPUT = Metric("quantile", 0.5), Metric("quantile", 0.99), Metric("throughput")


def compared(metric: Metric, ratio: float, width: float = 0.05, **others) -> Comparison:
    known = {
        "a": "baseline", "b": "cached", "against": "baseline", "endpoint": ("", "Aggregated"), "level": None,
        "operation": "", "word": "different", "a_value": 100.0, "b_value": 100.0 * ratio, "ratio": ratio,
        "low": ratio * (1 - width), "high": ratio * (1 + width), "pairs": 5, "interleaved": True,
    }  # fmt: skip
    return Comparison(metric=metric, **(known | others))


@pytest.mark.parametrize(
    ("metric", "ratio", "text"),
    [
        (P50, 0.66, "`cached` is 34 % faster than `baseline` (p50, 31–37 %, 5 interleaved pairs)"),
        (P50, 1.2, "`cached` is 20 % slower than `baseline` (p50, 14–26 %, 5 interleaved pairs)"),
        (P50, 0.25, "`cached` is 4.0 times as fast as `baseline` (p50, 3.8–4.2 times, 5 interleaved pairs)"),
        (P50, 3.0, "`cached` takes 3.0 times as long as `baseline` (p50, 2.8–3.2 times, 5 interleaved pairs)"),
        (P99, 1.2, "`cached` has a 20 % higher p99 than `baseline` (14–26 %, 5 interleaved pairs)"),
        (P99, 2.5, "`cached` has 2.5 times as high a p99 as `baseline` (2.4–2.6 times, 5 interleaved pairs)"),
        (THROUGHPUT, 1.2, "`cached` answers 20 % more requests than `baseline` (14–26 %, 5 interleaved pairs)"),
        (
            THROUGHPUT, 4.4,
            "`cached` answers 4.4 times as many requests as `baseline` (4.2–4.6 times, 5 interleaved pairs)",
        ),
    ],
)  # fmt: skip
def test_a_difference_is_one_sentence(metric, ratio, text):
    assert phrases.sentence(compared(metric, ratio)) == text


@pytest.mark.parametrize(
    ("metric", "ratio", "text", "chip"),
    [
        (P50, 0.066, "`cached` is faster than `baseline` (p50, {})", "faster, machine full"),
        (P99, 2.5, "`cached` has a higher p99 than `baseline` ({})", "slower, machine full"),
        (THROUGHPUT, 4.4, "`cached` answers more requests than `baseline` ({})", "more requests, machine full"),
    ],
)
def test_on_a_full_machine_the_size_of_a_difference_is_not_said(metric, ratio, text, chip):
    comparison = compared(metric, ratio, remarks=(Remark("full machine", (2.0, 2.0, 0.05)),))
    why = "by how much is not known: this machine was full, with 2 of 2 cores busy, of which the target used 0.05"
    assert phrases.sentence(comparison) == text.format(why)
    assert comparisons.short_verdict(comparison) == chip


def test_shares_differ_by_percentage_points():
    errors = compared(
        Metric("errors"), 1.0, difference=0.012, difference_low=0.01, difference_high=0.014, interleaved=False
    )
    assert phrases.sentence(errors) == (
        "`cached` has 1.2 percentage points more failures than `baseline` (1.0–1.4, 5 pairs)"
    )
    assert comparisons.bound(errors) is None


def test_what_an_interval_leaves_open():
    assert comparisons.bound(compared(P50, 1.0, width=0.2)) == pytest.approx(0.2)
    assert comparisons.bound(compared(P50, 1.0, low=None, high=None)) is None
    assert phrases.span(compared(P50, 1.0, width=0.2)) == "−20 to +20 %"
    assert phrases.span(compared(P50, 1.3, within_run=True)) == "", "it says nothing about other runs"


def test_values_with_their_units():
    assert phrases.from_to(compared(P50, 0.995)) == "p50 100 → 99.5 ms"
    assert phrases.from_to(compared(THROUGHPUT, 2.0)) == "100 → 200 requests/s"


@pytest.mark.parametrize(("share", "text"), [(0.26, "a quarter"), (0.5, "half"), (0.18, "18 %"), (0.33, "a third")])
def test_fractions_that_people_say(share, text):
    assert phrases.fraction(share) == text


def test_beside_one_another_without_an_interval():
    found = compared(P50, 0.2, low=None, high=None)
    assert phrases.beside(found, 4.42) == "`cached` answers 4.4 times as many requests as `baseline`"
    assert phrases.beside(found, 0.9) == "`cached` answers 10 % fewer requests than `baseline`"
    assert phrases.beside(found, None) == "`cached` against `baseline`: p50 100 → 20.0 ms"
    assert comparisons.basis(replace(found, pairs=1)) == "one run each"
