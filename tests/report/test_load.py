from __future__ import annotations

import json

import pytest

from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.record.manifest import Manifest
from plimsoll.report.load import load_at_length, load_in_short, run_title


def manifest_of(model, *phases):
    """As it comes out of a store."""
    return Manifest.from_json(
        json.loads(json.dumps({"users": 1, "model": model, "load": Load(model, phases).to_dict()}))
    )


def test_without_a_load_users_are_all_that_is_known():
    assert load_in_short(Manifest.from_json({"users": 50})) == "50 users"
    assert load_in_short(Manifest.from_json({"users": 0, "load": None})) == "0 users"
    assert load_in_short(Manifest.from_json({})) == ""
    assert (
        load_at_length(Manifest.from_json({}), 0)
        == load_at_length(Manifest.from_json({"users": 50, "load": None}), 0)
        == []
    )


@pytest.mark.parametrize(
    ("http2", "shared", "expected"),
    [
        (False, 1, "50 users"),
        (True, 1, "50 users, HTTP/2"),
        (True, 10, "50 users, HTTP/2 with 10 users per connection"),
        (True, None, "50 users, HTTP/2 with shared connections"),
    ],
)
def test_the_protocol_stands_beside_the_load(http2, shared, expected):
    assert load_in_short(Manifest.from_json({"users": 50, "http2": http2, "users_per_connection": shared})) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (ShapeSpec.of("constant", level=900.0), "900/s"),
        (ShapeSpec.of("constant", level=0.5, seconds=10.0), "0.5/s"),
        (ShapeSpec.of("constant", level=123456789.0), "123456789/s"),
        (ShapeSpec.of("ramp", start=0.0, end=900.0, seconds=60.0), "0/s to 900/s"),
        (ShapeSpec.of("steps", steps=((10.0, 100.0), (10.0, 900.0), (5.0, 50.0))), "3 steps from 100/s to 50/s"),
        (ShapeSpec.of("staircase", start=100.0, step=50.0, each=10.0, count=4), "4 steps from 100/s to 250/s"),
        (ShapeSpec.of("spike", base=10.0, peak=99.0, at=5.0, hold=1.0, seconds=9.0), "10/s with a spike to 99/s"),
        (ShapeSpec.of("sine", mean=50.0, amplitude=25.0, period=90.0), "50/s ± 25/s every 1 min 30 s"),
        (
            ShapeSpec.of("stages", stages=((10.0, 900.0), (10.0, 100.0)), start=5.0),
            "2 stages from 5/s to 100/s, at most 900/s",
        ),
        (ShapeSpec.of("stages", stages=((10.0, 900.0),)), "1 stage from 0/s to 900/s, at most 900/s"),
        (ShapeSpec.of("replay", times=(0.0, 0.5, 2.0)), "3 recorded arrivals"),
    ],
)
def test_every_shape_in_words(spec, expected):
    assert load_in_short(manifest_of("open", Phase("main", spec))) == f"open model, {expected}"


def test_a_shape_that_only_a_later_version_knows_is_named():
    manifest = manifest_of("open", Phase("main", ShapeSpec.of("constant", level=1.0)))
    data = manifest.to_json()
    data["load"]["phases"][0]["shape"] = {"kind": "sawtooth", "values": {"teeth": 3}}
    assert load_in_short(Manifest.from_json(data)) == "open model, sawtooth"


def test_users_over_time():
    steady = Phase("steady", ShapeSpec.of("constant", level=50.0), seconds=60.0)
    more = Phase("more", ShapeSpec.of("ramp", start=50.0, end=80.0, seconds=10.0), start=60.0, seconds=10.0)
    assert load_in_short(manifest_of("closed", steady)) == "50 users"
    assert load_in_short(manifest_of("closed", steady, more)) == "closed model, 2 phases"
    assert load_at_length(manifest_of("closed", steady), 0) == []
    assert load_at_length(manifest_of("closed", steady, more), 0) == [
        "phase steady: 50 users, from 0 s on, for 1 min",
        "phase more: 50 users to 80 users, from 1 min on, for 10 s",
    ]


def test_the_warm_up_is_no_phase_of_the_result_but_is_told_of():
    warm = Phase("warm", ShapeSpec.of("constant", level=10.0), seconds=9.5, warmup=True)
    main = Phase("two\nlines", ShapeSpec.of("constant", level=900.0), start=9.5, poisson=True)
    manifest = manifest_of("open", warm, main)
    assert load_in_short(manifest) == "open model, 900/s"
    assert load_at_length(manifest, 10) == [
        "warm-up: the first 10 s are left out",
        "phase warm: 10/s, from 0 s on, for 9.5 s, warm-up",
        "phase two lines: 900/s, from 9.5 s on, until the end, random arrivals (Poisson)",
    ]


def test_what_a_reset_leaves_out_is_no_warm_up():
    assert load_at_length(Manifest(warmup=9.5), 10) == ["warm-up: the first 10 s are left out"]
    assert load_at_length(Manifest(warmup=9.5), 25) == ["reset by hand: the first 25 s are left out"]
    assert load_at_length(Manifest(warmup=0.0), 3) == ["reset by hand: the first 3 s are left out"]


def test_a_run_that_only_warms_up():
    warm = Phase("warm", ShapeSpec.of("constant", level=10.0), seconds=9.0, warmup=True)
    assert load_in_short(manifest_of("open", warm)) == "open model, 0 phases"


def test_a_host_that_the_name_has_is_not_repeated():
    assert run_title("mix.py", "20 users", "http://a:8000") == "mix.py · 20 users · http://a:8000"
    assert run_title("http://a:8000/x", "20 users", "http://a:8000/") == "http://a:8000/x · 20 users"
    assert run_title("ws://a:8000/x", "20 users", "http://a:8000") == "ws://a:8000/x · 20 users"
    assert run_title("mix.py", "", "") == "mix.py"
