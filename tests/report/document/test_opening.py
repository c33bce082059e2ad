from __future__ import annotations

from plimsoll.report.document.opening import histogram_lines
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.view import RunView


def test_the_bars_of_response_times_add_up_and_the_longest_is_full(make_interval):
    times = Latency.of_response([make_interval([1.0] * 50 + [2.0] * 40 + [9.0] * 9 + [400.0])])
    lines = histogram_lines(times)
    counts = [int(line.split("%")[0].split()[-2]) for line in lines]
    assert sum(counts) == 100
    assert lines[counts.index(max(counts))].count("█") == 32
    assert lines[-1].split()[1] == "400"
    assert lines[-1].endswith("100.0 %")


def test_equal_times_are_one_bar(make_interval):
    ends = [
        line.split(" ms ")[0]
        for line in histogram_lines(Latency.of_response([make_interval([*[40.0] * 99, 1, 48.0, 48.02])]))
    ]
    assert len(set(ends)) == len(ends), "no two bars have the same end"
    (line,) = histogram_lines(Latency.of_response([make_interval([5.0] * 7)]))
    assert line.split()[-3:] == ["7", "100.0", "%"]


def test_requests_without_a_response_have_a_bar(make_interval):
    view = RunView()
    view.add([make_interval([10.0] * 30), make_interval([50.0] * 10, outcome="unanswered")])
    bars = histogram_lines(view.total.response)
    assert [" ".join(line.split()) for line in bars] == [
        "≤ 10.0 ms ████████████████████████████████ 30 75.0 %",
        "no response ██████████▋ 10 100.0 %",
    ]
