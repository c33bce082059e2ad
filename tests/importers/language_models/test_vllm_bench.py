"""Files are written by the format of vLLM's `vllm bench serve`, as vllm/benchmarks/serve.py of July 2026 has it."""

from __future__ import annotations

import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

SUMS = {
    "date": "20260722-060114", "endpoint_type": "openai-chat", "backend": "openai-chat", "label": None,
    "model_id": "m", "tokenizer_id": "m", "num_prompts": 4, "request_rate": 2.0, "burstiness": 1.0,
    "max_concurrency": None, "duration": 4.0, "completed": 3, "failed": 1, "total_input_tokens": 30,
    "total_output_tokens": 8, "request_throughput": 0.75, "request_goodput": 0.5, "output_throughput": 2.0,
    "total_token_throughput": 9.5, "max_output_tokens_per_s": 5.0, "max_concurrent_requests": 2, "rtfx": 0.0,
    "mean_ttft_ms": 200.0, "median_ttft_ms": 100.0, "std_ttft_ms": 9.0, "p99_ttft_ms": 392.0, "p99.9_ttft_ms": 399.2,
    "mean_tpot_ms": 75.0, "median_tpot_ms": 75.0, "std_tpot_ms": 0.0, "p99_tpot_ms": 99.0, "mean_itl_ms": 60.0,
    "median_itl_ms": 50.0, "std_itl_ms": 1.0, "p99_itl_ms": 100.0,
}  # fmt: skip
DETAILS = {
    "input_lens": [10, 10, 10, 10], "output_lens": [5, 1, 2, 0], "ttfts": [0.1, 0.4, 0.1, 0.0],
    "itls": [[0.05, 0.15], [], [0.1], []], "latencies": [0.3, 0.4, 0.2, 0.0],
    "start_times": [100.0, 101.0, 102.0, 103.0], "queue_times": [0.0, 0.0, 0.0, 0.0],
    "generated_texts": ["a", "b", "c", ""], "errors": ["", "", "", "Traceback (…)\nTimeoutError: late\n"],
}  # fmt: skip


def test_with_details_each_request_and_its_text_are_in_rows_of_their_own(read_text):
    (trial,) = read_text(json.dumps(SUMS | DETAILS), "result.json").trials
    total = trial.total
    assert (total.requests, total.failures, total.max, total.histogram.count) == (4, 1, pytest.approx(400), 3)
    assert [(kind.outcome, kind.message, kind.count) for kind in total.kinds] == [("other", "TimeoutError: late", 1)]
    rows = {each.method: each for each in trial.endpoints}
    counts = {method: (row.requests, row.histogram and row.histogram.count) for method, row in rows.items()}
    assert counts == {
        "": (4, 3), "first event": (3, 3), "each chunk": (6, 3), "each token": (8, 2), "good request": (2, None),
    }  # fmt: skip
    assert rows["first event"].mean == pytest.approx(200), "the first choice of a chat is its role"
    assert (rows["each chunk"].max, rows["each token"].max) == (pytest.approx(150), pytest.approx(100))
    assert rows["each token"].min == pytest.approx(50), "(0.3 s - 0.1 s) / 4"
    assert (rows["good request"].rate, trial.level) == (0.5, Level("/s", 2.0))
    assert (trial.precision.tool, trial.precision.clock, trial.precision.mergeable) == ("vllm", "sent", True)
    assert trial.duration == pytest.approx(3.0), "from the first request to the last"


def test_without_latencies_the_time_ends_with_the_last_gap(read_text):
    details = {name: each for name, each in DETAILS.items() if name != "latencies"}
    (trial,) = read_text(json.dumps(SUMS | details | {"backend": "openai"}), "result.json").trials
    assert trial.total.max == pytest.approx(400)
    assert {each.method for each in trial.endpoints} >= {"first token"}, "a completion has no role"


