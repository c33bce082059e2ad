"""Files are written by the format of vegeta 12, as its source and its manual have it."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

TEXT = """Requests      [total, rate, throughput]         1200, 120.01, 65.87
Duration      [total, attack, wait]             10.095s, 9.9499s, 145.1ms
Latencies     [min, mean, 50, 90, 95, 99, max]  90.438129ms, 113.172398ms, 108.272568ms, 140.1ms, 1m2.5s, 264.8µs, 2s
Bytes In      [total, mean]                     3714690, 3095.57
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           55.42%
Status Codes  [code:count]                      0:535  200:660  301:5
Error Set:
Get http://localhost:6060: dial tcp 127.0.0.1:6060: connection refused
"""


def test_text_report(read_text):
    (trial,) = read_text(TEXT, "vegeta.txt").trials
    total = trial.total
    assert (total.requests, total.failures) == (1200, 535)
    assert (total.min, total.mean, total.max) == (90.438129, 113.172398, 2000)
    assert dict(total.quantiles) == {0.5: 108.272568, 0.9: 140.1, 0.95: 62_500, 0.99: pytest.approx(0.2648)}
    assert (total.size, trial.duration, total.rate) == (3095.57, 10.095, pytest.approx(1200 / 10.095))
    assert trial.level == Level("/s", 120.0)
    assert any("t-digest" in note for note in trial.notes)
    assert (trial.precision.clock, trial.precision.mergeable, trial.precision.digits) == ("sent", False, None)


def test_json_report(read_text):
    document = {
        "latencies": {"total": 1, "mean": 2e6, "50th": 1e6, "90th": 3e6, "95th": 4e6, "99th": 5e6, "max": 6e6},
        "bytes_in": {"total": 10, "mean": 2.5}, "bytes_out": {"total": 0, "mean": 0}, "earliest": "", "latest": "",
        "end": "", "duration": 1_500_000_000, "wait": 500_000_000, "requests": 10, "rate": 6.66, "throughput": 4.5,
        "success": 0.9, "status_codes": {"200": 9, "500": 1}, "errors": ["500 Internal Server Error"],
    }  # fmt: skip
    (trial,) = read_text(json.dumps(document), "vegeta.json").trials
    assert (trial.total.requests, trial.total.failures, trial.duration, trial.total.rate) == (10, 1, 2, 5)
    assert dict(trial.total.quantiles) == {0.5: 1, 0.9: 3, 0.95: 4, 0.99: 5}
    assert trial.level == Level("/s", 6.66)
    assert [kind.status for kind in trial.total.kinds] == [500]


NS = 1_795_176_000_000_000_000
RESULTS = [
    # when it was sent, status, ns, bytes in, error
    (NS, 200, 100_000_000, 10, ""), (NS + 1_000_000_000, 500, 50_000_000, 20, "500 Server Error"),
    (NS + 1_950_000_000, 0, 100_000_000, 0, "refused"),
]  # fmt: skip


def check_results(trial):
    total = trial.total
    assert (total.requests, total.failures, total.max, total.size) == (3, 2, 100, 10)
    assert total.course.requests.tolist() == [1, 1, 1]
    assert total.course.failures.tolist() == [0, 1, 1]
    assert [each.key for each in trial.endpoints] == [("GET", "http://h/a")]
    assert {(kind.message, kind.status) for kind in total.kinds} == {("500 Server Error", 500), ("refused", None)}
    assert trial.duration == pytest.approx(2.05)
    assert trial.precision.mergeable


def test_results_in_csv(read_text):
    lines = [
        f"{at},{code},{ns},0,{size},{error},,attack,{index},GET,http://h/a?x={index},"
        for index, (at, code, ns, size, error) in enumerate(RESULTS)
    ]
    check_results(read_text("\n".join(lines), "results.csv", rate=5).trials[0])


def test_results_in_json(read_text):
    times = ["2026-11-20T12:00:00Z", "2026-11-20T13:00:01.0+01:00", "2026-11-20T12:00:01.950000000Z"]
    lines = [
        json.dumps({
            "attack": "", "seq": 0, "code": code, "timestamp": at, "latency": ns, "bytes_out": 0, "bytes_in": size,
            "error": error, "body": None, "method": "GET", "url": "http://h/a", "headers": None,
        })
        for at, (_, code, ns, size, error) in zip(times, RESULTS, strict=True)
    ]  # fmt: skip
    check_results(read_text("\n".join(lines), "results.json", rate=5).trials[0])


def test_other_columns_are_refused_with_the_line(read_text):
    good = f"{NS},200,1,0,0,,,a,0,GET,/,"
    with pytest.raises(UsageError, match=r"r\.csv:2: 11 columns where vegeta's results have 12"):
        read_text(f"{good}\n{good[:-1]}\n", "r.csv")
    with pytest.raises(UsageError, match=r"r\.csv:2: latency: 'x' is no number"):
        read_text(f"{good}\n{good.replace(',1,', ',x,', 1)}\n", "r.csv")
