import math
from pathlib import Path

import pytest
from benches.readme import splice
from labs.truth.arrivals import Scheduled
from labs.truth.errors import TruthError
from labs.truth.line import Line, Verdict, exact, milliseconds, not_judged, within, words
from labs.truth.peers.runs import Peers, Row
from labs.truth.peers.table import render as render_peers
from labs.truth.peers.tools import TOOLS, Job, Tool, ToolFigures
from labs.truth.plimsoll_run import Endpoint, Report
from labs.truth.table import folded, render
from labs.truth.target_process import PathTruth, Truth
from labs.truth.tolerance import Bounds

SECOND = 1_000_000_000


def path(arrivals: list[int], times: list[int | None]) -> PathTruth:
    return PathTruth(len(arrivals), len(arrivals), 0, 0, 0, arrivals, times)


def record(not_kept: int = 0) -> dict[str, object]:
    counts = {"received": 2, "replied": 1, "reset": 0, "cut": 1, "cookies": 0, "not_kept": not_kept}
    return {
        "paths": {"/a": {**counts, "arrivals_ns": [5, 9], "times_ns": [3, None]}},
        "connections": [2], "stamps": {"kernel": 2, "user": 0, "error_ns": 50}, "partial": 0, "refused": 0,
        "freezes_ns": [[SECOND, 2 * SECOND]], "stalls_ns": [],
    }  # fmt: skip


def test_a_record_is_read_with_its_times_in_seconds() -> None:
    truth = Truth.of(record())
    assert truth.path("/a").seconds() == [3e-9]
    assert truth.path("/a").completions() == [8e-9]
    assert (truth.stamp_error, truth.freezes, truth.path("/b").received) == (50e-9, [(1.0, 2.0)], 0)


def test_a_record_that_is_not_complete_is_refused() -> None:
    with pytest.raises(TruthError, match="shorten the run"):
        Truth.of(record(not_kept=1))


def test_dues_are_counted_from_the_request_that_was_least_late() -> None:
    # Due at 0, 2, 4 ms after a start that nobody knows; late by 300, 100 and 1100 µs; the last has no reply.
    scheduled = Scheduled(path([10_300_000, 12_100_000, 15_100_000], [50_000, 20_000, None]), 500)
    assert scheduled.start == pytest.approx(0.0101)
    assert scheduled.lateness() == pytest.approx([0, 200e-6, 1000e-6])
    assert scheduled.responses() == pytest.approx([20e-6, 250e-6])


