import pytest

from plimsoll.report.charts.verdicts import MOST_ROWS, TONES, tone, verdict_chart
from plimsoll.stats.compare.comparison import Comparison
from plimsoll.stats.metric import Metric


def compared(word="different", ratio=1.2, kind="mean", **others) -> Comparison:
    known = {"low": 1.1, "high": 1.3} | others
    return Comparison(Metric(kind, delta=0.1), "a", "b", "baseline", ("GET", "/"), None, "", word, ratio=ratio, **known)


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (compared(), "worse"),
        (compared(ratio=0.8), "better"),
        (compared(kind="throughput"), "better"),
        (compared("negligible"), "same or nearly so"),
        (compared("equivalent"), "same or nearly so"),
        (compared("not distinguishable"), "open"),
        (compared("one run"), "open"),
        (compared("invalid"), "invalid"),
    ],
)
def test_the_tone_says_what_it_means_for_the_later_one(comparison, expected):
    assert tone(comparison) == expected
    assert expected in TONES


def test_rows_carry_ratio_interval_and_words_and_the_band_is_symmetric_on_its_axis():
    chart = verdict_chart("v", "V", [compared(at_least=True), compared("one run", low=None, high=None)])
    first, second = chart.spec["datasets"]["rows"]
    assert (first["ratio"], first["low"], first["high"]) == (1.2, 1.1, 1.3)
    assert first["verdict"] == "DIFFERENT, at least 10 %"
    assert (second["low"], second["high"]) == (None, None)
    band = chart.spec["datasets"]["band"][0]
    assert band["low"] * band["high"] == pytest.approx(1, rel=1e-4)
    assert band["high"] == pytest.approx(1.1)


def test_what_has_no_ratio_has_no_row_and_many_rows_are_cut_with_a_note():
    assert verdict_chart("v", "V", [compared("invalid", ratio=None)]) is None
    chart = verdict_chart("v", "V", [compared()] * (MOST_ROWS + 7))
    assert len(chart.spec["datasets"]["rows"]) == MOST_ROWS
    assert chart.note.startswith("7 more")


def test_an_interval_that_says_next_to_nothing_ends_in_an_arrow_and_leaves_the_others_room():
    chart = verdict_chart("v", "V", [compared(), compared("one run", ratio=1.1, low=1e-9, high=1e9)])
    first, second = chart.spec["datasets"]["rows"]
    assert (first["low"], first["high"]) == (1.1, 1.3)
    edge = 1.2**4
    assert (second["low"], second["high"]) == (pytest.approx(1 / edge, rel=1e-3), pytest.approx(edge, rel=1e-3))
    arrows = chart.spec["datasets"]["beyond"]
    assert [(each["row"], each["side"]) for each in arrows] == [(1, "left"), (1, "right")]
    assert [each["at"] for each in arrows] == [second["low"], second["high"]]
    assert "1000000000" in second["shown"] or ">" in second["shown"], "the table has the ends"


def test_equal_values_leave_an_axis_to_see_their_interval_on():
    chart = verdict_chart("v", "V", [compared("equivalent", ratio=1.0, low=0.98, high=1.02)])
    assert "beyond" not in chart.spec["datasets"]
