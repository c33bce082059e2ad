from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib import resources

import jsonschema
import pytest
from tests.report.studies import SAMPLES, chain, imported, ladder, rates

from plimsoll.report.render.analysis_json import SCHEMA, VERSION, analysis_json, document
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import GeneratorHealth


@pytest.fixture(scope="module")
def schema():
    return json.loads(resources.files("plimsoll.report.render").joinpath("analysis.schema.json").read_text())


def undescribed(value, schema, root, path="$"):
    """Fields of a value that its schema does not name."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    for option in schema.get("anyOf", ()):
        fits = jsonschema.Draft202012Validator({**option, "$defs": root["$defs"]}).is_valid(value)
        if fits:
            schema = option
            if "$ref" in schema:
                schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            break
    if isinstance(value, dict):
        for key, each in value.items():
            known = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            if known is None:
                yield f"{path}.{key}"
            else:
                yield from undescribed(each, known, root, f"{path}.{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from undescribed(each, schema["items"], root, f"{path}[{number}]")


@pytest.mark.parametrize("name", SAMPLES)
def test_the_schema_describes_the_document_to_the_last_field(schema, name):
    jsonschema.Draft202012Validator.check_schema(schema)
    found = document(SAMPLES[name](), "plimsoll report x")
    jsonschema.Draft202012Validator(schema).validate(found)
    assert list(undescribed(found, schema, schema)) == []


def test_the_schema_is_of_this_version(schema):
    assert schema["properties"]["schema"] == {"const": SCHEMA}
    assert schema["properties"]["version"] == {"const": VERSION}


def test_a_field_that_is_missing_or_wrong_is_refused(schema):
    found = document(ladder())
    validator = jsonschema.Draft202012Validator(schema)
    assert not validator.is_valid({**found, "comparisons": [{**found["comparisons"][0], "word": "same"}]})
    assert not validator.is_valid({key: value for key, value in found.items() if key != "cells"})


def test_what_is_no_finite_number_is_null():
    trial = replace(
        ladder().study.trials[0],
        generator=GeneratorHealth(lag_p99=math.nan, cpu_max=math.inf),
        facts={"rows": -math.inf},
    )
    source = StudySource(Analysis(replace(ladder().study, trials=(trial,)), (), ()))
    text = analysis_json(source, OutputRequest())
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found["trials"][0]["generator"]["lag_p99_ms"] is None
    assert found["trials"][0]["facts"] == {"rows": None}


def test_a_comparison():
    found = document(ladder())["comparisons"]
    each = next(each for each in found if each["metric"]["text"] == "p99" and each["level"]["value"] == 162)
    assert (each["a"], each["b"], each["method"], each["name"], each["primary"]) == (
        "old", "new", "GET", "/threads/{id}", True,
    )  # fmt: skip
    assert each["verdict"] == "NOT DISTINGUISHABLE"
    assert each["needed"] == {"pairs": 3, "minutes": 36.0, "powered_pairs": 8, "longer_runs": False}
    assert each["low"] < each["ratio"] < each["high"]


def test_what_was_judged():
    found = document(ladder())
    assert (found["regressions"], found["invalid"]) == (18, False), "three metrics, endpoints and two levels"
    assert sum(each["regression"] for each in found["comparisons"]) == 18
    assert document(rates())["invalid"] is True


def test_cells_are_the_runs_taken_together():
    cell = document(ladder())["cells"][0]
    runs = [each for each in document(ladder())["trials"] if each["id"] in cell["trials"]]
    assert len(runs) == 5
    assert cell["total"]["requests"] == sum(each["total"]["requests"] for each in runs)
    p99 = [each["total"]["percentiles_ms"]["99"] for each in runs]
    assert cell["total"]["percentiles_ms"]["99"] == pytest.approx(math.prod(p99) ** 0.2)


def test_invalid_runs_keep_their_numbers_and_their_reasons():
    broken = [each for each in document(rates())["trials"] if each["invalid"]]
    assert broken
    assert all(each["total"]["requests"] for each in broken)
    cell = next(each for each in document(rates())["cells"] if each["invalid"])
    assert cell["valid"] == 0
    assert cell["total"]["requests"]
    assert cell["endpoints"]


def test_what_was_changed_and_collected_is_with_the_variant():
    variants = document(chain())["study"]["variants"]
    assert variants[2]["changes"] == "async handlers"
    assert variants[3]["collected"]["explain"].startswith("Limit (cost=0.29")


def test_a_table_of_somebody_else_has_what_it_told():
    measured = document(imported())["trials"][0]["endpoints"][0]
    assert (measured["mean_ms"], measured["percentiles_ms"]["99"], measured["percentiles_ms"]["90"]) == (
        None, 200.0, None,
    )  # fmt: skip
