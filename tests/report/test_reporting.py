from __future__ import annotations

import math

import pytest

from plimsoll.report.reporting import PERCENTILES, Reporting, readable


def test_what_is_wanted_and_can_be():
    settings = {"console_interval": 5, "csv_interval": 0.5, "name_width": 40, "percentiles": [0.5, 1]}
    assert Reporting.from_dict(settings) == Reporting(5, 0.5, 40, (0.5, 1))
    assert Reporting.from_dict({}) == Reporting(2.0, 1.0, None, PERCENTILES)


@pytest.mark.parametrize(
    "settings",
    [
        {"console_interval": -1},
        {"csv_interval": math.inf},
        {"csv_interval": "often"},
        {"name_width": 0},
        {"percentiles": [0.5, 95]},
        {"percentiles": 0.5},
        {"no such setting": 1},
    ],
)
def test_what_cannot_be_is_left_as_it_is(settings):
    assert Reporting.from_dict(settings) == Reporting()


def test_percentiles_for_people():
    assert [readable(each) for each in (0.0, 0.07, 0.5, 0.999, 1.0)] == ["0%", "7%", "50%", "99.9%", "100%"]
