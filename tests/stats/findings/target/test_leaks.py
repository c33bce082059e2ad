from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import course, found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.target.leaks import crashes, growth_of, leaks
from plimsoll.stats.study import Series

SECONDS = np.arange(0.0, 600.0, 10.0)
LEAK = 200 + 0.05 * SECONDS + 3 * np.sin(SECONDS / 17)
CALM = 200 + 3 * np.sin(SECONDS / 17)
CACHE = 200 + 40 * (1 - np.exp(-SECONDS / 60)) + np.sin(SECONDS / 17)


@pytest.mark.parametrize(
    ("values", "word", "slope", "low", "high"),
    [(LEAK, "leak", 179.9, 169.1, 190.7), (CALM, "none", -0.09, -10.9, 10.7), (CACHE, "plateau", 55.6, 36.6, None)],
)
def test_slopes_of_memory_per_hour(values: Any, word: str, slope: float, low: float, high: float | None) -> None:
    each = growth_of(SECONDS, values)

    assert each is not None
    assert each.word == word
    assert each.slope == pytest.approx(slope, abs=0.05)
    assert each.low == pytest.approx(low, abs=0.05)
    assert high is None or each.high == pytest.approx(high, abs=0.05)


def test_a_cache_that_is_full_does_not_grow_in_the_second_half() -> None:
    each = growth_of(SECONDS, CACHE)

    assert each is not None
    assert each.second_half == pytest.approx((5.5, -4.8, 17.9), abs=0.05)


def test_growth_of_little_is_how_allocators_breathe() -> None:
    each = growth_of(SECONDS, 200 + 0.01 * SECONDS)

    assert each is not None
    assert each.low > 0
    assert each.word == "none"


def test_few_samples_tell_nothing_and_many_are_thinned_out() -> None:
    long = np.arange(0.0, 7200.0)

    assert growth_of(SECONDS[:10], LEAK[:10]) is None
    each = growth_of(long, 200 + 0.05 * long)
    assert each is not None
    assert each.slope == pytest.approx(180, abs=0.01)


def _observed(values: Any, name: str = "rss", **known: Any) -> Any:
    return run(10, observed=(Series("the service", name, known.pop("unit", "MB"), SECONDS, values),), **known)


def test_a_leak_is_told_with_its_slope() -> None:
    (finding,) = found(leaks, study(_observed(LEAK)))

    assert finding.weight == "warning"
    assert "the service rss grows from 203.4 MB to 230.1 MB during the run (179.9 MB/h)" in said(finding).statement


def test_a_plateau_is_an_insight_and_a_calm_process_nothing() -> None:
    (finding,) = found(leaks, study(_observed(CACHE), _observed(CALM, repeat=1)))

    assert finding.weight == "insight"
    assert "levels off" in said(finding).statement


def test_growth_that_is_not_of_one_rate_has_none() -> None:
    (finding,) = found(leaks, study(_observed(200 + 0.0005 * SECONDS**2)))
    assert "grows from 200.3 MB to 359.6 MB during the run (faster in its second half)" in said(finding).statement
    (finding,) = found(leaks, study(_observed(200 + 4 * np.sqrt(SECONDS))))
    assert "during the run (slower in its second half)" in said(finding).statement


def test_growth_with_the_failures_is_said_for_each_of_them() -> None:
    """They begin after 400 s; what grows evenly does not grow with them."""
    failures = np.where(np.arange(600) < 400, 0, 10)
    total = row("Aggregated", course=replace(course([10.0] * 600), failures=failures))
    with_failures = 200 + 0.016 * np.concatenate(([0], np.cumsum(failures)))[SECONDS.astype(np.int64)]
    with_failures += 0.01 * SECONDS
    (finding,) = found(leaks, study(_observed(with_failures, total=total)))
    assert "during the run (0.01839 MB for each failed request)" in said(finding).statement
    (finding,) = found(leaks, study(_observed(LEAK, total=total)))
    assert "(179.9 MB/h)" in said(finding).statement


def test_open_files_that_grow_are_a_leak_and_those_of_a_few_connections_are_not() -> None:
    (finding,) = found(leaks, study(_observed(280 + 14 * SECONDS, name="files", unit="")))
    assert finding.weight == "warning"
    assert "the open files of the service grow from 630 to 8190 during the run" in said(finding).statement
    assert found(leaks, study(_observed(280 + 0.1 * SECONDS, name="files", unit=""))) == []
    assert found(leaks, study(_observed(280 + 30 * CACHE, name="files", unit=""))) == []


def test_what_is_not_memory_may_grow() -> None:
    assert found(leaks, study(_observed(LEAK, name="cpu"))) == []


def test_memory_that_is_taken_in_the_warm_up_is_no_leak() -> None:
    filled = np.where(SECONDS < 300, LEAK * (1 + SECONDS / 100), CALM + 600)

    assert found(leaks, study(_observed(filled, warmup=300.0))) == []


def test_a_target_that_ended_is_a_result() -> None:
    (finding,) = found(crashes, study(_observed(CALM, crashed="signal 9, out of memory")))

    assert "the target ended during the run, at 203 MB of memory: signal 9, out of memory." in said(finding).statement
    assert found(crashes, study(_observed(CALM))) == []


def test_a_crash_tells_since_when_nothing_succeeded() -> None:
    times = course([10.0] * 8)
    broken = replace(times, failures=np.array([0, 0, 1, 0, 0, 1, 1, 1]))
    at = {}
    for name, each in (("broken", broken), ("fine", times), ("unseen", None)):
        total = row("", course=each)
        (finding,) = found(crashes, study(run(10, total=total, crashed="signal 9")))
        at[name] = evidence_of(finding).get("at_s")
    assert at == {"broken": (5.0,), "fine": None, "unseen": None}


def test_a_leak_tells_the_line_that_it_is() -> None:
    (finding,) = found(leaks, study(_observed(LEAK)))
    begin, end = evidence_of(finding)["line"]
    assert evidence_of(finding)["between_s"] == (0.0, 590.0)
    assert (end - begin) / 590 * 3600 == pytest.approx(evidence_of(finding)["slope_per_h"])
    assert begin == pytest.approx(200, abs=3)


def test_many_bytes_are_told_in_a_larger_unit() -> None:
    of_bytes = run(10, observed=(Series("the service", "rss", "bytes", SECONDS, LEAK * 32e6),))
    (finding,) = found(leaks, study(of_bytes))

    assert "grows from 6.06 GiB to 6.86 GiB during the run (5.36 GiB/h)" in said(finding).statement
