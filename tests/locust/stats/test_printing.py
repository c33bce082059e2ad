from __future__ import annotations

import json
import logging

import gevent
import pytest

from plimsoll.locust import stats as settings
from plimsoll.locust.stats import (
    get_error_report_summary,
    get_percentile_stats_summary,
    get_stats_summary,
    print_error_report,
    print_percentile_stats,
    print_stats,
    print_stats_json,
    save_stats_json,
    sort_stats,
    stats_printer,
)


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setattr(settings, "STATS_NAME_WIDTH", 20)


@pytest.fixture
def filled(stats, recorder):
    for name, ms in (("/b", 10.0), ("/a", 2.5), ("/a", 3.6)):
        recorder.custom(recorder.endpoint("GET", name), ms, 0)
    recorder.custom(recorder.endpoint("GET", "/refused"), 1.0, 0, "connect", "refused")
    return stats


@pytest.fixture
def logged(caplog):
    """The lines on the console."""
    caplog.set_level(logging.INFO, "locust.stats_logger")
    logging.getLogger("locust.stats_logger").propagate = True
    return caplog


def test_requests_and_their_sum(filled):
    assert get_stats_summary(filled) == [
        "Type     Name              # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s",
        "--------|----------------|-------|-------------|-------|-------|-------|-------|--------|-----------",
        "GET      /a                     2     0(0.00%) |      3       2       4      3 |    0.00        0.00",
        "GET      /b                     1     0(0.00%) |     10      10      10     10 |    0.00        0.00",
        "GET      /refused               1   1(100.00%) |      0       0       0      0 |    0.00        0.00",
        "--------|----------------|-------|-------------|-------|-------|-------|-------|--------|-----------",
        "         Aggregated             4    1(25.00%) |      5       2      10      4 |    0.00        0.00",
    ]
    assert get_stats_summary(filled, current=False)[-1].endswith("|    0.13        0.03")


def test_percentiles_of_what_was_timed(filled, monkeypatch):
    monkeypatch.setattr(settings, "PERCENTILES_TO_REPORT", [0.5, 0.999])
    assert get_percentile_stats_summary(filled) == [
        "Response time percentiles (ms)",
        "Type     Name                      50%  99.9% # reqs",
        "--------|--------------------|--------|------|------",
        "GET      /a                          3      4      2",
        "GET      /b                         10     10      1",
        "--------|--------------------|--------|------|------",
        "         Aggregated                  4     10      4",
    ]


def test_errors(filled):
    rule = "-" * 18 + "|" + "-" * 81
    error = f"{'1':18} {'GET /refused: refused':100}"
    assert get_error_report_summary(filled) == [
        "Error report",
        f"{'# occurrences':18} {'Error':100}",
        rule,
        error,
        rule,
        "",
    ]


def test_what_is_printed_goes_to_the_console(filled, logged):
    print_stats(filled)
    print_percentile_stats(filled)
    print_error_report(filled)
    expected = [
        *get_stats_summary(filled),
        "",
        *get_percentile_stats_summary(filled),
        "",
        *get_error_report_summary(filled),
    ]
    assert [record.message for record in logged.records] == expected


def test_no_errors_no_report(stats, logged):
    print_error_report(stats)
    assert not logged.records


def test_json(filled, capsys, tmp_path):
    print_stats_json(filled)
    rows = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["num_requests"]) for row in rows] == [("/b", 1), ("/a", 2), ("/refused", 1)]
    save_stats_json(filled, str(tmp_path / "out"))
    assert json.loads((tmp_path / "out.json").read_text()) == rows


def test_the_printer_prints_as_often_as_is_set(filled, logged, monkeypatch):
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        monkeypatch.setattr(settings, "CONSOLE_STATS_INTERVAL_SEC", 7)
        if len(waits) == 2:
            raise gevent.GreenletExit

    monkeypatch.setattr(settings, "CONSOLE_STATS_INTERVAL_SEC", 5)
    monkeypatch.setattr(gevent, "sleep", sleep)
    with pytest.raises(gevent.GreenletExit):
        stats_printer(filled)()
    assert waits == [5, 7]
    assert sum("Aggregated" in record.message for record in logged.records) == 2


def test_sorting_is_by_key(filled):
    assert [entry.name for entry in sort_stats(filled.entries)] == ["/a", "/b", "/refused"]
    assert sort_stats({2: "b", 1: "a"}) == ["a", "b"]
