from __future__ import annotations

import pytest

from plimsoll.record.manifest import Manifest
from plimsoll.stats.kinds import kind_of, level_of_run
from plimsoll.stats.study import Level

MANIFEST = {
    "scenario": {"name": "nightly", "files": [{"path": "/a/locustfile.py", "sha256": "1"}]},
    "model": "closed",
    "host": "http://127.0.0.1:8000",
    "users": 50,
    "spawn_rate": 5.0,
    "run_time": 60.0,
    "warmup": 0.0,
    "processes": 1,
    "load": None,
    "plan": {"arguments": ["--region", "eu"], "tags": ["a", "b"], "exclude_tags": ["c"]},
    "seed": 1,
}


def changed(**changes):
    return kind_of(Manifest.from_json({**MANIFEST, **changes})).key


@pytest.mark.parametrize(
    "same",
    [
        {"seed": 2},
        {"started": 5.0},
        {"git": {"commit": "c0ffee"}},
        {"scenario": {"name": "another", "files": [{"path": "/b/locustfile.py", "sha256": "2"}]}},
        {"times_of": "all"},
    ],
)
def test_what_may_differ_within_a_kind(same):
    assert changed(**same) == changed()


@pytest.mark.parametrize(
    "other",
    [
        {"scenario": {"files": [{"path": "/a/other.py"}]}},
        {"model": "open"},
        {"users_kind": "native"},
        {"host": "http://127.0.0.1:8001"},
        {"users": 51},
        {"shaped": True},
        {"spawn_rate": 6.0},
        {"run_time": None},
        {"warmup": 10.0},
        {"processes": 2},
        {"max_users": 10},
        {"times_of": "successes"},
        {"load": {"model": "open", "phases": []}},
        {"plan": {**MANIFEST["plan"], "arguments": []}},
        {"plan": {**MANIFEST["plan"], "tags": []}},
        {"plan": {**MANIFEST["plan"], "equal_weights": True}},
    ],
)
def test_what_makes_another_kind(other):
    assert changed(**other) != changed()


def test_what_was_run():
    assert kind_of(Manifest.from_json(MANIFEST)).source == "locustfile.py"
    assert kind_of(Manifest.from_json({"plan": {"source": "http://127.0.0.1/x"}})).source == "http://127.0.0.1/x"
    assert kind_of(Manifest.from_json({})).source == ""


def phase(name, kind="constant", warmup=False, **values):
    return {"name": name, "shape": {"kind": kind, "values": values}, "warmup": warmup}


@pytest.mark.parametrize(
    ("manifest", "level"),
    [
        ({"users": 5}, Level("users", 5.0)),
        ({"users": 5, "shaped": True}, None),
        ({}, None),
        ({"load": {"model": "open", "phases": [phase("rate", level=300.0)]}}, Level("/s", 300.0)),
        (
            {"load": {"model": "closed", "phases": [
                phase("warm-up", "stages", True), phase("start", "stages"), phase("users", level=50.0),
            ]}},
            Level("users", 50.0),
        ),
        ({"load": {"model": "open", "phases": [phase("a", level=1.0), phase("b", level=2.0)]}}, None),
        ({"load": {"model": "open", "phases": [phase("up", "ramp", start=1.0, end=2.0)]}}, None),
    ],
)  # fmt: skip
def test_the_level_of_a_run(manifest, level):
    assert level_of_run(Manifest.from_json(manifest)) == level
