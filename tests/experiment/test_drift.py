from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.experiment.drift import RunConditions, drift, facts_of
from plimsoll.experiment.spec import Hook, Hooks
from plimsoll.record.cells import CellKey
from plimsoll.record.manifest import Manifest

MANIFEST: dict[str, Any] = {
    "kernel": "Linux 6.1",
    "python": "CPython 3.11.7",
    "versions": {"plimsoll": "0.1.0", "gevent": "26.9"},
    "cpu": {"model": "Fast", "count": 2},
    "processes": 1,
    "seed": 7,
    "git": {"commit": "0123456789abcdef", "dirty": False},
    "scenario": {"files": [{"path": "locustfile.py", "sha256": "aa" * 32}]},
}


def _cell(place: int) -> CellKey:
    return CellKey(variant="ab"[place % 2], repeat=place // 2 + 1)


def runs(*changes: dict[str, Any], **given: Any) -> list[RunConditions]:
    """Runs of a and b in turn, whose manifests have these changes."""
    return [
        RunConditions(_cell(place), Manifest.from_json({**MANIFEST, **each}), **given)
        for place, each in enumerate(changes)
    ]


def with_(name: str, *values: Any) -> list[RunConditions]:
    """Runs of a and b in turn, of whose targets or data this is known."""
    return [
        RunConditions(_cell(place), Manifest.from_json(MANIFEST), **{name: each}) for place, each in enumerate(values)
    ]


def test_nothing_to_say(make_spec):
    assert drift(make_spec(), runs({}, {}, {}, {})) == ()
    assert drift(make_spec(), []) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kernel": "Linux 6.2"}, "kernel (a: Linux 6.1; b: Linux 6.2)"),
        ({"versions": {"plimsoll": "0.1.0", "gevent": "27"}}, "version of gevent (a: 26.9; b: 27)"),
        ({"cpu": {"model": "Slow", "count": 2}}, "processor (a: Fast; b: Slow)"),
        ({"processes": 2}, "number of worker processes (a: 1; b: 2)"),
        (
            {"git": {"commit": "0123456789abcdef", "dirty": True}},
            "commit of the scenario (a: 0123456789ab; b: 0123456789ab with changes)",
        ),
        (
            {"scenario": {"files": [{"path": "locustfile.py", "sha256": "bb" * 32}]}},
            "files of the scenario (a: aaaaaaaaaaaa; b: bbbbbbbbbbbb)",
        ),
    ],
)
def test_what_differs_with_the_variant_is_told_as_such(make_spec, change, said):
    expected = f"variants differ in more than they are said to: {said}"
    assert drift(make_spec(), runs({}, change, {}, change)) == (expected,)


def test_variants_are_named_in_their_order_whichever_ran_first(make_spec):
    (said,) = drift(make_spec("b a"), runs({}, {"kernel": "Linux 6.2"}))
    assert said.endswith("kernel (b: Linux 6.2; a: Linux 6.1)")


def test_what_changed_in_between_is_told_as_such(make_spec):
    later = {"kernel": "Linux 6.2"}
    assert drift(make_spec(), runs({}, {}, later, later)) == (
        "kernel changed while the experiment went on: Linux 6.1 and Linux 6.2",
    )


def test_what_some_runs_do_not_tell_is_no_difference(make_spec):
    assert drift(make_spec(), runs({}, {"kernel": None})) == ()


def test_pairs_that_did_not_draw_alike(make_spec):
    other = {"seed": 8}
    assert drift(make_spec(), runs({}, {}, other, other)) == ()
    assert drift(make_spec(), runs({}, {}, {}, other)) == (
        "the runs of a repeat did not draw from one seed (repeat 2)",
    )


def test_builds(make_spec):
    a, b = make_spec().variants
    spec = make_spec(
        variants=(replace(a, target=replace(a.target, git="v1")), replace(b, target=replace(b.target, git="v2")))
    )
    one, two = {"commit": "1" * 40}, {"commit": "2" * 40}
    assert drift(spec, with_("target", one, two, one, two)) == ()
    assert drift(spec, with_("target", one, two, one, one)) == (
        "the build of b changed while the experiment went on: 111111111111 and 222222222222",
    )
    assert drift(spec, with_("target", one, one)) == ("a (v1) and b (v2) are the same commit 111111111111",)
    assert drift(replace(spec, is_aa=True), with_("target", one, one)) == ()


def test_data_at_the_start(make_spec):
    def rows(*before: object) -> tuple[str, ...]:
        return drift(make_spec(), with_("data", *({"rows": [each, 999]} for each in before)))

    assert rows(100, 104, 100, 104) == ()
    assert rows(100, 120, 100, 120) == (
        "variants did not begin with the same data: rows was 100 before runs of a, 120 before those of b",
    )
    assert rows(0, 0) == rows("many", "few") == rows(True, 5) == rows(None, 5) == ()


def test_commands_that_make_the_data(make_spec):
    a, b = make_spec().variants
    spec = make_spec(variants=(a, replace(b, hooks=Hooks(seed=(Hook("seed", ("fill",)),)))))
    assert drift(spec, []) == ("variants differ in more than they are said to: b has other seed commands than a",)
    collecting = replace(b, hooks=Hooks(collect=(Hook("explain", ("psql",)),)))
    assert drift(make_spec(variants=(a, collecting)), []) == ()


def test_what_is_said_of_a_manifest_without_anything():
    assert facts_of(Manifest()) == {}
