from __future__ import annotations

import csv
import io

import pytest
from tests.report.studies import SAMPLES, ladder, operations, rates

from plimsoll.errors import UsageError
from plimsoll.report.render.analysis_csv import TABLES, table


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_per_run_and_endpoint():
    found = rows(table(ladder()))
    assert len(found) == 4 * 5 * 2 * 3
    first = found[0]
    assert (first["variant"], first["level"], first["level_unit"], first["repeat"]) == ("new", "48", "users", "0")
    assert [each["name"] for each in found[:3]] == ["/threads/{id}", "/comments/", "Aggregated"]
    assert float(first["p50_ms"]) < float(first["p99_ms"]) <= float(first["max_ms"])
    assert (first["tool"], first["clock"], first["times_of"]) == ("plimsoll", "due", "all")


def test_the_numbers_of_an_invalid_run_stand_beside_its_reasons():
    found = [row for row in rows(table(rates())) if row["invalid"]]
    assert len(found) == 4
    assert all(float(row["p99_ms"]) > 0 for row in found)
    assert found[0]["invalid"].startswith("63 % of the offered arrivals")
    assert found[0]["variant"] == "koding"


def test_a_row_per_comparison():
    found = rows(table(ladder(), "comparisons"))
    assert len(found) == 36
    row = next(each for each in found if each["primary"] == "true" and each["level"] == "336")
    assert (row["metric"], row["unit"], row["word"], row["better"]) == ("p99", "ms", "different", "false")
    assert float(row["low"]) > 1.05


def test_a_row_per_finding():
    found = rows(table(operations(), "findings"))
    assert [(row["id"], row["operation"]) for row in found] == [("ERR", "delete"), ("SERIAL", "upload")]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("what", TABLES)
def test_nothing_is_shown_as_no_number(name, what):
    text = table(SAMPLES[name](), what)
    lines = list(csv.reader(io.StringIO(text)))
    assert {len(line) for line in lines} == {len(lines[0])}
    assert not {"nan", "inf", "None"} & {cell for line in lines for cell in line}


def test_an_unknown_table():
    with pytest.raises(UsageError, match="there is no table 'runs': trials, comparisons, findings"):
        table(ladder(), "runs")
