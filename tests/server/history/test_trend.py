from __future__ import annotations

import pytest
from sqlalchemy import text
from tests.server.stored_runs import NOON, serve_history, store_file, store_location, store_run

from plimsoll.record.manifest import Manifest
from plimsoll.server.history.trend import METRICS
from plimsoll.store import Store
from plimsoll.store.cells import run_name
from plimsoll.store.database import Database

__all__ = ["store_file", "store_location", "store_run"]


def commit(number: int) -> dict[str, object]:
    return {"commit": f"{number:040x}", "dirty": False}


def test_runs_that_were_to_do_the_same_are_a_series(store_location, store_run):
    with Store.open(store_location) as store:
        first = [store_run(store, minute, git=commit(minute)) for minute in range(2)]
        plan = {"arguments": ["--region", "eu"], "tags": ["a", "b"], "exclude_tags": ["c"]}
        other = store_run(store, 5, users=10, processes=2, warmup=1.0, run_time=3.0, plan=plan)
        store_run(store, 6, experiment="todos", scenario={"name": run_name("todos", "a, 5 users, repeat 1")})
    with serve_history(store_location) as served:
        for _ in range(2):
            found = served.get("/api/series")["series"]
            assert [(each["label"], each["runs"]) for each in found] == [
                (
                    "locustfile.py at 10 users for 3 s, against http://127.0.0.1:8000, warm-up 1 s, 2 processes, "
                    "--region eu, tags a, b, without tags c",
                    1,
                ),
                ("locustfile.py at 5 users, against http://127.0.0.1:8000", 2),
            ]
        keys = [each["key"] for each in found]
        by_run = {run["id"]: run["series"] for run in served.get("/api/runs")["runs"]}
        assert [by_run[run] for run in (other, *first)] == [keys[0], keys[1], keys[1]]
        assert list(by_run.values()).count("") == 1
        store_run(store_location, 7)
        assert [each["runs"] for each in served.get("/api/series")["series"]] == [3, 1]


def test_a_change_for_good_is_found_where_it_began(store_file, store_run):
    with Store.open(store_file) as store:
        # Not two runs are alike, as none ever are.
        runs = [
            store_run(store, minute, ms=(10.0 if minute < 12 else 20.0) + 0.1 * (minute % 3), git=commit(minute))
            for minute in range(24)
        ]
    with serve_history(store_file) as served:
        (series,) = served.get("/api/series")["series"]
        trend = served.get("/api/trend", series=series["key"], metric="p50")
        assert (trend["series"], trend["metric"], trend["unit"]) == (series, "p50", "ms")
        assert [point["run"] for point in trend["points"]] == runs
        assert {point["is_valid"] for point in trend["points"]} == {True}
        assert [point["commit"] for point in trend["points"]] == [commit(minute)["commit"] for minute in range(24)]
        assert trend["points"][0]["value"] == served.get(f"/api/runs/{runs[0]}")["summary"]["p50"]
        (change,) = trend["changes"]
        assert (change["run"], change["is_worse"]) == (runs[12], True)
        assert change["before"] == pytest.approx(10.1, rel=0.01)
        assert change["change"] == pytest.approx(1.0, rel=0.05)
        assert f"p50 rose by 99% with run {runs[12]}, commit {commit(12)['commit'][:12]}" in change["text"]
        assert trend["chart"]["name"] == "trend-p50"
        assert [row["run"] for row in trend["chart"]["spec"]["datasets"]["points"]] == runs
        assert served.get("/api/trend", series=series["key"])["metric"] == "p99"
        throughput = served.get("/api/trend", series=series["key"], metric="throughput")
        assert (throughput["changes"], {point["value"] for point in throughput["points"]}) == ([], {10.0})
        errors = served.get("/api/trend", series=series["key"], metric="errors")
        assert (errors["unit"], {point["value"] for point in errors["points"]}) == ("%", {10.0})
        assert errors["metrics"] == list(METRICS)


