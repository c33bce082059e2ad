"""Files are written by the formats of ghz 0.120, as its printer and its reporter have them."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

TEXT = """
Summary:
  Name:\t\thello
  Count:\t200
  Total:\t181.57 ms
  Slowest:\t69.60 ms
  Fastest:\t900 ns
  Average:\t32.01 ms
  Requests/sec:\t1101.53

Response time histogram:
  26.093 [186] |∎∎

Latency distribution:
  10 % in 28.48 ms
  50 % in 32.00 ms
  99 % in 1.50 s

Status code distribution:
  [Unavailable]   3 responses
  [OK]            186 responses
  [Internal]      11 responses

Error distribution:
  [3]    rpc error: code = Unavailable desc = gone
  [11]   rpc error: code = Internal desc = Internal error.
""".replace("responses\n", "responses   \n").replace("ms\n\nStatus", "ms \n\nStatus")
MS = 1_000_000


def document(details, **more):
    return {
        "date": "2026-11-22T10:00:01Z", "endReason": "normal",
        "options": {"host": "127.0.0.1:50051", "call": "hello.Greeter.SayHello", "concurrency": 50, "total": 4},
        "count": 4, "total": 2_000 * MS, "average": 30 * MS, "fastest": 10 * MS, "slowest": 50 * MS, "rps": 2.0,
        "errorDistribution": {"rpc error: code = Internal desc = x": 1},
        "statusCodeDistribution": {"OK": 3, "Internal": 1},
        "latencyDistribution": [{"percentage": 50, "latency": 20 * MS}, {"percentage": 0, "latency": 0}],
        "histogram": [], "details": details, **more,
    }  # fmt: skip


DETAILS = [
    {"timestamp": f"2026-11-22T10:00:0{second}.123456789+01:00", "latency": ms * MS, "error": error, "status": status}
    for second, ms, error, status in (
        (0, 10, "", "OK"), (1, 20, "", "OK"), (1, 40, "rpc error: code = Internal desc = x", "Internal"),
        (2, 50, "", "OK"),
    )
]  # fmt: skip


def test_summary(read_text):
    (trial,) = read_text(TEXT, "ghz.txt").trials
    total = trial.total
    assert (total.requests, total.failures, trial.duration) == (200, 14, pytest.approx(0.18157))
    assert (total.mean, total.min, total.max) == (32.01, pytest.approx(9e-4), 69.6)
    assert dict(total.quantiles) == {0.1: 28.48, 0.5: 32, 0.99: 1500}
    assert [(kind.count, kind.message.split()[4]) for kind in total.kinds] == [(3, "Unavailable"), (11, "Internal")]
    assert (trial.precision.tool, trial.precision.times_of) == ("ghz", "successes")


def test_json_with_each_call_has_the_row_of_our_own_calls(read_text):
    study = read_text(json.dumps(document(DETAILS)), "ghz.json")
    (trial,) = study.trials
    row = trial.endpoint(("gRPC", "hello.Greeter/SayHello"))
    assert (row.requests, row.failures, row.mean, row.max) == (4, 1, 30, 50)
    assert [(kind.count, kind.message) for kind in row.kinds] == [(1, "rpc error: code = Internal desc = x")]
    assert (trial.level, study.about["host"]) == (Level("users", 50), "127.0.0.1:50051")
    assert trial.total.course.requests.tolist() == [1, 2, 1]


def test_json_without_all_calls_has_sums(read_text):
    options = {"concurrency": 50, "rps": 2, "load-schedule": "const"}
    (trial,) = read_text(json.dumps(document(DETAILS[:2], options=options)), "ghz.json").trials
    assert (trial.total.requests, trial.total.failures, trial.total.quantiles) == (4, 1, {0.5: 20})
    assert (trial.level, trial.duration, trial.total.max) == (Level("/s", 2), 2, 50)


def test_calls_that_ghz_cut_off_at_its_end_are_named(read_text):
    statuses = {"OK": 3, "Canceled": 1}
    text = json.dumps(document(DETAILS, endReason="timeout", statusCodeDistribution=statuses))
    assert "among 1 failures Unavailable and Canceled" in read_text(text, "ghz.json").trials[0].notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("186 responses", "86 responses"), "Count is 200, but the sum of the status codes is 100"),
        (TEXT.replace("Count:\t200", "Count:\t100"), "Count is 100, but Requests/sec × Total is 200"),
        (TEXT.replace("Total:", "Tot:"), "has no line `Total:` of ghz"),
        (json.dumps(document([], count=9)), "Count is 9, but Requests/sec × Total is 4"),
        (json.dumps(document([{"status": "OK"}] * 4)), "is not what ghz writes: 'timestamp' is missing"),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(read_text, text, message):
    with pytest.raises(UsageError, match=message):
        read_text(text, "ghz")
