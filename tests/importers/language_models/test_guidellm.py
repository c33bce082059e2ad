"""Files are written by the format of GuideLLM 0.6, as its src/guidellm/benchmark/schemas have it."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level


def _summary(mean, low, high, count, **percentiles):
    return {
        "mean": mean, "median": mean, "mode": mean, "variance": 0.0, "std_dev": 0.0, "min": low, "max": high,
        "count": count, "total_sum": mean * count, "percentiles": percentiles, "pdf": None,
    }  # fmt: skip


def _status(summary):
    return {"successful": summary, "incomplete": None, "errored": None, "total": summary}


def _request(start, latency, first, each, tokens):
    return {
        "type_": "generative_request_stats", "request_id": "r", "info": {"status": "completed", "error": None},
        "request_start_time": start, "request_end_time": start + latency, "request_latency": latency,
        "prompt_tokens": 9, "output_tokens": tokens, "time_to_first_token_ms": first,
        "time_per_output_token_ms": latency * 1000 / tokens, "inter_token_latency_ms": each,
    }  # fmt: skip


REQUESTS = {
    "successful": [_request(1000.0, 0.5, 100.0, 40.0, 11), _request(1001.0, 0.3, 300.0, None, 1)],
    "incomplete": [],
    "errored": [{
        "request_start_time": None, "request_end_time": 1002.5, "request_latency": None,
        "info": {"status": "errored", "error": "ReadTimeout('')\nmore"},
    }],
    "total": None,
}  # fmt: skip


def benchmark(strategy, requests=REQUESTS):
    return {
        "type_": "generative_benchmark", "config": {"run_index": 0, "strategy": strategy},
        "scheduler_metrics": {"requests_made": {}}, "requests": requests, "start_time": 1000.0, "end_time": 1004.0,
        "duration": 4.0, "warmup_duration": 0.0, "cooldown_duration": 0.0,
        "metrics": {
            "request_totals": {"successful": 2, "incomplete": 1, "errored": 1, "total": 4},
            "request_latency": _status(_summary(0.4, 0.3, 0.5, 2, p001=0.3, p05=0.3, p50=0.4, p99=0.5, p999=0.5)),
            "time_to_first_token_ms": _status(_summary(200.0, 100.0, 300.0, 2, p50=100.0, p95=300.0)),
            "inter_token_latency_ms": _status(_summary(40.0, 40.0, 40.0, 10, p50=40.0)),
            "time_per_output_token_ms": _status(_summary(70.0, 45.0, 300.0, 12, p50=45.0)),
            "output_token_count": _status(_summary(6.0, 1, 11, 2, p50=6)),
            "request_goodput": _status(_summary(0.25, 0.0, 0.25, 1, p50=0.25)),
        },
    }  # fmt: skip


def report(*benchmarks):
    return json.dumps({
        "metadata": {"version": 1, "guidellm_version": "0.6.0", "python_version": "3.12", "platform": "Linux"},
        "args": {"profile": "concurrent"}, "benchmarks": benchmarks,
    })  # fmt: skip


CONCURRENT = {"type_": "concurrent", "worker_count": 10, "max_concurrency": 32, "streams": 32}


def test_a_file_with_all_its_requests_has_each_text_in_rows(read_text):
    study = read_text(report(benchmark(CONCURRENT)), "benchmarks.json")
    (trial,) = study.trials
    rows = {each.method: each for each in trial.endpoints}
    counts = {method: (row.requests, row.histogram and row.histogram.count) for method, row in rows.items()}
    assert counts == {"": (3, 2), "first token": (2, 2), "each token": (12, 1), "good request": (1, None)}
    assert (trial.total.requests, trial.total.failures, trial.total.max) == (3, 1, pytest.approx(500))
    assert [kind.message for kind in trial.total.kinds] == ["ReadTimeout('')"]
    assert (rows["each token"].mean, rows["first token"].max) == (pytest.approx(40), pytest.approx(300))
    assert (rows["good request"].rate, trial.level, study.about) == (0.25, Level("users", 32), {"guidellm": "0.6.0"})
    assert trial.notes == ("1 requests were cut off at the end and are not counted",)


def test_a_file_with_a_sample_of_its_requests_is_read_by_its_sums(read_text):
    sampled = REQUESTS | {"successful": REQUESTS["successful"][:1]}
    (trial,) = read_text(report(benchmark(CONCURRENT, sampled)), "benchmarks.json").trials
    total, rows = trial.total, {each.method: each for each in trial.endpoints}
    assert (total.requests, total.failures, total.rate, total.mean) == (3, 1, 0.75, 400.0)
    assert dict(total.quantiles) == {0.001: 300.0, 0.05: 300.0, 0.5: 400.0, 0.99: 500.0, 0.999: 500.0}
    assert dict(rows["first token"].quantiles) == {0.5: 100.0, 0.95: 300.0}
    assert (rows["each token"].requests, rows["each token"].rate, rows["each token"].mean) == (12, 3.0, 40.0)
    assert trial.precision.times_of == "successes"
    assert any("over tokens" in note for note in trial.notes)


def test_each_benchmark_of_a_sweep_is_a_level(read_text):
    strategies = [
        {"type_": "synchronous"}, {"type_": "throughput", "max_concurrency": 64}, {"type_": "constant", "rate": 2.5},
        {"type_": "poisson", "rate": 5.0, "max_concurrency": 64},
    ]  # fmt: skip
    study = read_text(report(*map(benchmark, strategies)), "benchmarks.json", users=7)
    assert [trial.level for trial in study.trials] == [
        Level("users", 1), Level("users", 64), Level("/s", 2.5), Level("/s", 5.0),
    ]  # fmt: skip
    assert len({trial.id for trial in study.trials}) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (report(), "holds no benchmarks"),
        (report({"metrics": {}}), "is not what GuideLLM writes: 'request_totals' is missing"),
        (report(benchmark({"type_": "constant", "rate": "x"})), "strategy.rate: 'x' is no number"),
        (report(benchmark(CONCURRENT)).replace('"request_latency": 0.5', '"request_latency": -1'), "cannot be"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(read_text, text, expected):
    with pytest.raises(UsageError, match=expected) as caught:
        read_text(text, "benchmarks.json")
    assert "\n" not in str(caught.value)
