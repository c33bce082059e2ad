from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import found, row, run, study

from plimsoll._engine import Histogram
from plimsoll.say.findings import said
from plimsoll.stats.findings.bimodal import bimodal, modes


def _times(seed: int, *parts: tuple[float, float, int]) -> Any:
    """(median in ms, σ of the logarithm, count) each."""
    random = np.random.default_rng(seed)
    return np.concatenate([random.lognormal(np.log(median), sigma, count) for median, sigma, count in parts])


def _buckets(times: Any) -> list[tuple[float, int]]:
    return [(float(each) * 1000, 1) for each in times]


def _histogram(times: Any) -> Histogram:
    histogram = Histogram()
    for each in times:
        histogram.record(max(1, int(each * 1000)))
    return histogram


@pytest.mark.parametrize("sigma", [0.25, 0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("count", [50, 200, 2000, 20_000])
def test_one_mode_is_one_however_wide(sigma: float, count: int) -> None:
    for seed in range(5):
        split = modes(_buckets(_times(seed, (100, sigma, count))))
        assert split is None or not split.is_bimodal


def test_the_score_of_one_narrow_mode() -> None:
    split = modes(_buckets(_times(3, (100, 0.25, 2000))))

    assert split is not None
    assert round(split.score, 2) == 0.86


def test_a_small_mode_far_out_is_found() -> None:
    """2 % of requests at 1.2 s, which Hartigan's dip test does not see."""
    split = modes(_buckets(_times(3, (100, 0.25, 1960), (1200, 0.1, 40))))

    assert split is not None
    assert split.score > 15
    assert split.minor == pytest.approx(0.02, abs=0.001)
    assert split.low == pytest.approx(100, rel=0.15)
    assert split.high == pytest.approx(1200, rel=0.15)


def test_two_large_modes_score_high() -> None:
    split = modes(_buckets(_times(3, (100, 0.25, 1400), (1200, 0.25, 600))))

    assert split is not None
    assert split.score > 100


def test_a_few_stray_requests_are_no_mode() -> None:
    split = modes(_buckets(_times(3, (100, 0.25, 10_000), (5000, 0.05, 19))))

    assert split is None or not split.is_bimodal


def test_nothing_has_no_modes() -> None:
    assert modes([]) is None


def test_an_endpoint_with_two_kinds_of_requests_is_an_insight_with_hypotheses() -> None:
    slow = _histogram(_times(1, (10, 0.25, 3000), (1010, 0.02, 200)))
    (finding,) = found(bimodal, study(run(10, row("GET /", histogram=slow, requests=3200))))

    assert finding.weight == "insight"
    assert said(finding).statement == (
        "GET /: latencies are of two kinds, around 1.1 s for 6.25 % of the requests and around 11 ms for the others."
    )
    assert "Hypotheses: a lost SYN, or a retry or a poll once a second, a cache" in said(finding).advice
    assert finding.where.kinds == ()


def test_a_fast_and_a_slow_endpoint_are_a_note_on_all_of_them_together_and_block_nothing() -> None:
    fast, slow = _histogram(_times(1, (10, 0.2, 500))), _histogram(_times(2, (500, 0.2, 500)))
    both = fast.copy()
    both.add(slow)
    rows = row("GET /fast", histogram=fast), row("GET /slow", histogram=slow)
    (finding,) = found(bimodal, study(run(10, *rows, total=row("", histogram=both))))

    assert finding.weight == "insight"
    assert finding.where.endpoint == ("", "Aggregated")
    assert finding.where.kinds == ("quantile",)
    assert said(finding).statement.startswith("all endpoints together: latencies are of two kinds")


def test_repeats_are_looked_at_together() -> None:
    halves = [_histogram(_times(seed, (100, 0.25, 500), (1200, 0.03, 15))) for seed in (1, 2)]

    both = study(*(run(10, row(histogram=each), repeat=n) for n, each in enumerate(halves)))
    assert len(found(bimodal, both)) == 1
    assert found(bimodal, study(run(10, row(histogram=halves[0])))) == []


def test_a_table_tells_it_by_extremes_that_do_not_overlap() -> None:
    rows = row("POST /fast", requests=201, min=300, max=810), row("GET /slow", requests=202, min=16704, max=39826)
    (finding,) = found(bimodal, study(run(30, *rows)))

    assert finding.weight == "insight"
    assert "mix POST /fast (none above 810 ms) with GET /slow (none below 16.7 s)" in said(finding).statement


@pytest.mark.parametrize(
    "fast", [row("POST /fast", requests=201, min=300, max=16705), row("POST /fast", requests=19, min=300, max=810)]
)
def test_extremes_that_overlap_or_few_requests_are_no_finding(fast: Any) -> None:
    assert found(bimodal, study(run(30, fast, row("GET /slow", requests=202, min=16704, max=39826)))) == []


def test_percentiles_of_all_are_refused_when_most_requests_of_one_kind_fail() -> None:
    rows = (
        row("POST /fast", requests=201, failures=194, min=300, max=810),
        row("GET /slow", requests=202, failures=0, min=16704, max=39826),
    )
    (finding,) = found(bimodal, study(run(30, *rows)))

    assert finding.weight == "blocks"


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        ({"mean_failure": 10.0, "mean_success": 1010.0}, "around 11 ms for the requests that failed and around 1.1 s"),
        ({"mean_failure": 1010.0, "mean_success": 10.0}, "around 1.1 s for 50 % of the requests"),
    ],
)
def test_a_mode_that_consists_of_the_failures_is_called_that(failed: dict[str, float], words: str) -> None:
    """The count has to be that of the mode, too: in the second case 80 % fail, and half of the requests are slow."""
    failures = 1000 if failed["mean_failure"] < 100 else 1600
    both = _histogram(_times(1, (10, 0.25, 1000), (1010, 0.02, 1000)))
    made = row("GET /", histogram=both, requests=2000, failures=failures, **failed)
    (finding,) = found(bimodal, study(run(10, made)))

    assert words in said(finding).statement
    assert ("failed and successful requests apart" in said(finding).advice) == ("that failed" in words)


def test_modes_a_few_ms_apart_are_how_processes_take_turns() -> None:
    near = _histogram(_times(1, (1, 0.1, 2000), (5, 0.1, 400)))

    assert found(bimodal, study(run(10, row("GET /", histogram=near, requests=2400)))) == []


def test_requests_that_are_spread_widely_have_a_range_and_no_place() -> None:
    """A backlog that grows from 0 to 12 s: their median is 6 s, and the highest bin is at 11 s."""
    random = np.random.default_rng(1)
    times = np.concatenate([random.lognormal(np.log(4.2), 0.1, 148), random.uniform(20, 12_000, 812)])
    (finding,) = found(bimodal, study(run(10, row("GET /", histogram=_histogram(times), requests=960))))

    assert said(finding).statement.startswith(
        "GET /: latencies are of two kinds, mostly between 1.3 s and 11 s for 84."
    )
    assert said(finding).statement.endswith(" of the requests and around 4.2 ms for the others.")
    assert "SYN" not in said(finding).advice
