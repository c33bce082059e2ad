"""Files are written by the formats of AIPerf 0.13 (schema 1.5) and GenAI-Perf 0.0.16, as their sources have them."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

NS = 1_795_176_000_000_000_000


def _value(value, unit="ms"):
    return {"value": value, "unit": unit}


def record(start_ms, end_ms, metrics, error=None, **about):
    metadata = {
        "session_num": 0, "x_request_id": "x", "turn_index": 0, "request_start_ns": NS + start_ms * 1_000_000,
        "request_ack_ns": None, "request_end_ns": NS + end_ms * 1_000_000, "worker_id": "w",
        "benchmark_phase": "profiling", "was_cancelled": False, "cancellation_time_ns": None,
    }  # fmt: skip
    return json.dumps({"metadata": metadata | about, "metrics": metrics, "error": error})


TEXT = {
    "input_sequence_length": _value(550, "tokens"), "request_latency": _value(300.0),
    "time_to_first_token": _value(0.1, "s"), "inter_chunk_latency": _value([50.0, 150.0]),
    "output_token_count": _value(3, "tokens"), "output_sequence_length": _value(5, "tokens"),
    "inter_token_latency": _value(50.0), "output_token_throughput_per_user": _value(20.0, "tokens/sec/user"),
}  # fmt: skip
RECORDS = [
    record(0, 300, TEXT),
    record(500, 900, {"request_latency": _value(400.0)}),
    record(1000, 1700, {}, {"code": 503, "type": "HTTPError", "message": "unavailable\nmore"}),
    record(1100, 2000, {}, {"code": None, "type": "TimeoutError", "message": "late"}),
    record(1200, 1201, {}, {"code": 499, "type": "RequestCancellationError"}, was_cancelled=True),
    record(0, 1, TEXT, benchmark_phase="warmup"),
]


def test_records_have_each_text_in_rows(read_text):
    (trial,) = read_text("\n".join(RECORDS) + "\n", "profile_export.jsonl", users=4).trials
    rows = {each.method: each for each in trial.endpoints}
    counts = {method: (row.requests, row.histogram and row.histogram.count) for method, row in rows.items()}
    assert counts == {"": (4, 2), "first token": (1, 1), "each chunk": (3, 2), "each token": (5, 1)}
    assert (rows["first token"].mean, rows["each token"].mean) == (pytest.approx(100), pytest.approx(50))
    assert (trial.total.requests, trial.total.failures, trial.duration) == (4, 2, pytest.approx(2.0))
    assert [(kind.outcome, kind.message, kind.status) for kind in trial.total.kinds] == [
        ("http", "HTTPError: unavailable", 503), ("other", "TimeoutError: late", None),
    ]  # fmt: skip
    assert trial.notes == ("1 cancelled requests are not counted", "1 requests of the warm-up are left out")


def _stats(avg, unit="ms", **more):
    return {"unit": unit, "avg": avg, **more}


SUMMARY = {
    "schema_version": "1.5", "aiperf_version": "0.13.0", "benchmark_id": "b", "was_cancelled": False,
    "error_summary": [{"error_details": {"code": 503, "type": "HTTPError", "message": "unavailable"}, "count": 5}],
    "input_config": {"phases": [
        {"name": "warmup", "concurrency": 1}, {"name": "profiling", "type": "concurrency", "concurrency": 16},
    ]},
    "request_count": _stats(95.0, "requests"), "error_request_count": _stats(5.0, "requests"),
    "request_throughput": _stats(9.5, "requests/sec"), "benchmark_duration": _stats(10.0, "sec"),
    "request_latency": _stats(500.0, min=480.0, max=520.0, std=5.0, p1=481.0, p50=500.0, p99=510.0, count=95),
    "time_to_first_token": _stats(0.12, "s", min=0.1, max=0.2, p50=0.11),
    "inter_token_latency": _stats(20.0, p50=19.0, p99=40.0), "inter_chunk_latency": _stats(21.0, p99=60.0),
    "output_sequence_length": _stats(20.0, "tokens", sum=1900), "total_output_tokens": _stats(1900.0, "tokens"),
    "output_token_throughput": _stats(190.0, "tokens/sec"), "good_request_count": _stats(91.0, "requests"),
    "goodput": _stats(9.1, "requests/sec"),
}  # fmt: skip


def test_sums_are_read_as_they_are(read_text):
    (trial,) = read_text(json.dumps(SUMMARY, indent=2), "profile_export_aiperf.json").trials
    total, rows = trial.total, {each.method: each for each in trial.endpoints}
    assert (total.requests, total.failures, total.rate, total.mean, total.max) == (100, 5, 10.0, 500.0, 520.0)
    assert dict(total.quantiles) == {0.01: 481.0, 0.5: 500.0, 0.99: 510.0}
    assert [(kind.status, kind.count) for kind in total.kinds] == [(503, 5)]
    assert (rows["first token"].mean, rows["first token"].quantiles[0.5]) == (120.0, 110.0)
    assert (rows["each token"].requests, rows["each token"].rate) == (1900, 190.0)
    assert (rows["each chunk"].mean, rows["good request"].requests, rows["good request"].rate) == (21.0, 91, 9.1)
    assert (trial.level, trial.duration, trial.precision.tool) == (Level("users", 16), 10.0, "aiperf")


def test_a_throughput_that_contradicts_the_count_is_a_warning(read_text):
    study = read_text(json.dumps(SUMMARY | {"request_count": _stats(950.0, "requests")}), "a.json")
    assert study.warnings[0].endswith("request_count is 950, but request_throughput × benchmark_duration is 95")


def test_a_summary_with_http_req_duration_is_none_of_k6(read_text):
    traced = SUMMARY | {"http_req_duration": _stats(490.0), "http_req_waiting": _stats(100.0)}
    (trial,) = read_text(json.dumps(traced), "profile_export_aiperf.json").trials
    assert trial.precision.tool == "aiperf"


@pytest.mark.parametrize(
    ("config", "level"),
    [
        ({"loadgen": {"concurrency": 8}}, Level("users", 8)),
        ({"loadgen": {"concurrency": 8, "request_rate": 3.5}}, Level("/s", 3.5)),
        ({"model": ["m"], "concurrency": 2}, Level("users", 2)),
        ({"perf_analyzer": {"stimulus": {"concurrency": 5}}}, Level("users", 5)),
        ({"concurrency": [1, 2]}, None),
    ],
)
def test_genai_perf_has_the_same_sums(read_text, config, level):
    names = ("request_latency", "time_to_first_token", "inter_token_latency", "request_throughput")
    found = {name: SUMMARY[name] for name in names} | {"input_config": config, "request_count": _stats(95.0, "count")}
    (trial,) = read_text(json.dumps(found), "profile_export_genai_perf.json").trials
    assert (trial.precision.tool, trial.level, trial.total.requests, trial.duration) == ("genai-perf", level, 95, 10.0)
    for goodput, expected in ((4.5, [45]), (-1.0, [])):
        text = json.dumps(found | {"request_goodput": _stats(goodput, "requests/sec")})
        (trial,) = read_text(text, "profile_export_genai_perf.json").trials
        assert [each.requests for each in trial.endpoints if each.method == "good request"] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (record(0, 300, {"request_latency": {"value": 1, "unit": "parsec"}}), "jsonl:1: .*'parsec' is no unit of time"),
        (record(0, 300, TEXT | {"output_sequence_length": _value(1e30)}), "jsonl:1: a text of 1.* tokens cannot be"),
        (record(0, 300, TEXT) + '\n{"metadata": 3}', "jsonl:2: is no record of AIPerf"),
        (json.dumps(SUMMARY | {"request_latency": {"unit": "ms"}}), "has no request_latency: all requests failed"),
        (json.dumps(SUMMARY | {"request_count": {"avg": "many"}}), "request_count: 'many' is no number"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(read_text, text, expected):
    with pytest.raises(UsageError, match=expected) as caught:
        read_text(text, "profile_export.jsonl")
    assert "\n" not in str(caught.value)
