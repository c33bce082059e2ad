"""Percentiles that a locustfile assigns."""

from __future__ import annotations

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.locust import stats


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("PERCENTILES_TO_CHART", [0.1] * 7, "has 7 percentiles; give 6 at most"),
        ("PERCENTILES_TO_CHART", [0.5, 95], "PERCENTILES_TO_CHART: 95 is not a number between 0 and 1"),
        ("PERCENTILES_TO_CHART", [0], "0 is not"),
        ("PERCENTILES_TO_STATISTICS", [1.0], "PERCENTILES_TO_STATISTICS: 1.0 is not"),
        ("PERCENTILES_TO_STATISTICS", [None], "None is not"),
        ("PERCENTILES_TO_STATISTICS", ["p95"], "'p95' is not"),
    ],
)
def test_percentiles_that_make_no_sense_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, values: list[object], message: str
) -> None:
    monkeypatch.setattr(stats, name, values)
    with pytest.raises(LocustfileError, match=message):
        stats.validate_stats_configuration()


def test_six_percentiles_in_a_chart_are_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "PERCENTILES_TO_CHART", [0.1, 0.2, 0.5, 0.9, 0.99, "0.999"])
    stats.validate_stats_configuration()
