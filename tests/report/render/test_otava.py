from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

from plimsoll.report.render.otava import COLUMNS, otava_csv
from plimsoll.stats.run_summary import QUANTILES, RunSummary


@dataclass
class Run:
    id: str
    started: float
    status: str = "finished"
    manifest: dict = field(
        default_factory=lambda: {"git": {"commit": "abc"}, "branch": "main", "scenario": {"name": "=shop.py"}}
    )


def summary(p99=30.0, **given):
    times = {"mean": 10.0, **dict.fromkeys(QUANTILES, p99)}
    return RunSummary(100, 5, 50.0, 2.0, times, **given)


def rows(*runs):
    return list(csv.DictReader(io.StringIO(otava_csv(runs))))


def test_a_line_for_each_run_the_earliest_first():
    found = rows((Run("b", 1_795_471_260.0), summary(40.0)), (Run("a", 1_795_471_200.0), summary()))
    assert [each["run"] for each in found] == ["a", "b"]
    assert tuple(found[0]) == COLUMNS
    assert found[0]["time"] == "2026-11-23 22:00:00 +0000"
    assert (found[0]["commit"], found[0]["branch"], found[0]["name"]) == ("abc", "main", "'=shop.py")
    assert (found[1]["p99_ms"], found[1]["throughput"], found[1]["error_rate"]) == ("40.0", "50.0", "0.05")


def test_what_no_history_should_hold_is_left_out():
    found = rows(
        (Run("a", 1.0, "running"), summary()),
        (Run("b", 2.0), summary(reasons=("too little load",))),
        (Run("c", 3.0, manifest={}), summary(at_least=("p99",))),
    )
    assert [(each["run"], each["p99_ms"], each["p50_ms"]) for each in found] == [("c", "", "30.0")]
    assert found[0]["commit"] == ""
