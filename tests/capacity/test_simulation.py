"""The real search on simulated services; see simulation.py. The figures are those of docs/statistics.md."""

from __future__ import annotations

import math

import pytest
from tests.capacity.simulation import ENDLESS, JITTER, MM1, OTHERS, coverage, searched

ALL = (*MM1, JITTER, *OTHERS, *ENDLESS)
NAMED = (*MM1, JITTER)
"""What at least 90 % of the intervals must cover."""


@pytest.mark.parametrize("service", ALL, ids=lambda each: each.name)
def test_every_search_ends_with_an_answer(service):
    for seed in range(15):
        found, _ = searched(service, seed)
        assert found.ending in ("found", "bracket", "unbroken", "unmet", "unknown")
        ends = [each for each in (found.low, found.load, found.high) if each is not None]
        assert ends == sorted(ends)
        assert all(0 < each < math.inf for each in ends)


@pytest.mark.parametrize("service", [MM1[2], JITTER], ids=lambda each: each.name)
def test_the_interval_covers_the_truth(service):
    """60 searches of which 90 % must be right: fewer than 48 are so with a chance of 1 in 500."""
    assert coverage(service, 60).covered >= 0.8


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_ten_thousand_searches_end_and_cover_the_truth():
    searches = math.ceil(10_000 / len(ALL))
    for service in ENDLESS:
        for seed in range(searches):
            searched(service, seed)
    for service in (*NAMED, *OTHERS):
        found = coverage(service, searches)
        # Three standard errors of 90 % of 435 are 4.3 %.
        assert found.covered >= (0.9 if service in NAMED else 0.87), (service.name, found)