def test_what_is_left_out_is_shown_and_said(store_file, store_run, make_interval):
    with Store.open(store_file) as store:
        fine = store_run(store, 0)
        lost = store_run(store, 1, facts={"lost_workers": 1})
        failed = store_run(store, 2, status="failed")
        damaged = store_run(store, 3)
        running = store_run(store, 4, status=None)
        bounded = store.start_run(Manifest.from_json({**store.run(fine).manifest.to_json(), "started": NOON + 300}))
        bounded.commit([make_interval([10.0] * 9), make_interval([60_000.0], outcome="timeout")])
        bounded.finish("finished", NOON + 303)
    database = Database(store_file)
    with database.write("damage it") as connection:
        connection.execute(text("UPDATE interval SET response = x'00' WHERE run = :run"), {"run": damaged})
    database.close()
    with serve_history(store_file) as served:
        (series,) = served.get("/api/series")["series"]
        assert series["runs"] == 6
        trend = served.get("/api/trend", series=series["key"], metric="p99")
        shown = {point["run"]: (point["is_valid"], point["value"] is None) for point in trend["points"]}
        assert shown == {
            fine: (True, False),
            lost: (False, False),
            failed: (False, False),
            damaged: (False, True),
            bounded.id: (False, False),
        }
        assert running not in shown
        left_out = (
            "Not looked at for changes: 1 run that cannot be read; 1 run that did not end as planned; "
            "1 invalid run, in which the load was not the load asked for; "
            "1 run whose p99 is only a lower bound, because of timeouts."
        )
        assert left_out in trend["notes"]
        assert any("at least 10 are needed" in note for note in trend["notes"])
        assert "lower bound" not in str(served.get("/api/trend", series=series["key"], metric="p50")["notes"])


def test_what_else_may_have_moved_the_number_is_said(store_file, store_run):
    files = [{"name": "x", "files": [{"path": "/a/locustfile.py", "sha256": digit * 64}]} for digit in "01"]
    with Store.open(store_file) as store:
        store_run(store, 0, machine={"hostname": "here"}, scenario=files[0])
        dirty = {"commit": "c0ffee", "dirty": True}
        second = store_run(store, 1, machine={"hostname": "there"}, scenario=files[1], git=dirty)
    with serve_history(store_file) as served:
        (series,) = served.get("/api/series")["series"]
        notes = served.get("/api/trend", series=series["key"])["notes"]
        assert "Not all runs had the same machine: here, there. A change may come from there." in notes
        assert f"The locustfile or plan was another one than before in run {second}." in notes
        assert f"Files differed from their commit in run {second}." in notes


def test_what_cannot_be_asked_for(store_file, store_run):
    with serve_history(store_file) as served:
        assert served.get("/api/series") == {"series": []}
        assert "no store at" in served.refused(404, "get", "/api/trend", series="x")
        store_run(store_file)
        assert "has no series 'x'" in served.refused(404, "get", "/api/trend", series="x")
        assert "has no series ''" in served.refused(404, "get", "/api/trend")
        assert "there are p50, p90" in served.refused(400, "get", "/api/trend", series="x", metric="p42")


def test_a_percentile_of_few_requests_is_doubted(store_file, store_run, make_interval):
    with Store.open(store_file) as store:
        manifest = store.run(store_run(store, 0, ms=10.0)).manifest.to_json()
        for minute, requests in enumerate((400, 120, 200), start=1):
            run = store.start_run(Manifest.from_json({**manifest, "started": NOON + 60 * minute}))
            run.commit([make_interval([10.0] * requests)])
            run.finish("finished", NOON + 60 * minute + 1)
    with serve_history(store_file) as served:
        (series,) = served.get("/api/series")["series"]
        trend = served.get("/api/trend", series=series["key"], metric="p99")
        few = next(note for note in trend["notes"] if "Too few" in note)
        run = trend["points"][0]["run"]
        assert few.startswith(f"Too few requests for a p99 in 3 runs: in {run} it rests on the slowest 1 of 30.")
        assert "It takes 368" in few
        for metric in ("p50", "max", "mean", "throughput"):
            trend = served.get("/api/trend", series=series["key"], metric=metric)
            assert "Too few requests" not in str(trend["notes"]), metric
