"""The replay of a log has its requests in order, at its times."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.access_logs import replay as replaying
from plimsoll.sources.access_logs.replay import LogReplay, ReplayPaths, write_replay


def line(time: str, request: str, status: int = 200) -> str:
    return f'{{"ts": {time}, "method": "{request.split()[0]}", "uri": "{request.split()[1]}", "status": {status}}}\n'


def written(folder: Path, *lines: str, speed: float = 1.0) -> tuple[LogReplay, list[list[str]], list[float]]:
    (folder / "a.log").write_text("".join(lines))
    paths = ReplayPaths(folder / "replay.toml")
    replay, _ = write_replay([str(folder / "a.log")], ["a.log"], None, paths, None, speed=speed, assets=False)
    with paths.requests.open(newline="") as file:
        rows = list(csv.reader(file))
    return replay, rows, [float(text) for text in paths.times.read_text().split()]


def test_rows_are_in_the_order_of_their_times(tmp_path):
    replay, rows, times = written(
        tmp_path, line("1700000000.5", "GET /"), line("1700000003.25", "GET /todos/17?limit=2"),
        line("1700000001.0", "POST /todos/"), line("1700000002.5", "HEAD /"), line("1700000004.5", "GET /x", 404),
        speed=2.0,
    )  # fmt: skip
    assert rows == [
        ["endpoint", "v1", "v2"], ["GET /", "", ""], ["HEAD /", "", ""],
        ["GET /todos/{todo_id}?limit", "17", "2"],
    ]  # fmt: skip
    assert times == [0.0, 1.0, 1.375]
    assert 'get = "/todos/${log.v1}?limit=${log.v2}"' in replay.text.splitlines()
    assert replay.requests == 3


def test_requests_of_one_second_are_spread_over_it(tmp_path):
    lines = [line("1700000000", "GET /a")] * 4 + [line("1700000001", "GET /a")] * 2
    assert written(tmp_path, *lines)[2] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.5]


def test_a_long_log_is_cut_with_words(tmp_path, monkeypatch):
    monkeypatch.setattr(replaying, "MOST_REPLAYED", 2)
    replay, rows, _ = written(tmp_path, *(line(f"{1700000000 + number}", "GET /a") for number in range(5)))
    assert (replay.requests, len(rows)) == (2, 3)
    assert "3 after 2023-11-14 22:13:21 UTC are left out" in replay.notes[0]


def test_credentials_are_not_written(tmp_path):
    replay, rows, _ = written(tmp_path, line("1700000000", "GET /a?access_token=8f3bfa1b9c2d4e5f"))
    assert rows[1] == ["GET /a?access_token", "***"]
    assert "1 target had credentials in the query" in replay.notes[0]


def test_a_log_without_times_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"a\.log: has no times of requests"):
        written(tmp_path, '{"method": "GET", "uri": "/a"}\n')


def test_a_log_of_many_years_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"a\.log: its requests are from 1973.* a replay has at most 100 days"):
        written(tmp_path, line("100000000", "GET /a"), line("1700000000", "GET /a"))
