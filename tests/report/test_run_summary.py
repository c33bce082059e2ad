from __future__ import annotations

import json
from dataclasses import replace

from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.run_summary import RunSummary
from plimsoll.say.validity import check_texts
from plimsoll.stats.table import Times, total_of
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView


def test_it_says_what_the_tables_say(make_interval, make_health):
    view = RunView()
    view.add(
        [
            make_interval([1.0, 2.0, 30.0] * 5, second=0),
            make_interval([500.0] * 2, second=1, outcome="timeout"),
            make_interval([4.0], second=2, outcome="http"),
        ],
        [make_health(second, lag_us=[2000] * 100) for second in range(3)],
    )
    summary = RunSummary.of_view(view, Manifest(), RunFacts(lost_workers=1), "finished")
    total = total_of(view)
    assert (summary.requests, summary.failures, summary.rate) == (18, 3, total.rps)
    assert (summary.duration, summary.fail_ratio) == (3.0, 3 / 18)
    times = Times.of(total.response_ms)
    percentiles = {f"p{percent}": times.percentiles[percent] for percent in ("50", "90", "95", "99")}
    expected = {"mean": times.mean, **percentiles, "p999": times.percentiles["99.9"], "max": times.max}
    assert summary.times == expected
    assert "p99" in summary.at_least and "p50" not in summary.at_least
    assert list(summary.reasons) == check_texts(judge(view, Manifest(), RunFacts(lost_workers=1), "finished").failed)
    assert len(summary.reasons) == 1
    assert not summary.is_valid


def test_a_run_without_requests_has_no_times():
    summary = RunSummary.of_view(RunView(), Manifest(), RunFacts(), "finished")
    assert (summary.requests, summary.rate, summary.fail_ratio, summary.is_valid) == (0, 0.0, 0.0, True)
    assert set(summary.times.values()) == {None}


def test_it_survives_json(make_interval):
    view = RunView()
    view.add([make_interval([1.0, 3.0]), make_interval([500.0], outcome="timeout")])
    summary = replace(RunSummary.of_view(view, Manifest(), RunFacts(), "finished"), reasons=("a", "b"))
    assert RunSummary.from_json(json.loads(json.dumps(summary.to_json(), allow_nan=False))) == summary