def test_a_single_late_arrival_is_no_drift_and_a_wrong_rate_is() -> None:
    dues = [2_000_000 * index for index in range(100)]
    late = Scheduled(path([5_000_000, *dues[1:]], [0] * 100), 500)
    assert late.drift() == pytest.approx(0, abs=1e-9)
    slow = Scheduled(path([due + due // 1000 for due in dues], [0] * 100), 500)
    assert slow.drift() == pytest.approx(90 * 2e-3 / 1000)
    with pytest.raises(ValueError, match="median"):
        Scheduled(path([0, 2_000_000], [0, 0]), 500).drift()


def report(exit_code: int, states: list[tuple[str, str]]) -> Report:
    checks = [{"state": state, "text": text} for state, text in states]
    return Report("plimsoll run", exit_code, {"validity": {"checks": checks}, "omission": {"warning": None}}, "")


def test_only_exit_code_3_makes_a_run_invalid_and_the_failed_checks_say_why() -> None:
    assert report(0, [("failed", "lag is high: why")]).invalid is None
    assert (
        report(3, [("failed", "lag is high: why"), ("ok", "fine"), ("failed", "delay")]).invalid == "lag is high; delay"
    )
    assert report(3, []).invalid == "exit code 3"
    assert not report(0, []).warned_of_omission


def test_an_endpoint_gives_its_figures_in_seconds() -> None:
    outcomes = {"success": {"count": 3}, "reset": {"count": 0}}
    endpoint = Endpoint({"outcomes": outcomes, "service_ms": {"percentiles": {"99.9": 12.5, "50": 1}}})
    assert (endpoint.service(0.999), endpoint.service(0.5), endpoint.retries) == (0.0125, 0.001, 0)
    assert (endpoint.outcomes(), endpoint.count("timeout")) == ({"success": 3}, 0)


def test_lines_judge_and_word_what_they_compare() -> None:
    assert exact("c", "q", 5, 5).verdict is Verdict.HOLDS
    assert exact("c", "q", {"success": 1_000}, {"success": 999}).verdict is Verdict.FAILS
    line = within("c", "q", "5.000", 0.0051, Bounds(0.005, math.inf))
    assert (line.reported, line.tolerance, line.verdict) == ("5.100", "≥ 5.000 ms", Verdict.HOLDS)
    assert within("c", "q", "5.000", 0.0052, Bounds(0.005, 0.0051)).verdict is Verdict.FAILS
    assert (words({"b": 1_000, "a": 2}), words({}), words(1_000)) == ("2 a, 1,000 b", "none", "1,000")
    assert [milliseconds(each) for each in (0.0000123, 0.0123, 1.2345)] == ["0.012", "12.30", "1234.5"]


def test_the_table_has_a_line_each_and_a_sum() -> None:
    lines = [exact("a|b", "requests", 1, 1), exact("c", "requests", 1, 2), not_judged("d", "too busy")]
    text = render(lines)
    assert text.count("\n| ") == 3
    assert "a\\|b" in text
    assert text.endswith("1 holds, 1 FAILS, 1 not judged.\n")


def test_counts_that_are_equal_fold_into_one_line_and_nothing_else_does() -> None:
    bad = exact("counts /b", "requests", 1, 2)
    other = exact("failures", "requests", 1, 1)
    lines = [exact("counts /a", "requests", 1, 1), exact("counts /a", "outcomes", 1, 1), bad, other]
    assert folded(lines)[1:] == [bad, other]
    assert folded(lines)[0].case == "counts, 1 runs"
    assert folded([other]) == [other]


def test_results_go_between_their_own_markers(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    marker = "<!-- {}: written by `python -m labs.truth --readme` -->\nold\n<!-- end of {} -->\n"
    readme.write_text("".join(marker.format(name, name) for name in ("checks", "peers")))
    command = "python -m labs.truth --readme"
    splice("new", readme, "peers", command)
    splice("newer", readme, "peers", command)
    text = readme.read_text()
    assert (text.count("old"), text.count("newer"), "new\n" in text) == (1, 1, False)
    with pytest.raises(ValueError, match="lacks the markers"):
        splice("new", readme, "others", command)


WRK = """Running 10s test @ http://127.0.0.1:1/fixed
  1 threads and 50 connections
  Latency Distribution
     50%    5.10ms
     75%    5.20ms
     90%  408.90us
     99%    1.05s
  5000 requests in 10.00s, 1.00MB read
"""
HEY = """Summary:
  Total: 1.0000 secs
  Slowest: 1.0000 secs
  Requests/sec: 500.0
Latency distribution:
  50% in 0.0053 secs
  90% in 0.0056 secs
  99% in 0.9924 secs
Status code distribution:
  [200] 500 responses
"""
AB = "within a certain time (ms)\n  50%      5\n  66%      5\n  90%     17\n  99%    900\n 100%   1004 (longest)\n"
OHA = """{"summary": {"successRate": 1.0, "total": 1.0}, "statusCodeDistribution": {"200": 500},
"latencyPercentiles": {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99}}"""


def tool(name: str) -> Tool:
    (found,) = [each for each in TOOLS if each.name == name]
    return found


@pytest.mark.parametrize(
    ("name", "output", "percentiles"),
    [
        ("wrk", WRK, (0.0051, 0.0004089, 1.05)), ("hey", HEY, (0.0053, 0.0056, 0.9924)),
        ("ab", AB, (0.005, 0.017, 0.9)), ("oha", OHA, (0.5, 0.9, 0.99)),
    ],
)  # fmt: skip
def test_the_percentiles_of_other_tools_are_where_they_print_them(
    name: str, output: str, percentiles: tuple[float, ...], tmp_path: Path
) -> None:
    job = Job("http://127.0.0.1:1/fixed?ms=5", 1, tmp_path)
    assert tool(name).figures(job, output).percentiles == pytest.approx(percentiles)
    with pytest.raises(TruthError, match="nothing was measured"):
        tool(name).figures(job, "nothing was measured")


def test_a_command_is_what_a_user_would_type(tmp_path: Path) -> None:
    job = Job("http://127.0.0.1:1/fixed?ms=5", 7, tmp_path)
    for each in TOOLS:
        command = each.command(job)
        assert not any("{" in word for word in command)
        assert any("127.0.0.1:1" in word for word in command) and any("7" in word for word in command)
    assert tool("wrk").command(job)[1:] == ["-t1", "-c50", "-d7s", "--latency", job.url]
    assert "/fixed?ms=5" in tool("Locust, constant_throughput").command(job)


def test_the_peers_have_a_table_for_each_case_and_what_is_missing_is_said() -> None:
    row = Row("freeze", "wrk", "wrk -t1 URL", (0.005, 0.505, 0.955), ToolFigures((0.005, 0.4, 0.9), True), 1_234)
    text = render_peers(Peers({"wrk": "wrk 4.1"}, [row], ["k6 is not installed"]))
    assert "| wrk | 5.000    | 505.0    | 955.0    | 5.000    | 400.0    | 900.0    | 1,234    | yes   |" in text
    assert "- wrk (wrk 4.1): `wrk -t1 URL`" in text
    assert "Every reply takes 5 ms" not in text
    assert text.endswith("Not measured: k6 is not installed\n")


def test_a_line_is_what_it_was_made_of() -> None:
    assert not_judged("c", "why") == Line("c", "why", "–", "–", "–", Verdict.NOT_JUDGED)
