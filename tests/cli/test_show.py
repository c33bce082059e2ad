from __future__ import annotations

import json
import re

import pytest
from jsonschema import Draft202012Validator


def test_the_tables_of_a_run(plimsoll, stored_run_ids):
    result = plimsoll("show", stored_run_ids[0])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "locustfile.py · 5 users · http://ann:***@127.0.0.1"
    assert lines[2].startswith(f"run {stored_run_ids[0]}, finished, 20")
    assert "note: a note" in lines
    assert any(re.fullmatch(r"GET +/ +100 % +20 +2 +0 +9\.50 +5\.00 +10\.0 +100 +10\.0 +1\.00", line) for line in lines)
    assert any(line.split() == ["2", "http", "GET", "/", "500", "Server", "Error"] for line in lines)
    assert "- generator: 1 worker, lag p99 –, delay p99 0.003 ms, CPU max 0%, stamps: kernel" in lines
    assert lines[-1].startswith("20 requests · 10.0/s · 2 failed (10 %)")


@pytest.mark.parametrize("ref", [[], ["last"]])
def test_the_last_run_is_the_default(plimsoll, stored_run_ids, ref):
    assert f"\nrun {stored_run_ids[1]}, " in plimsoll("show", *ref).output


def test_a_run_by_the_beginning_of_its_id(plimsoll, stored_run_ids):
    assert f"\nrun {stored_run_ids[0]}, finished, " in plimsoll("show", "20261120-1200").output


def test_json(plimsoll, stored_run_ids):
    value = json.loads(plimsoll("show", stored_run_ids[0], "--json").stdout)
    assert (value["schema"], value["run"]["id"], value["total"]["requests"]) == ("plimsoll.run", stored_run_ids[0], 20)
    schema = json.loads(plimsoll("schema", "run").stdout)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(value)] == []


def test_the_place_by_option_and_by_environment(plimsoll, stored_run_ids, tmp_path, monkeypatch):
    elsewhere = tmp_path / "plimsoll.db"
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    assert plimsoll("show").exit_code == 2
    assert plimsoll("show", "--store", str(elsewhere)).exit_code == 0
    monkeypatch.setenv("PLIMSOLL_STORE", str(elsewhere))
    assert plimsoll("show").exit_code == 0
    assert "no store at" in plimsoll("show", "--store", "other.db").stderr


def test_an_unknown_run(plimsoll, stored_run_ids):
    result = plimsoll("show", "2020")
    assert result.exit_code == 2
    assert "has no run '2020'; `plimsoll runs` lists them" in result.stderr
