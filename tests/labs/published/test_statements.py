from __future__ import annotations

import pytest
from labs.published import statements

from plimsoll.importers.result_file import ResultFile


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("on top of the Locust Framework", "locust"), ("we used vegeta in distributed mode", "vegeta"),
        ("JMeter 5", "jmeter"), ("wrk2 -R 100", "wrk2"), ("locust and k6", None), ("nothing", None), ("works", None),
    ],
)  # fmt: skip
def test_the_one_tool_that_is_named(text, tool):
    assert statements.tool_of(text) == tool


def test_corrected_times():
    assert statements.is_corrected("raw results were corrected for stalls")
    assert statements.is_corrected("using hdr correction method")
    assert not statements.is_corrected("we corrected a mistake")


def test_the_one_status_and_limit_that_are_named():
    assert statements.status_of_failures("with the status code 400\n.") == 400
    assert statements.status_of_failures("status 400 or status 500") is None
    assert statements.open_files("open files limit (ulimit -n) was increased to 20000") == 20_000
    assert statements.open_files("ulimit -n 100, later ulimit -n 200") is None


def test_claims_over_the_end_of_a_line(tmp_path):
    source = ResultFile(tmp_path / "r.txt")
    lines = ["When deleting, more than 90% Bad request", "failures are seen, less than 1.5 % errors at", "10 users."]
    found = statements.claims(source, lines)
    assert [(each.place, each.relation, each.value) for each in found] == [
        ("r.txt:1", ">", 0.9),
        ("r.txt:2", "<", 0.015),
    ]
