from __future__ import annotations

import sys

from plimsoll.locust import stats as settings
from plimsoll.locust.script.setting import reporting
from plimsoll.report.reporting import Reporting


def test_without_the_statistics_nothing_is_wanted(monkeypatch):
    monkeypatch.delitem(sys.modules, "plimsoll.locust.stats")
    assert reporting() == {}


def test_what_nobody_has_set_is_the_default():
    assert Reporting.from_dict(reporting()) == Reporting()


def test_what_is_set_is_told(monkeypatch):
    monkeypatch.setattr(settings, "CONSOLE_STATS_INTERVAL_SEC", 7)
    monkeypatch.setattr(settings, "CSV_STATS_INTERVAL_SEC", 3)
    monkeypatch.setattr(settings, "PERCENTILES_TO_REPORT", [0.5, 0.9])
    monkeypatch.setattr(settings, "STATS_NAME_WIDTH", 33)
    assert Reporting.from_dict(reporting()) == Reporting(7, 3, 33, (0.5, 0.9))


def test_what_cannot_travel_is_not_told(monkeypatch):
    monkeypatch.setattr(settings, "PERCENTILES_TO_REPORT", [object()])
    monkeypatch.setattr(settings, "CONSOLE_STATS_INTERVAL_SEC", None)
    assert reporting().keys() == {"csv_interval"}
