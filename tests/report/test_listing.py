from __future__ import annotations

from plimsoll.report.listing import run_list
from plimsoll.stats.view import RunView


def test_a_line_per_run(run, view):
    run.manifest["scenario"] = {"name": "locustfile.py"}
    running = type(run)(id="20261120-1201-8g4m", status="running", ended=None, manifest={})
    lines = run_list([(running, RunView()), (run, view)], 120).splitlines()
    assert " ".join(lines[0].split()) == (
        "Run Started Scenario Users Duration # Requests # Fails RPS p50 ms p99 ms Status"
    )
    assert lines[2].split()[0] == "20261120-1201-8g4m"
    assert lines[2].split()[3:] == ["0", "s", "0", "0", "0.0", "–", "–", "running"]
    assert " ".join(lines[3].split()[3:]) == "locustfile.py 5 4 s 217 9 54.2 10.0 40.0 finished"


def test_no_runs():
    assert run_list([], 80) == "no runs yet"
