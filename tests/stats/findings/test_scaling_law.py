import pytest
from tests.stats.findings.making import found, ladder, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.scaling_law import scaling_law

SPECSDM91 = ((1, 18, 36, 72, 108, 144, 216), (64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2))


def test_a_law_is_published_when_the_ladder_can_tell_it() -> None:
    (finding,) = found(scaling_law, study(*ladder(*SPECSDM91, think=0.0)))

    assert evidence_of(finding)["contention"] == pytest.approx(0.0277285, abs=5e-8)
    assert evidence_of(finding)["coherence"] == pytest.approx(1.0437e-4, abs=5e-9)
    assert "peaks at 1884 requests/s with 96.52 requests in flight" in said(finding).statement


def test_a_short_ladder_is_told_what_it_lacks_and_what_stands() -> None:
    (finding,) = found(scaling_law, study(*ladder((10, 30, 50), (1.583, 1.5, 1.328), think=0.0)))

    assert "no scalability law is fitted (3 levels, at least 6 are needed" in said(finding).statement
    assert said(finding).statement.startswith("the highest throughput is 1.583 requests/s at 10 users")
    assert "contention" not in evidence_of(finding)


def test_with_pauses_the_load_is_what_is_in_flight() -> None:
    loads, rates = SPECSDM91
    runs = [
        run(number, row(rate=rate, mean=in_flight / rate * 1000), think=1.0)
        for number, in_flight, rate in zip(range(100, 800, 100), loads, rates, strict=True)
    ]
    (finding,) = found(scaling_law, study(*runs))

    assert evidence_of(finding)["peak"] == pytest.approx(96.519, abs=1e-3)


def test_without_pauses_and_latencies_nothing_is_fitted() -> None:
    (finding,) = found(scaling_law, study(*ladder(*SPECSDM91)))

    assert "users pause an unknown time" in said(finding).statement
    (finding,) = found(scaling_law, study(*ladder(*SPECSDM91, think=5.0)))
    assert "the mean latency of all requests is not known" in said(finding).statement
    assert evidence_of(finding)["peak_per_s"] == 1853.2


def test_two_rungs_are_no_question_of_scaling() -> None:
    assert found(scaling_law, study(*ladder((1, 2), (1, 2), think=0.0))) == []


def test_no_law_goes_through_a_level_without_a_success() -> None:
    runs = ladder((1, 2, 4, 8, 16, 32), (1.0, 2.0, 4.0, 3.0, 2.0, 0.0), think=0.0)
    (finding,) = found(scaling_law, study(*runs))

    assert "no request succeeds at one of the levels" in said(finding).statement
