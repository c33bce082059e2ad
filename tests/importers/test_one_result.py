"""Two results in one file are refused, whatever their tool: what two runs printed, and logs that were appended."""

from __future__ import annotations

import json

import pytest
from tests.importers import test_gatling, test_hdr, test_hey, test_jtl, test_k6, test_vegeta, test_wrk

from plimsoll.errors import UsageError

LOCUST = "Type,Name,Request Count,Failure Count\nGET,/,3,0\n"
OHA = "Summary:\n  Success rate:\t100.00%\n  Total:\t2.0 secs\n  Slowest:\t0.1 secs\n  Requests/sec:\t5.0\n"
HEY_CSV = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
HGRM = "Value Percentile TotalCount 1/(1-Percentile)\n1.0 1.0 1 inf\n"
HLOG = f"{test_hdr.HEAD}1.0,1.0,5.0,{test_hdr.foreign([5_000_000])}\n"
JTL = "\n".join([test_jtl.TITLES, *test_jtl.ROWS, ""])


@pytest.mark.parametrize(
    ("result", "tool", "lines"),
    [
        (test_wrk.WRK2, "wrk", "1 and 26"),
        (test_hey.HEY, "hey", "3 and 31"),
        (OHA, "oha", "3 and 8"),
        (test_vegeta.TEXT, "vegeta", "1 and 10"),
        (HGRM, "HdrHistogram", "1 and 3"),
        (HLOG, "HdrHistogram", "1 and 4"),
        (f"{HEY_CSV}0.1,0,0,0,0.1,0,200,0\n", "hey", "1 and 3"),
        (LOCUST, "Locust", "1 and 3"),
        (JTL, "JMeter", "1 and 7"),
        (f"{test_gatling.TEXT}\n", "Gatling", "1 and 9"),
        ("metric_name,timestamp,metric_value,status\nhttp_req_duration,1795176000,5,200\n", "k6", "1 and 3"),
        (f"{json.dumps(test_k6.DECLARED)}\n{test_k6.POINTS[2]}\n", "k6", "1 and 3"),
    ],
)
def test_two_results_of_a_tool_are_refused_with_their_lines(read_text, tmp_path, result, tool, lines):
    assert read_text(result, "results").trials
    with pytest.raises(UsageError) as caught:
        read_text(result * 2, "results")
    expected = f"holds two results of {tool} (lines {lines}): split them into one file each"
    assert str(caught.value) == f"{tmp_path / 'results'}: {expected}"


def test_many_results_are_counted(read_text):
    with pytest.raises(UsageError, match=r"holds 7 results of wrk \(lines 1, 26, 51, 76, 101, …\)"):
        read_text(test_wrk.WRK2 * 7, "results.txt")


def test_results_of_two_tools(read_text):
    with pytest.raises(UsageError, match=r"holds results of wrk \(line 1\) and of hey, oha or ghz \(line 28\)"):
        read_text(test_wrk.WRK2 + test_hey.HEY, "results.txt")


def attack(start_ns, numbers):
    rows = ((start_ns + number * 1_000_000, number) for number in numbers)
    return "".join(f"{at},200,1000,0,0,,,a,{number},GET,/,\n" for at, number in rows)


def test_attacks_of_several_generators_are_one_result_and_attacks_one_after_another_are_two(read_text):
    at_once = attack(test_vegeta.NS, range(5)) + attack(test_vegeta.NS + 2_000_500, range(5))
    assert read_text(at_once, "results.csv").trials[0].total.requests == 10
    later = attack(test_vegeta.NS, range(5)) + attack(test_vegeta.NS + 60_000_000_000, range(5))
    with pytest.raises(UsageError, match=r"holds two results of vegeta \(lines 1 and 6\)"):
        read_text(later, "results.csv")
