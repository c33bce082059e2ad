from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.render.run_listing import OTAVA_COLUMNS, otava_csv, run_list
from plimsoll.report.run_summary import QUANTILES, RunSummary
from plimsoll.stats.view import RunView


def line_of(run, view):
    return run, RunSummary.of_view(view, run.manifest, run.facts, run.status)


def test_a_line_per_run(run, view):
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "scenario": {"name": "locustfile.py"}})
    running = type(run)(id="20261120-1201-8g4m", status="running", ended=None, manifest=Manifest())
    lines = run_list([line_of(running, RunView()), line_of(run, view)], 120).splitlines()
    assert " ".join(lines[0].split()) == (
        "Run Started UTC Scenario Load Duration # Requests # Fails RPS p50 ms p99 ms Status"
    )
    assert lines[2].split()[0] == "20261120-1201-8g4m"
    assert lines[2].split()[3:] == ["0", "s", "0", "0", "0", "–", "–", "running"]
    assert " ".join(lines[3].split()[3:]) == "locustfile.py 5 users 4 s 217 9 54.2 10.0 40.0 finished"


def status(run, view):
    (line,) = run_list([line_of(run, view)], 200).splitlines()[2:]
    return " ".join(line.split("  ")[-1].split())


def test_invalid_runs_and_failed_thresholds_are_marked(run, view, busy):
    passed, failed = ({"text": "p99 < 1s", "passed": each, "value": 1.0, "limit": 1.0, "detail": ""} for each in (1, 0))
    assert status(run, busy) == "invalid"
    run.facts = RunFacts.from_json({"thresholds": [passed, failed, failed]})
    assert status(run, view) == "✗ 2 of 3 thresholds"
    assert status(run, busy) == "invalid, ✗ 2 of 3 thresholds"
    run.status = "stopped"
    assert status(run, busy) == "stopped, invalid, ✗ 2 of 3 thresholds"
    run.status, run.facts = "finished", RunFacts.from_json({"thresholds": [passed]})
    assert status(run, view) == "finished"


def test_a_run_that_goes_on_is_not_judged(run, busy):
    run.status = "running"
    assert status(run, busy) == "running"


def test_the_load_of_an_open_run_is_its_rate(run, view):
    shape = {"kind": "constant", "values": {"level": 900}}
    phase = {"name": "main", "shape": shape, "start": 0.0, "seconds": 60.0, "poisson": False, "warmup": False}
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "load": {"model": "open", "phases": [phase]}})
    assert run_list([line_of(run, view)], 200).splitlines()[2].split()[3:5] == ["900/s", "4"]


def test_tags_are_shown_where_there_are_some(run, view):
    other = type(run)(id="20261120-1201-8g4m", tags=("nightly", "new\nindex"))
    lines = run_list([line_of(other, view), line_of(run, view)], 200).splitlines()
    assert lines[0].endswith("Tags")
    assert lines[2].endswith("nightly, new index")
    assert lines[3].rstrip().endswith("finished")


def test_no_runs():
    assert run_list([], 80) == "no runs yet"


@dataclass
class Recorded:
    id: str
    started: float
    status: str = "finished"
    manifest: Manifest = field(
        default_factory=lambda: Manifest.from_json(
            {"git": {"commit": "abc"}, "branch": "main", "scenario": {"name": "=shop.py"}}
        )
    )


def summary_of(p99=30.0, **given):
    times = {"mean": 10.0, **dict.fromkeys(QUANTILES, p99)}
    return RunSummary(100, 5, 0, 50.0, 2.0, times, **given)


def rows(*runs):
    return list(csv.DictReader(io.StringIO(otava_csv(runs))))


def test_a_history_has_the_earliest_run_first():
    found = rows((Recorded("b", 1_795_471_260.0), summary_of(40.0)), (Recorded("a", 1_795_471_200.0), summary_of()))
    assert [each["run"] for each in found] == ["a", "b"]
    assert tuple(found[0]) == OTAVA_COLUMNS
    assert found[0]["time"] == "2026-11-23 22:00:00 +0000"
    assert (found[0]["commit"], found[0]["branch"], found[0]["name"]) == ("abc", "main", "'=shop.py")
    assert (found[1]["p99_ms"], found[1]["throughput"], found[1]["error_rate"]) == ("40.0", "50.0", "0.05")


def test_what_no_history_should_hold_is_left_out():
    found = rows(
        (Recorded("a", 1.0, "running"), summary_of()),
        (Recorded("b", 2.0), summary_of(reasons=("too little load",))),
        (Recorded("c", 3.0, manifest=Manifest()), summary_of(at_least=("p99",))),
    )
    assert [(each["run"], each["p99_ms"], each["p50_ms"]) for each in found] == [("c", "", "30.0")]
    assert found[0]["commit"] == ""
