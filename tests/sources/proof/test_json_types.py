"""Replies in JSON have the types of the recording, at each path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.sources.proof.recordings import har
from tests.sources.recording_target import Answer, target

from plimsoll.sources.making import make_draft
from plimsoll.sources.proof.json_types import DEEPEST_TYPE, MOST_PATHS, shown_path, type_checks
from plimsoll.sources.proof.passes import one_pass

ITEMS = {"items": [{"price": 1.5, "tags": ["a"], "of": {"name": "x", "on": True}}, {"price": 2}]}


@pytest.mark.parametrize(
    ("recorded", "now", "why"),
    [
        (ITEMS, {"items": [{"price": "1.50"}]}, "$.items[].price was a number, is now a string"),
        (ITEMS, {"items": [{"price": 3}, {"of": {"on": 1}}]}, "$.items[].of.on was a boolean, is now a number"),
        (ITEMS, {"items": [{"price": 3, "tags": [{"a": 1}]}]}, "$.items[].tags[] was a string, is now an object"),
        (ITEMS, {"items": [{"of": ["x"]}]}, "$.items[].of was an object, is now a list"),
        (ITEMS, {"items": {"a": 1}}, "$.items was a list, is now an object"),
        (ITEMS, {"items": [{"price": None}, {"tags": []}, {"of": {}}, {"more": 1}]}, ""),
        (ITEMS, {"items": [], "more": {"a": 1}}, ""),
        ({"a": None, "b": 1, "c": {"odd key'\"": "x"}}, {"a": "x", "b": 2, "c": {"odd key'\"": "y"}}, ""),
        (
            {"a": 1, "c": {"odd key'\"": "x"}}, {"a": 2, "c": {"odd key'\"": False}},
            '$.c["odd key\'\\""] was a string, is now a boolean',
        ),
        ([{"id": 1}, {"id": "b"}], [{"id": True}], "$[].id was a number or a string, is now a boolean"),
        ([[1, 2], [3]], [[1], ["2"]], "$[][] was a number, is now a string"),
        ([1], [], "$ was a list with elements, is now empty"),
        ([], [1], ""),
    ],
)  # fmt: skip
def test_types_are_compared_at_each_path(tmp_path, recorded: Any, now: Any, why: str) -> None:
    with target(lambda _: Answer(200, json.dumps(now))) as service:
        (tmp_path / "x.har").write_text(har(service.url, ("GET", "/", "", 200, json.dumps(recorded))))
        (proof,) = one_pass(make_draft([str(tmp_path / "x.har")]))
    assert (proof.state, proof.why) == ("differs" if why else "proven", why)


def test_what_two_recordings_have_is_right() -> None:
    checks = type_checks({"a": [{"b": 1}]}, {"a": [{"b": "x"}]})
    assert {check.other for check in checks if shown_path(check.path) == "$.a[].b"} == {"boolean", "list", "object"}
    assert type_checks([1], []) == []


def test_checks_are_bounded() -> None:
    wide = {f"k{number}": number for number in range(10_000)}
    assert len({check.path for check in type_checks(wide, wide)}) == MOST_PATHS
    deep: Any = 1
    for _ in range(500):
        deep = {"a": deep}
    assert max(len(check.path) for check in type_checks(deep, deep)) == DEEPEST_TYPE
    long = {"a": [{"b": number} for number in range(100_000)]}
    assert {shown_path(check.path) for check in type_checks(long, long)} == {"$.a", "$.a[]", "$.a[].b"}
