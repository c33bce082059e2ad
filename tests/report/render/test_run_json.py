from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from plimsoll.load.json_schema import document_schema
from plimsoll.record import COUNTERS, GENERATOR_COUNTERS
from plimsoll.record.facts import RunFacts
from plimsoll.report.render.run_fields import RunFields
from plimsoll.report.render.run_json import RUNS_SCHEMA, SCHEMA, VERSION, document, dumps, runs_document
from plimsoll.say.validity import omission_lines
from plimsoll.stats.view import RunView

FORMATS = Path(__file__).parents[3] / "docs" / "formats.md"


def test_a_run_says_what_it_is(run, view, valid):
    run.facts = RunFacts.from_json({"lost_workers": 0})
    value = json.loads(dumps(document(view, run, valid)))
    assert (value["schema"], value["version"], value["duration_s"]) == (SCHEMA, VERSION, 4.0)
    assert value["run"] == {
        "id": "20261120-1200-7f3k",
        "status": "finished",
        "started": 1_795_176_000.0,
        "ended": 1_795_176_004.0,
        "experiment": None,
        "manifest": {"users": 5, "host": "http://127.0.0.1:8000"},
        "notes": [],
        "facts": {"lost_workers": 0},
    }


def test_numbers_are_those_of_the_tables(run, view, valid):
    value = document(view, run, valid)
    total = value["total"]
    assert (total["requests"], total["failures"], total["unanswered"]) == (217, 9, 3)
    assert [(row["method"], row["name"], row["requests"]) for row in value["endpoints"]] == [
        ("GET", "/slow", 1),
        ("GET", "/todos", 204),
        ("POST", "/todos", 12),
    ]
    slow, todos, _ = value["endpoints"]
    assert slow["response_ms"]["at_least"] == ["mean", *slow["response_ms"]["percentiles"]]
    assert (todos["response_ms"]["min"], todos["response_ms"]["max"], todos["rps"]) == (5.0, 40.0, 51.0)
    assert todos["response_ms"]["percentiles"]["99"] == pytest.approx(40.0, rel=0.001)
    assert todos["per_second"] == {"requests": [51] * 4, "failures": [1] * 4}
    assert total["outcomes"]["connect"] | {"time_ms": None} == {"count": 4, "failure": True, "time_ms": None}
    assert total["outcomes"]["connect"]["time_ms"]["max"] == 0.25
    assert value["generator"]["users_by_second"] == {"0": 5, "1": 5, "2": 5, "3": 5}
    assert value["generator"]["lag_ms"]["percentiles"]["100"] == 0.9
    assert [row["count"] for row in value["failures"]] == [4, 4]
    assert [row["workers"] for row in value["exceptions"]] == [[0]]


def test_percentiles_and_the_list_of_lower_bounds(view, valid):
    response = document(view, None, valid)["total"]["response_ms"]
    assert response["at_least"] == ["mean", "99.9", "99.99", "100"]
    assert response["censored"] == 1
    assert list(response["percentiles"]) == [
        "50", "60", "70", "75", "80", "90", "95", "99", "99.9", "99.99", "100"
    ]  # fmt: skip


def test_a_run_without_requests_has_the_same_fields(view, valid):
    def shape(value):
        return {key: shape(each) for key, each in value.items()} if isinstance(value, dict) else None

    empty, full = document(RunView(), None, valid), document(view, None, valid)
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


def test_a_list_of_runs_says_which_are_valid(run, view, busy):
    value = runs_document([(run, view), (run, busy)])
    assert [row["valid"] for row in value["runs"]] == [True, False]


def test_the_verdict_with_its_numbers(run, view, invalid):
    value = json.loads(dumps(document(view, run, invalid)))
    assert value["validity"]["valid"] is False
    assert [check["name"] for check in value["validity"]["checks"]] == [
        "offered", "dropped", "cpu", "lag", "clock", "workers", "little"
    ]  # fmt: skip
    assert value["validity"]["checks"][1] == {
        "name": "dropped",
        "state": "failed",
        "value": 12,
        "limit": 0,
        "text": "12 arrivals dropped: due, but never sent; more users (--max-users), or a lower rate",
    }
    assert [(each["text"], each["passed"], each["value"]) for each in value["thresholds"]] == [
        ("p99 < 300ms", True, 40.0),
        ("p100 < 30s", False, 30_000.0),
        ("fails of /shop = 0", False, None),
    ]
    assert value["omission"] is None


