from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, ladder, operations, rates

from plimsoll.say.answer import MOST, answer_of
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Study, Trial


@pytest.mark.parametrize("shape", SAMPLES)
def test_one_to_four_sentences(shape):
    found = answer_of(SAMPLES[shape]())
    assert 1 <= len(found) <= MOST
    assert all(each.endswith(".") for each in found)


def test_versions_before_what_the_target_carries():
    assert "32 % higher p99" in answer_of(ladder())[0]
    assert answer_of(ladder())[1].startswith("`old` and `new` carry 162 users, at 336 their throughput lags (")


def test_what_the_target_carries_before_differences_that_are_not_certain():
    analysis = ladder()
    open_ones = tuple(replace(each, word="not distinguishable") for each in analysis.comparisons)
    found = answer_of(replace(analysis, comparisons=open_ones))
    assert found[0].startswith("`old` and `new` carry 162 users, at 336 their throughput lags (")
    assert "differs from `old` in p99 is unclear" in found[-1]


def test_of_one_system_what_it_carries():
    assert answer_of(operations())[0].startswith("upload: throughput stays at 23 requests/s")


def test_of_rates_what_is_carried_first():
    assert answer_of(rates())[0].startswith("`tunnel` carries 900/s")


def test_of_nothing_that_it_is_nothing():
    assert answer_of(Analysis(Study("empty", ()), (), ())) == ("No run has ended yet.",)
    assert answer_of(Analysis(Study("bare", (Trial(id="1", variant="a"),)), (), ())) == (
        "1 run; nothing in them can be compared.",
    )
