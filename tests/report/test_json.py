from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.report.json import RUNS_SCHEMA, SCHEMA, VERSION, document, dumps, runs_document
from plimsoll.stats.view import RunView

FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"


def test_a_run_says_what_it_is(run, view):
    value = json.loads(dumps(document(view, run)))
    assert (value["schema"], value["version"], value["duration_s"]) == (SCHEMA, VERSION, 4.0)
    assert value["run"] == {
        "id": "20261120-1200-7f3k",
        "status": "finished",
        "started": 1_795_176_000.0,
        "ended": 1_795_176_004.0,
        "experiment": None,
        "manifest": {"users": 5, "host": "http://127.0.0.1:8000"},
        "notes": [],
    }


def test_numbers_are_those_of_the_tables(run, view):
    value = document(view, run)
    total = value["total"]
    assert (total["requests"], total["failures"], total["cancelled"]) == (217, 9, 3)
    assert [(row["method"], row["name"], row["requests"]) for row in value["endpoints"]] == [
        ("GET", "/slow", 1),
        ("GET", "/todos", 204),
        ("POST", "/todos", 12),
    ]
    slow, todos, _ = value["endpoints"]
    assert slow["response_ms"]["at_least"] == list(slow["response_ms"]["percentiles"])
    assert (todos["response_ms"]["min"], todos["response_ms"]["max"], todos["rps"]) == (5.0, 40.0, 51.0)
    assert todos["response_ms"]["percentiles"]["99"] == pytest.approx(40.0, rel=0.001)
    assert todos["per_second"] == {"requests": [51] * 4, "failures": [1] * 4}
    assert total["outcomes"]["connect"] | {"time_ms": None} == {"count": 4, "failure": True, "time_ms": None}
    assert total["outcomes"]["connect"]["time_ms"]["max"] == 0.25
    assert value["generator"]["users_by_second"] == {"0": 5, "1": 5, "2": 5, "3": 5}
    assert value["generator"]["lag_ms"]["percentiles"]["100"] == 0.9
    assert [row["count"] for row in value["failures"]] == [4, 4]
    assert [row["workers"] for row in value["exceptions"]] == [[0]]


def test_percentiles_and_the_list_of_lower_bounds(view):
    response = document(view)["total"]["response_ms"]
    assert response["at_least"] == ["99.9", "99.99", "100"]
    assert response["censored"] == 1
    assert list(response["percentiles"]) == [
        "50", "60", "70", "75", "80", "90", "95", "99", "99.9", "99.99", "100"
    ]  # fmt: skip


def test_a_run_without_requests_has_the_same_fields(view):
    def shape(value):
        return {key: shape(each) for key, each in value.items()} if isinstance(value, dict) else None

    empty, full = document(RunView()), document(view)
    for value in (empty["total"], full["total"]):
        value.pop("outcomes")
    assert shape(empty["total"]) == shape(full["total"])
    assert empty["generator"]["lag_ms"]["percentiles"]["50"] is None
    assert empty.keys() == full.keys()
    json.dumps(empty, allow_nan=False)


def test_a_list_of_runs(run, view):
    value = runs_document([(run, view), (run, RunView())])
    assert (value["schema"], value["version"]) == (RUNS_SCHEMA, VERSION)
    assert [row["total"]["requests"] for row in value["runs"]] == [217, 0]
    assert value["runs"][0]["id"] == run.id


def test_every_field_is_explained_in_the_docs(run, view):
    def names(value):
        if isinstance(value, list):
            return set().union(*map(names, value))
        if isinstance(value, dict):
            return set(value).union(*map(names, value.values()))
        return set()

    value = document(view, run)
    value["run"]["manifest"] = {}
    for keyed_by_data in (*value["endpoints"], value["total"]):
        keyed_by_data["outcomes"] = list(keyed_by_data["outcomes"].values())
    value["generator"].pop("users_by_second")
    fields = {name for name in names(value) | names(runs_document([])) if not name[0].isdigit()}
    docs = FORMATS.read_text()
    assert {name for name in fields if f"`{name}`" not in docs} == set()
