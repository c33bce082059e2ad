from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.say import comparisons
from plimsoll.say.comparisons import RunLength, details, direction, headline, in_short, verdict
from plimsoll.stats.compare.comparison import Comparison, Remark, RunsNeeded
from plimsoll.stats.findings.finding import Where
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Study, Trial

OPEN = Comparison(
    Metric.parse("p99"), "old", "new", "baseline", ("", "GET_thread"), Level("users", 240), "", "not distinguishable",
    a_value=200.0, b_value=210.0, ratio=1.05043, low=0.9781, high=1.1281, pairs=5, interleaved=True, p=0.12805,
    spread=0.05745, resolves=0.074, needed=RunsNeeded(3, 36.0, 8), requests=8579, effect=2.2, step=0.001, warmup=20.0,
    checks=(9, 9),
)  # fmt: skip


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")


def test_the_layout_of_a_verdict():
    lines = [headline(OPEN), *(f"   {line}" for line in details(OPEN, RunLength(300.0, 60.0)))]
    assert plain("\n".join(lines)) == (
        "p99 GET_thread   200 → 210 ms   ×1.05 [0.98, 1.13]   NOT DISTINGUISHABLE (5 interleaved pairs, p=.13, "
        "run-to-run s=5.7 %)\n"
        "   resolves ±7.4 % now; ±5 % needs 3 more pairs (≈ 36 min at 2×(300+60) s); 80 % power for 5 %: 8 more pairs\n"
        "   p99 rests on 8 579 requests/run, deff 2.2; tool step 0.1 %; warm-up 20 s removed; checks 9/9"
    )


def test_without_a_verdict_the_ratio_has_no_interval():
    few = replace(
        OPEN, endpoint=("", "DELETE_comment"), word="no verdict", a_value=1200.0, b_value=340.0, ratio=0.283,
        low=None, high=None, reason=Remark("few requests", (0.99, 45, False)),
    )  # fmt: skip
    assert headline(few) == (
        "p99 DELETE_comment   1\u202f200 → 340 ms   ×0.28   NO VERDICT: p99 rests on the single largest of ≈45 "
        "requests; 368 are needed, 10\u00a0000 to compare well"
    )
    assert in_short(few).endswith("(×0.28)")
    assert details(replace(OPEN, word="invalid", resolves=None, needed=None)) == []


def test_in_short():
    same = replace(OPEN, endpoint=("", "checkout"), word="equivalent", ratio=1.00051, low=0.99739, high=1.00364)
    assert in_short(same) == "EQUIVALENT within 5 % (×1.001 [0.997, 1.004])"


@pytest.mark.parametrize(
    ("word", "others", "shown"),
    [
        ("different", {"at_least": True}, "DIFFERENT, at least 5 %"),
        ("different", {}, "DIFFERENT"),
        ("negligible", {}, "DIFFERENT but negligible"),
        ("equivalent", {}, "EQUIVALENT within 5 %"),
        ("not distinguishable", {}, "NOT DISTINGUISHABLE"),
        ("one run", {}, "ONE RUN EACH"),
        ("no verdict", {"reason": Remark("run invalid", names=("few",))}, "NO VERDICT: few"),
        ("invalid", {"reason": Remark("run invalid", names=("broken",))}, "INVALID: broken"),
    ],
)
def test_the_words(word, others, shown):
    assert verdict(replace(OPEN, word=word, **others)) == shown


def test_only_equivalence_says_that_two_are_the_same():
    for word in comparisons.WORDS:
        assert ("EQUIVALENT" in verdict(replace(OPEN, word=word))) == (word == "equivalent")


def test_a_difference_of_unknown_importance_says_so():
    assert details(replace(OPEN, word="different", needed=None))[0].startswith("whether by more than 5 % is open; ")
    assert "open" not in "".join(details(replace(OPEN, word="different", at_least=True)))


def test_an_interval_that_excludes_1_does_not_look_as_if_it_had_it():
    assert "[1.0004, 1.1500]" in comparisons.ratio(replace(OPEN, low=1.0004, high=1.15))
    assert "[0.850, 0.998]" in comparisons.ratio(replace(OPEN, low=0.85, high=0.9976))
    assert "[1.00, 1.15]" in comparisons.ratio(replace(OPEN, low=1.0, high=1.15))


def test_an_interval_that_says_nothing_takes_no_room():
    assert comparisons.interval(replace(OPEN, low=1e-90, high=1e90)) == "[<0.01, >1000]"


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.12805, "=.13"), (0.0496, "=.050"), (0.0004, "<.001"), (0.002, "=.0020"), (0.999, "=1"), (1, "=1")],
)
def test_p_values(p, shown):
    assert comparisons.p_value(p) == shown


@pytest.mark.parametrize(
    ("number", "digits", "shown"),
    [
        (0.05745, 2, "0.057"), (0.0, 2, "0"), (99.96, 3, "100"), (9.996, 3, "10.0"), (-0.5, 2, "-0.50"),
        (71876.0, 3, "71876"),
    ],
)  # fmt: skip
def test_significant_digits(number, digits, shown):
    assert comparisons.significant(number, digits) == shown


