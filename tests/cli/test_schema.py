"""The schemas accept what is accepted, and refuse what is refused."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from plimsoll.cli.schema import SCHEMAS, WRITTEN

ROOT = Path(__file__).parents[2]


def _blocks(page: str) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", (ROOT / "docs" / "guides" / page).read_text(), re.MULTILINE | re.DOTALL)


def _validator(name: str) -> Draft202012Validator:
    schema = SCHEMAS[name]()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", [*WRITTEN, "run"])
def test_it_is_printed_and_every_field_is_described(plimsoll, name):
    result = plimsoll("schema", name)
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    tables = [schema, *schema.get("$defs", {}).values()]
    bare = [
        (table["description"], name)
        for table in tables
        for each in (table, *table.get("anyOf", ()))
        for name, field in each.get("properties", {}).items()
        if not field.get("description") and "$ref" not in field
    ]
    assert bare == []


def test_that_of_an_analysis(plimsoll):
    assert json.loads(plimsoll("schema", "analysis").stdout)["$schema"].endswith("2020-12/schema")


def test_an_unknown_one(plimsoll):
    result = plimsoll("schema", "plans")
    assert result.exit_code == 2
    assert "plan" in result.stderr


def test_the_plans_of_the_guide_fit():
    validator = _validator("plan")
    blocks = [block for block in _blocks("plans.md") if "wrong.toml" not in block]
    assert blocks
    for block in blocks:
        assert [error.message for error in validator.iter_errors(tomllib.loads(block))] == [], block


def test_the_wrong_plan_of_the_guide_does_not():
    (wrong,) = [block for block in _blocks("plans.md") if "wrong.toml" in block]
    found = [error.message for error in _validator("plan").iter_errors(tomllib.loads(wrong))]
    assert any("tiemout" in message for message in found)


EXPERIMENTS = sorted(path for path in ROOT.glob("labs/*/*.toml") if "[[variant]]" in path.read_text())


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_experiments_of_the_labs_fit(path):
    data = tomllib.loads(path.read_text())
    assert [error.message for error in _validator("experiment").iter_errors(data)] == []


def test_the_experiments_of_the_guide_fit():
    (block,) = [block for block in _blocks("experiments.md") if "[[variant]]" in block]
    assert [error.message for error in _validator("experiment").iter_errors(tomllib.loads(block))] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan", 'target = "http://x"\n[request]\nget = "/"\nweigth = 2'),
        ("plan", 'target = 5\n[request]\nget = "/"'),
        ("plan", '[[target]]\nurl = "http://x"\nname = 3'),
        ("plan", '[phase]\nspacing = "even"'),
        ("experiment", '[[variant]]\nname = "a"\nhelthy = "/"'),
        ("experiment", 'repeats = 0\n[[variant]]\nname = "a"'),
        ("experiment", 'name = "a"'),
        ("limits", "max_users = 0"),
        ("limits", 'max_rates = "5/s"'),
    ],
)
def test_what_is_no_such_file(name, text):
    assert not _validator(name).is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "plan",
            'target = "http://x"\nthink = { exponential = "2s" }\n[request]\nget = "/"\nexpect.status = [200, "3xx"]',
        ),
        ("plan", '[[target]]\nurl = "http://x"\ncert = ["a", "b"]\n[phase]\nsine = "mean=5,amplitude=2,period=1m"'),
        ("plan", '[phase]\nsteps = [["30s", "50/s"], ["30s", 100]]\n[stop]\ntime = 60'),
        ("experiment", '[[variant]]\nname = "a"\nhealthy = "/"\nhooks.seed = ["a", "b"]\n[levels]\nrates = "5/s"'),
        ("experiment", '[variant]\nname = "a"\n[hooks]\nprepare = [{ command = ["x"], within = "5s" }]'),
        ("limits", 'allow_hosts = ["a"]\nmax_rate = "5/s"\nmax_run_time = "1h"'),
    ],
)
def test_short_forms(name, text):
    assert [error.message for error in _validator(name).iter_errors(tomllib.loads(text))] == []
