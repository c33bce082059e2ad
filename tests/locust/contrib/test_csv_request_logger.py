from __future__ import annotations

import csv
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from plimsoll.locust.contrib.csv_request_logger import CSV_COLUMNS, CsvRequestLogger
from plimsoll.locust.environment import Environment

if TYPE_CHECKING:
    from pathlib import Path


def report(environment: Environment, **more: Any) -> None:
    plain = {"request_type": "GET", "name": "/", "response_time": 1.0, "response_length": 2, "start_time": 3.0}
    environment.events.request.fire(**{**plain, **more})


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_a_row_per_request_until_the_end(tmp_path: Path) -> None:
    path, environment = tmp_path / "requests.csv", Environment()
    path.write_text("an older run\n")
    CsvRequestLogger(str(path)).register(environment)
    report(environment, response=SimpleNamespace(status_code=200), response_time=1.2345, start_time=5.12345678)
    report(environment, response_time=None, exception=ValueError("a, b"), context={}, url="x")
    environment.events.quitting.fire(environment=environment)
    report(environment)
    assert rows(path) == [
        list(CSV_COLUMNS),
        ["5.123457", "GET", "/", "1.23", "2", "200", ""],
        ["3.0", "GET", "/", "", "2", "0", "a, b"],
    ]


def test_rows_are_written_when_there_are_so_many(tmp_path: Path) -> None:
    path, environment = tmp_path / "requests.csv", Environment()
    logger = CsvRequestLogger(str(path), flush_interval=2)
    logger.register(environment)
    report(environment)
    assert len(rows(path)) == 1
    report(environment)
    assert len(rows(path)) == 3
    report(environment)
    logger.close()
    logger.close()
    assert len(rows(path)) == 4
