"""The table of releases in the docs, and a file of each of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.importers import read

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "fuzz" / "seeds" / "results"
TOOLS = {"JMeter": "jmeter", "Gatling": "gatling", "Locust": "locust", "vLLM": "vllm"}
"""Names in the precision of a study that are not those in the table in lower case."""
UNKNOWN = {"release-k6-0.26-summary-export.json"}
"""Files that do not say how many requests failed."""


def _rows() -> list[tuple[str, str]]:
    """(tool, name of the sample) of each row."""
    text = (ROOT / "docs" / "reference" / "imports.md").read_text()
    return re.findall(r"^\| ([^|]+?) \|.*\| `(release-[^`]+)` \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("tool", "name"), _rows())
def test_each_release_in_the_table_is_read_as_that_of_its_tool(tool: str, name: str) -> None:
    study = read(SAMPLES / name)
    assert study.warnings == ()
    for trial in study.trials:
        assert trial.precision.tool == TOOLS.get(tool, tool.lower())
        assert trial.total.requests
        assert (trial.total.failures is None) == (name in UNKNOWN)
        assert any(each.mean is not None for each in (trial.total, *trial.endpoints))


def test_each_sample_of_a_release_is_in_the_table() -> None:
    assert sorted(name for _, name in _rows()) == sorted(path.name for path in SAMPLES.glob("release-*"))


@pytest.mark.parametrize(
    ("name", "requests", "failures", "level"),
    [
        ("release-aiperf-0.1.json", 10, 1, 4),
        ("release-aiperf-0.13.json", 12, 1, 2),
        ("release-aiperf-0.13.jsonl", 3, 1, None),
        ("release-guidellm-0.1.json", 2, 0, 1),
        ("release-guidellm-0.2.json", 11, 1, 20),
        ("release-guidellm-0.3.json", 11, 2, 2),
        ("release-guidellm-0.4.json", 11, 1, 2),
        ("release-guidellm-0.8.json", 11, 1, 2),
        ("release-k6-2.2-machine-readable.json", 600, 30, 8),
        ("release-locust-0.14-stats.csv", 100, 5, None),
        ("release-gatling-2.3.log", 2, 1, 1),
        ("release-gatling-3.3.log", 2, 1, 1),
        ("release-vegeta-5.txt", 1200, 535, None),
        ("release-vegeta-6-results.csv", 3, 1, None),
        ("release-vegeta-12.0-results.csv", 2, 1, None),
    ],
)
def test_the_numbers_of_a_release(name: str, requests: int, failures: int, level: float | None) -> None:
    trial = read(SAMPLES / name).trials[0]
    assert (trial.total.requests, trial.total.failures) == (requests, failures)
    assert (trial.level and trial.level.value) == level


def test_the_second_benchmark_of_the_first_guidellm_has_its_errors() -> None:
    _, second = read(SAMPLES / "release-guidellm-0.1.json").trials
    rows = {each.method: each for each in second.endpoints}
    assert (second.total.requests, second.total.failures, second.level and second.level.value) == (3, 1, 2.0)
    assert [kind.message for kind in second.total.kinds] == ["Connection error."]
    assert (rows["each token"].requests, rows["first token"].mean) == (8, pytest.approx(150))


def test_guidellm_before_p50_has_its_median() -> None:
    path = SAMPLES / "release-guidellm-0.2.json"
    (trial,) = read(path).trials
    times = json.loads(path.read_text())["benchmarks"][0]["metrics"]["request_latency"]["successful"]
    assert "p50" not in times["percentiles"]
    assert trial.total.quantiles[0.5] == pytest.approx(1000 * times["median"])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("profile_export_aiperf_aggregate.json",
         json.dumps({"schema_version": "1.0", "aiperf_version": "0.13.0", "metadata": {"num_profile_runs": 2},
                     "metrics": {"http_req_duration_avg": {"mean": 50.0}}}),
         "has means of several runs of AIPerf: import profile_export.jsonl"),
        ("profile_export_aiperf_timeslices.json", '{"timeslices": [{"request_latency": {"avg": 1}}]}',
         "has parts of a run of AIPerf"),
        ("profile_export_aiperf.csv", "Metric,avg,min,max,sum,p1\nRequest Latency (ms),5,1,9,,1\n",
         "is a table of AIPerf"),
        ("hey.csv", "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read\n0.1,0,0,0,0,0\n",
         "neither statuses nor moments: use its summary"),
        ("guidance_report.json", '{"benchmarks":[{"benchmarks":[{"mode":"synchronous","results":[],"errors":[]}]}]}',
         "has a benchmark in which all requests failed"),
    ],
)  # fmt: skip
def test_other_files_of_these_tools_are_refused_with_what_to_import(read_text, name, text, expected) -> None:
    with pytest.raises(UsageError, match=expected):
        read_text(text, name)
