"""Numbers that no measurement has are refused, and named."""

from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.importers import read
from plimsoll.importers.plausible import check, contradiction, doubts, slack_of
from plimsoll.importers.result_file import ResultFile
from plimsoll.stats.study import FailureKind, Measured, Study, Trial


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        ({"requests": -3}, "there are no -3 requests"),
        ({"requests": 1 << 60}, f"there are no {1 << 60} requests"),
        ({"requests": 3, "failures": 4}, "4 failures of 3 requests"),
        ({"kinds": (FailureKind("http", "HTTP 500", -1, 500),)}, "there are no -1 requests"),
        ({"mean": float("nan")}, "nan ms is no response time"),
        ({"max": float("inf")}, "inf ms is no response time"),
        ({"quantiles": {0.5: -5.0}}, "-5 ms is no response time"),
        ({"rate": -1.0}, "there are no -1 requests per second"),
        ({"size": float("inf")}, "there are no inf bytes of a reply"),
    ],
)
def test_what_cannot_be_is_refused(numbers, complaint):
    good, bad = Measured("GET", "/a", requests=3, failures=3, max=0.0), Measured("GET", "/b", **numbers)
    check(ResultFile(Path("results")), Study("s", (Trial(id="1", variant="v", endpoints=(good,)),)))
    with pytest.raises(UsageError) as caught:
        check(ResultFile(Path("results")), Study("s", (Trial(id="1", variant="v", endpoints=(good, bad)),)))
    assert str(caught.value) == f"results: GET /b: {complaint}"


def test_sums_that_are_not_those_of_their_rows_are_a_warning(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("endpoint,requests,failures,p50 (ms)\n/a,3,1,5\n/b,4,0,5\nTotal,9,1,5\n")
    assert read(file, users=5.0).warnings == ("the requests of all rows together are 7, but the row of the sum has 9",)
    total = Measured("", "Aggregated", failures=1, kinds=(FailureKind("http", "HTTP 500", 3, 500),))
    assert doubts(Study("s", (Trial(id="1", variant="v", total=total),))) == (
        "Aggregated: 3 failures by kind, but 1 failures",
    )


@pytest.mark.parametrize(
    ("stated", "counted", "slack", "differ"),
    [
        (100, 100, 0, False),
        (100, 101, 0, True),
        (100, 101, 0.001, False),
        (100, 103, 0.02, False),
        (100, 110, 0.02, True),
    ],
)
def test_two_figures_of_one_number(stated, counted, slack, differ):
    assert bool(contradiction(("a", stated), ("b", counted), slack)) is differ
    assert slack_of("0.05", "10") == pytest.approx(0.02 + 0.1 + 0.05)


def test_a_number_too_large_for_a_float_is_refused(tmp_path):
    file = tmp_path / "points.json"
    point = '{"type":"Point","metric":"http_req_duration","data":{"time":"2026-11-20T12:00:00Z","value":%s,"tags":{}}}'
    file.write_text(point % 1 + "\n" + point % ("9" * 400) + "\n")
    with pytest.raises(UsageError, match=r"points\.json:2: is no point of k6: int too large"):
        read(file)


def test_a_file_is_checked_when_it_is_read(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("endpoint,requests,failures,p50 (ms)\n/a,3,4,5\n")
    with pytest.raises(UsageError, match=r"table\.csv: /a: 4 failures of 3 requests"):
        read(file, users=5.0)
