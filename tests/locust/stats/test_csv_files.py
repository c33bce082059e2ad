from __future__ import annotations

import csv
import io
from pathlib import Path
from types import SimpleNamespace

import gevent
import pytest

from plimsoll.locust import stats as settings
from plimsoll.locust.stats import StatsCSV, StatsCSVFileWriter

PERCENTILES = [0.5, 0.999]


@pytest.fixture
def environment(stats, recorder):
    for name, ms in (("/b", 10.0), ("/a", 2.5), ("/a", 3.6)):
        recorder.custom(recorder.endpoint("GET", name), ms, 7)
    recorder.custom(recorder.endpoint("GET", "/b"), 1.0, 0, "connect", "refused")
    exceptions = {1: {"count": 2, "msg": "m", "traceback": "t", "nodes": {"local"}}}
    return SimpleNamespace(stats=stats, runner=SimpleNamespace(exceptions=exceptions, user_count=4))


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read(prefix, what):
    with Path(f"{prefix}_{what}.csv").open(newline="") as file:
        return file.read()


def test_tables(environment):
    out = io.StringIO()
    tables = StatsCSV(environment, PERCENTILES)
    tables.requests_csv(csv.writer(out))
    shown = rows(out.getvalue())
    assert [row["Name"] for row in shown] == ["/a", "/b", "Aggregated"]
    assert list(shown[1].values())[:9] == ["GET", "/b", "2", "1", "10", "10.0", "10.0", "10.0", "3.5"]
    assert (shown[0]["50%"], shown[0]["99.9%"], shown[2]["Request Count"]) == ("2.501", "3.6", "4")
    out = io.StringIO()
    tables.failures_csv(csv.writer(out))
    assert [(row["Name"], row["Error"], row["Occurrences"]) for row in rows(out.getvalue())] == [
        ("/b", "CatchResponseError('refused')", "1")
    ]
    out = io.StringIO()
    tables.exceptions_csv(csv.writer(out))
    assert out.getvalue() == "Count,Message,Traceback,Nodes\r\n2,m,t,local\r\n"
    environment.runner = None
    out = io.StringIO()
    tables.exceptions_csv(csv.writer(out))
    assert out.getvalue().count("\n") == 1


def test_files_are_as_they_stand_and_the_history_grows(environment, recorder, tmp_path):
    prefix = str(tmp_path / "out")
    writer = StatsCSVFileWriter(environment, PERCENTILES, prefix)
    writer.write()
    recorder.custom(recorder.endpoint("GET", "/c"), 90.0, 0)
    writer.write()
    assert [row["Name"] for row in rows(read(prefix, "stats"))] == ["/a", "/b", "/c", "Aggregated"]
    history = rows(read(prefix, "stats_history"))
    assert [(row["Name"], row["User Count"], row["Total Request Count"]) for row in history] == [
        ("Aggregated", "4", "4"),
        ("Aggregated", "4", "5"),
    ]
    assert history[1]["99.9%"] == "90"
    environment.stats.clear_all()
    writer.write()
    assert rows(read(prefix, "failures")) == []
    assert [row["50%"] for row in rows(read(prefix, "stats"))] == ["N/A"]
    recorder.custom(recorder.endpoint("GET", "/last"), 1.0, 0)
    writer.close_files()
    writer.close_files()
    assert [row["Name"] for row in rows(read(prefix, "stats"))] == ["/last", "Aggregated"]


def test_the_full_history_has_every_endpoint(environment, tmp_path):
    prefix = str(tmp_path / "out")
    writer = StatsCSVFileWriter(environment, PERCENTILES, prefix, full_history=True)
    writer.write()
    assert [row["Name"] for row in rows(read(prefix, "stats_history"))] == ["/a", "/b", "Aggregated"]
    writer.close_files()


def test_it_writes_as_often_as_is_set(environment, tmp_path, monkeypatch):
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            raise gevent.GreenletExit

    monkeypatch.setattr(settings, "CSV_STATS_INTERVAL_SEC", 9)
    monkeypatch.setattr(gevent, "sleep", sleep)
    writer = StatsCSVFileWriter(environment, PERCENTILES, str(tmp_path / "out"))
    with pytest.raises(gevent.GreenletExit):
        writer()
    writer.close_files()
    assert waits == [9] * 3
    assert len(rows(read(tmp_path / "out", "stats_history"))) == 3