def test_each_time_has_the_generators_share(make_interval, run, valid):
    late = make_interval([40.0] * 10)
    late.service, late.service_sum = make_interval([31.0] * 10).service, 310_000_000
    view = RunView()
    view.add([late])
    total = document(view, run, valid)["total"]
    assert total["response_ms"]["share"]["percentiles"]["99"] == pytest.approx(9.0, rel=0.01)
    assert total["response_ms"]["share"]["mean"] == pytest.approx(9.0)
    assert "99" in total["response_ms"]["share"]["unclean"]
    assert total["service_ms"]["share"]["percentiles"]["99"] == 0
    assert total["service_ms"]["share"]["unclean"] == []


def test_of_a_valid_run_there_is_a_verdict_too(run, view, valid):
    value = document(view, run, valid)
    assert value["validity"]["valid"] is True
    assert [check["state"] for check in value["validity"]["checks"]] == ["ok"]
    assert value["thresholds"] == []


def test_what_the_closed_model_hid(view, valid, omission):
    value = document(view, None, replace(valid, omission=omission))
    assert value["omission"] == {
        "warning": "\n".join(omission_lines(omission)),
        "rate": 500.0,
        "interval_s": 0.1,
        "recorded_ms": {"90": 1.0, "99": 2.0, "99.9": 900.0},
        "modelled_ms": {"90": 500.0, "99": 950.0, "99.9": 995.0},
        "stalls": 40,
        "missed": 360,
    }


def test_what_became_of_the_arrivals(make_interval, make_health, valid):
    view = RunView(warmup=1)
    for second in range(3):
        health = make_health(second, users=10)
        health.offered, health.dropped, health.exhausted, health.waiting, health.in_flight = 100, 3, 2, 5, 7
        view.add(
            [make_interval([1.0], second=second), make_interval(untimed=3, second=second, outcome="dropped")], [health]
        )
    value = document(view, None, valid)
    assert (value["warmup_s"], value["duration_s"], value["total"]["dropped"]) == (1, 2.0, 6)
    generator = value["generator"]
    assert [generator[name] for name in ("offered", "sent", "dropped", "exhausted")] == [200, 189, 6, 4]
    assert generator["offered_by_second"] == {"1": 100, "2": 100}
    assert generator["waiting_by_second"] == {"1": 5, "2": 5}
    assert generator["in_flight_by_second"] == {"1": 7, "2": 7}


def test_all_that_is_written_fits_the_schema_and_all_that_the_schema_has_is_written(
    run, view, invalid, valid, omission
):
    schema = document_schema(RunFields, "A run")
    for table in (schema, *schema["$defs"].values()):
        table["additionalProperties"] = False
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for each in (document(view, run, replace(invalid, omission=omission)), document(RunView(), None, valid)):
        assert [error.message for error in validator.iter_errors(json.loads(dumps(each)))] == []
    wrong = json.loads(dumps(document(view, run, valid)))
    wrong["total"]["requests"] = "217"
    assert not validator.is_valid(wrong)


def test_every_counter_of_a_record_is_written(view, valid):
    value = document(view, None, valid)
    said_elsewhere = {"count", "untimed", "overflow"}  # requests, outcomes and the times
    assert set(COUNTERS) - said_elsewhere <= value["total"].keys()
    assert set(GENERATOR_COUNTERS) <= value["generator"].keys()


def test_every_field_is_explained_in_the_docs(run, view, invalid, omission):
    def names(value):
        if isinstance(value, list):
            return set().union(*map(names, value))
        if isinstance(value, dict):
            return set(value).union(*map(names, value.values()))
        return set()

    run.facts = RunFacts.from_json({"lost_workers": 0, "clock_step_ms": 0.0, "thresholds": []})
    value = document(view, run, replace(invalid, omission=omission))
    value["run"]["manifest"] = {}
    for keyed_by_data in (*value["endpoints"], value["total"]):
        keyed_by_data["outcomes"] = list(keyed_by_data["outcomes"].values())
    for name in ("users", "in_flight", "waiting", "offered"):
        value["generator"][f"{name}_by_second"] = {}
    runs = runs_document([(run, view)])
    runs["runs"][0]["manifest"] = {}
    fields = {name for name in names(value) | names(runs) if not name[0].isdigit()}
    pages = (FORMATS, *(FORMATS.with_name("reference") / name for name in ("run.md", "record.md")))
    docs = "".join(page.read_text() for page in pages)
    assert {name for name in fields if f"`{name}`" not in docs} == set()
