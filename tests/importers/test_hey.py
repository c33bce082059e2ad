"""Files are written by the formats of hey 0.1.4 and oha 1.15, as their sources have them."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError

OHA = {
    "summary": {
        "successRate": 1.0, "total": 2.0, "slowest": 0.9, "fastest": 0.001, "average": 0.0125, "requestsPerSec": 55.0,
        "totalData": 1000, "sizePerRequest": 10, "sizePerSec": 500.0,
    },
    "responseTimeHistogram": {"0.001": 1},
    "latencyPercentiles": {"p10": 0.002, "p50": 0.01, "p95": 0.1, "p99": 0.5, "p99.9": 0.8, "p99.99": None},
    "statusCodeDistribution": {"200": 90, "503": 10},
    "errorDistribution": {"aborted due to deadline": 4, "connection refused": 6},
}  # fmt: skip


def test_oha_json(read_text):
    (trial,) = read_text(json.dumps(OHA), "oha.json", rate=55).trials
    total = trial.total
    assert dict(total.quantiles) == {0.1: 2, 0.5: 10, 0.95: 100, 0.99: 500, 0.999: 800}
    assert (total.mean, total.min, total.max, total.size, trial.duration) == (12.5, 1, 900, 10, 2)
    assert (trial.precision.tool, trial.precision.clock) == ("oha", "unknown")


def test_counts_not_the_success_rate_of_oha_are_taken(read_text):
    (trial,) = read_text(json.dumps(OHA), "oha.json").trials
    assert (trial.total.requests, trial.total.failures, trial.total.rate) == (106, 16, 53)
    assert [(kind.message, kind.count) for kind in trial.total.kinds] == [("HTTP 503", 10), ("connection refused", 6)]
    assert any(note.startswith("4 requests were cut off") for note in trial.notes)


HEY = """
Summary:
  Total:\t4.0000 secs
  Slowest:\t0.2500 secs
  Fastest:\t0.0010 secs
  Average:\t0.0125 secs
  Requests/sec:\t50.0000

  Total data:\t2400 bytes
  Size/request:\t12 bytes

Response time histogram:
  0.001 [1]\t|

Latency distribution:
  10% in 0.0020 secs
  50% in 0.0100 secs
  99% in 0.2000 secs

Details (average, fastest, slowest):
  DNS+dialup:\t0.0001 secs, 0.0000 secs, 0.0010 secs

Status code distribution:
  [200]\t190 responses
  [500]\t5 responses

Error distribution:
  [5]\tGet "http://127.0.0.1:1": dial tcp 127.0.0.1:1: connect: connection refused
"""


def test_hey_summary(read_text):
    (trial,) = read_text(HEY, "hey.txt", users=50).trials
    total = trial.total
    assert (total.requests, total.failures, total.rate, trial.duration) == (200, 10, 50, 4)
    assert dict(total.quantiles) == {0.1: 2, 0.5: 10, 0.99: 200}
    assert (total.mean, total.max, total.size) == (12.5, 250, 12)
    assert (trial.precision.tool, trial.precision.clock, trial.users) == ("hey", "sent", 50)


def test_oha_summary_in_ms(read_text):
    text = (
        "Summary:\n  Success rate:\t100.00%\n  Total:\t2000.0000 ms\n  Slowest:\t30.5 ms\n  Fastest:\t0.5 ms\n"
        "  Average:\t4.5 ms\n  Requests/sec:\t5.0\n\nResponse time distribution:\n  50.00% in 4.2 ms\n"
        "  99.90% in 30.0 ms\n\nStatus code distribution:\n  [200] 10 responses\n"
    )
    (trial,) = read_text(text, "oha.txt").trials
    assert (trial.precision.tool, trial.duration, trial.total.requests) == ("oha", 2, 10)
    assert dict(trial.total.quantiles) == {0.5: 4.2, 0.999: 30}


def test_counts_that_contradict_the_rate_are_refused(read_text):
    text = HEY.replace("190 responses", "90 responses")
    message = "the sum of status codes and errors is 100, but Requests/sec × Total is 200"
    with pytest.raises(UsageError, match=message):
        read_text(text, "hey.txt")
    with pytest.raises(UsageError, match="is 106, but Requests/sec × Total is 220"):
        read_text(json.dumps(OHA | {"summary": OHA["summary"] | {"requestsPerSec": 110}}), "oha.json")


def test_hey_counts_the_codes_of_a_million_requests(read_text):
    text = HEY.replace("190 responses", "999995 responses").replace("/sec:\t50.0", "/sec:\t500000.0")
    (trial,) = read_text(text, "hey.txt").trials
    assert (trial.total.requests, trial.total.failures, trial.total.rate) == (2_000_000, None, 500_000)
    assert trial.notes == (
        "hey counts the status codes of the first 1000000 requests only: 10 of the 1000005 that it counts failed",
    )


def test_an_excerpt_without_status_codes(read_text):
    (trial,) = read_text(HEY.partition("Status code")[0], "hey.txt").trials
    assert (trial.total.requests, trial.total.failures) == (200, None)
    assert any("has no status codes" in note for note in trial.notes)


def test_hey_csv(read_text):
    text = (
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
        "0.1000,0.0001,0.0000,0.0000,0.0999,0.0001,200,0.0000\n"
        "0.0500,0.0001,0.0000,0.0000,0.0499,0.0001,404,1.5000\n"
    )
    (trial,) = read_text(text, "hey.csv").trials
    assert (trial.total.requests, trial.total.failures, trial.total.mean) == (2, 1, pytest.approx(75))
    assert trial.total.course.requests.tolist() == [1, 1]
    assert (trial.precision.floor, trial.precision.step(3)) == (0.1, 0.1)
    assert trial.notes == ("requests without an answer are not in this file",)


def test_oha_csv(read_text):
    text = (
        "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n"
        "0.5,0,0.001,0.01,0.02,100,200\n1.0,0,0,0.01,0.04,300,500\n"
    )
    (trial,) = read_text(text, "oha.csv").trials
    assert (trial.total.requests, trial.total.failures, trial.total.max, trial.total.size) == (2, 1, 40, 200)
    assert trial.precision.clock == "unknown"


def test_a_damaged_row_is_refused_with_its_line(read_text):
    head = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n"
    with pytest.raises(UsageError, match=r"oha\.csv:2: request-duration: 'x' is no number"):
        read_text(f"{head}0.5,0,0,0,x,1,200\n", "oha.csv")
    with pytest.raises(UsageError, match="holds no requests"):
        read_text(head, "oha.csv")