def test_sums_are_read_as_they_are(read_text):
    (trial,) = read_text(json.dumps(SUMS | {"mean_e2el_ms": 300.0, "p90_e2el_ms": 390.0}), "result.json").trials
    total, rows = trial.total, {each.method: each for each in trial.endpoints}
    assert (total.requests, total.failures, total.rate, total.mean) == (4, 1, 1.0, 300.0)
    assert dict(total.quantiles) == {0.9: 390.0}
    assert dict(rows["first event"].quantiles) == {0.5: 100.0, 0.99: 392.0, 0.999: 399.2}
    assert (rows["each token"].requests, rows["each token"].rate, rows["each token"].mean) == (8, 2.0, 75.0)
    assert (rows["each chunk"].requests, rows["each chunk"].quantiles[0.5]) == (None, 50.0)
    assert (rows["good request"].requests, trial.duration) == (2, 4.0)
    assert trial.precision.times_of == "successes"
    assert any("--save-detailed" in note for note in trial.notes)


def test_earlier_versions_count_successes_and_spell_goodput_otherwise(read_text):
    sums = {name: each for name, each in SUMS.items() if name not in ("failed", "request_goodput", "backend")}
    sums |= {"request_goodput:": 0.25, "request_rate": "inf", "max_concurrency": 8, "mean_ttft_ms": 0.0}
    (trial,) = read_text(json.dumps(sums), "result.json").trials
    rows = {each.method: each for each in trial.endpoints}
    assert (trial.total.requests, trial.total.failures, trial.level) == (4, 1, Level("users", 8))
    assert rows["good request"].requests == 1
    assert "first event" not in rows, "without streaming there is no time to it"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"ttfts": [0.1]}, "not of the same length"),
        ({"output_lens": [10**9, 1, 2, 0]}, "a text of 1000000000 tokens cannot be"),
        ({"ttfts": ["soon", 0.4, 0.1, 0]}, r"ttfts\[0\]: 'soon' is no number"),
        ({"duration": None}, "duration: None is no number"),
        ({"itls": [0.1, [], [], []]}, "is not what vllm bench serve writes"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(read_text, changed, expected):
    with pytest.raises(UsageError, match=expected) as caught:
        read_text(json.dumps(SUMS | DETAILS | changed), "result.json")
    assert "\n" not in str(caught.value)


def test_a_file_of_append_result_says_what_to_do(read_text):
    with pytest.raises(UsageError, match=r"result.json:2: has more than one result; split it into a file for each"):
        read_text(f"{json.dumps(SUMS)}\n{json.dumps(SUMS)}", "result.json")


EARLY = {
    "date": "20240907-082731", "backend": "vllm", "model_id": "m", "best_of": 1, "num_prompts": 3,
    "request_rate": "inf", "duration": 1.0, "completed": 2, "total_input_tokens": 20, "total_output_tokens": 8,
    "request_throughput": 2.0, "output_throughput": 8.0, "mean_ttft_ms": 60.0, "median_ttft_ms": 60.0,
    "p99_ttft_ms": 60.0, "mean_tpot_ms": 10.0, "median_tpot_ms": 10.0, "mean_itl_ms": 10.0, "p99_itl_ms": 10.0,
}  # fmt: skip
TURNS = {
    "date": "2026-09-04T20:34:56Z", "mode": "multi_turn", "backend": "openai-chat", "model_id": "m",
    "num_conversations": 2, "multi_turn_concurrency": 2, "duration": 10.0, "conversations_completed": 2, "completed": 4,
    "failed": 1, "total_input_tokens": 40, "total_output_tokens": 16, "request_throughput": 0.4,
    "total_token_throughput": 5.6, "mean_ttft_ms": 900.0, "mean_tpot_ms": 20.0, "mean_itl_ms": 60.0,
    "mean_e2el_ms": 1000.0, "p99_e2el_ms": 1100.0,
}  # fmt: skip


def test_the_first_releases_had_no_total_of_tokens(read_text):
    (trial,) = read_text(json.dumps(EARLY), "vllm.json").trials
    assert (trial.total.requests, trial.total.failures, trial.level) == (3, 1, None)
    assert {each.method for each in trial.endpoints} == {"", "first token", "each chunk", "each token"}


def test_conversations_of_several_turns(read_text):
    (trial,) = read_text(json.dumps(TURNS), "vllm.json").trials
    assert (trial.total.requests, trial.total.failures, trial.total.mean) == (5, 1, 1000)
    assert (trial.level, trial.duration) == (Level("users", 2), 10)


def test_a_throughput_that_contradicts_the_count_is_a_warning(read_text):
    study = read_text(json.dumps(TURNS | {"completed": 40}), "vllm.json")
    assert study.warnings == (
        "its numbers contradict each other: completed is 40, but request_throughput × duration is 4",
    )