@pytest.mark.parametrize(
    ("ratio", "shown"), [(1.05, "+5.0 %"), (0.5, "−50 %"), (1.0, "0.00 %"), (1.0004, "+0.04 %"), (None, "–")]
)
def test_changes(ratio, shown):
    assert comparisons.change(replace(OPEN, ratio=ratio)) == shown


@pytest.mark.parametrize(
    ("metric", "ratio", "shown"),
    [
        ("p99", 1.2, "slower"), ("p99", 0.8, "faster"), ("throughput", 1.2, "more requests"),
        ("throughput", 0.8, "fewer requests"), ("errors", 1.2, "more failures"), ("errors", 0.8, "fewer failures"),
    ],
)  # fmt: skip
def test_what_became_of_it(metric, ratio, shown):
    certain = replace(OPEN, metric=Metric.parse(metric), word="different", ratio=ratio)
    assert direction(certain) == shown
    assert direction(replace(certain, word="not distinguishable")) == ""


@pytest.mark.parametrize(
    ("metric", "ratio", "shown"),
    [
        ("p99", 1.08, "8.0 % slower"), ("p99", 4.08, "4.1 times as long"), ("p50", 0.2843, "3.5 times as fast"),
        ("p50", 0.66, "34 % faster"), ("throughput", 4.4, "4.4 times as many requests"),
        ("throughput", 0.25, "75 % fewer requests"),
    ],
)  # fmt: skip
def test_a_chip_has_times_where_the_answer_has_them(metric, ratio, shown):
    certain = replace(OPEN, metric=Metric.parse(metric), word="different", ratio=ratio)
    assert comparisons.short_verdict(certain) == shown


def test_shares_are_shown_as_percentages():
    failing = replace(OPEN, metric=Metric.parse("errors"), a_value=0.0012, b_value=0.0)
    assert comparisons.values(failing) == "0.120 → 0 %"


def test_differences_of_shares_are_told_in_points():
    failing = replace(
        OPEN, metric=Metric.parse("errors"), ratio=None, low=None, high=None, a_value=0.001, b_value=0.0062,
        difference=0.0052, difference_low=-0.001, difference_high=0.0114,
    )  # fmt: skip
    assert headline(failing).split("   ")[1:3] == ["0.100 → 0.620 %", "+0.52 pp [−0.10, +1.14]"]
    assert comparisons.change(failing) == "+0.52 pp"
    assert comparisons.ratio(replace(failing, difference=0.0, difference_low=None)) == "0.00 pp"


def test_one_run_each_speaks_for_itself_only():
    single = replace(OPEN, word="one run", within_run=True, pairs=1)
    assert "×1.05 [0.98, 1.13] within-run only   ONE RUN EACH" in headline(single)
    assert "pair" not in headline(single)


def test_the_pace_of_a_comparison():
    trials = tuple(Trial(id=name, variant=name, level=Level("users", 240), duration=300.0) for name in ("old", "new"))
    assert str(RunLength.of(Study("s", trials, gap=60.0), OPEN)) == "2×(300+60) s"
    assert RunLength.of(Study("s", trials), OPEN) is None


def test_places_and_evidence():
    where = Where(variant="async", against="index", level=Level("users", 50), endpoint=("GET", "/todos/"))
    assert comparisons.place(where) == "async against index, GET /todos/, at 50 users"
    assert comparisons.place(Where()) == ""
    given = {
        "knee_users": 281.53, "bracket_users": (240.0, 336.0), "rates": (1.0, 2.0, 3.0), "why": "x", "no": float("nan"),
    }  # fmt: skip
    assert comparisons.evidence(given) == "knee_users 281.5, bracket_users 240…336, rates (1, 2, 3), why x, no –"
    many = tuple(float(second) for second in range(40))
    assert comparisons.evidence({"at_s": many}) == "at_s (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 28 more)"


@pytest.mark.parametrize(
    ("is_counted", "text"), [(True, "on 12\u202f300 requests/run"), (False, "on ≈12\u202f300 requests/run")]
)
def test_a_number_of_requests_that_was_not_counted_is_marked(is_counted, text):
    comparison = replace(OPEN, requests=12_300, is_counted=is_counted)
    assert any(text in line for line in details(comparison, RunLength(60.0, 0.0)))


def test_an_interval_without_1_is_not_called_no_clear_difference():
    """Its p is not small enough among many comparisons, but the interval itself says more than "no difference"."""
    above = replace(OPEN, ratio=1.35, low=1.06, high=1.73)
    below = replace(OPEN, ratio=0.74, low=0.58, high=0.94)
    for comparison in (above, below):
        assert "no clear difference" not in plain(comparisons.short_verdict(comparison))
        assert "unclear (5 pairs)" in plain(comparisons.short_verdict(comparison))
    assert plain(comparisons.short_verdict(OPEN)) == "no clear difference (±13 %)"
