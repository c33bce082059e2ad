"""JSON on the hot path: the same as that of the standard library, for what is common and for what is not."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest

from plimsoll._engine import json_text
from plimsoll.users.http import plain as texts


class Level(IntEnum):
    LOW = 1


class Name(str):
    __slots__ = ()


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


COMMON: list[Any] = [
    {"customer": 7, "items": [{"sku": "A-1042", "quantity": 2}, {"sku": "B", "quantity": -1}]},
    {}, [], (), "", [[]], [{}], {"a": {}}, {"": []}, (1, "two"), None, True, False, [True, None, False],
    0, -1, 2**63 - 1, -(2**63), 0.0, -0.0, 1.0, 0.1, 1e16, 1e-7, 1.5e300, 123456789.123456789,
    'quote " and \\ and /', "\n\r\t\b\f", "\x00\x1f\x7f", "äöü€", "\u2028\ud7ff\ue000\uffff",
    "😀\U0010ffff", {"ключ\n": "значение"},
]  # fmt: skip

UNCOMMON: list[Any] = [
    2**63, -(2**63) - 1, {1: 2}, {None: 1, True: 2, 1.5: 3}, Level.LOW, [Level.LOW], Name("x"), OrderedDict(a=1),
    "\ud800", {"\udfff": 1},
    _nested(40),
]  # fmt: skip


@pytest.mark.parametrize("value", COMMON, ids=repr)
def test_a_plain_value_is_written_as_by_json_dumps(value):
    assert json_text(value) == texts.dump(value) == texts.dump_strictly(value) == json.dumps(value)


def test_texts_of_each_length_are_written_as_by_json_dumps(any_place: list[str]) -> None:
    for text in any_place:
        assert json_text(text) == json.dumps(text)
        assert json_text({text: [text]}) == json.dumps({text: [text]})


@pytest.mark.parametrize("value", UNCOMMON, ids=repr)
def test_any_other_value_is_left_to_json(value):
    assert json_text(value) is None
    assert texts.dump(value) == texts.dump_strictly(value) == json.dumps(value)


def test_nan_and_infinity_are_written_only_where_json_writes_them():
    for value in (math.nan, math.inf, [-math.inf]):
        assert json_text(value) is None
        assert texts.dump(value) == json.dumps(value)
        with pytest.raises(ValueError, match="not JSON compliant"):
            texts.dump_strictly(value)


def test_errors_are_those_of_json():
    circle: list[Any] = []
    circle.append(circle)
    for dump in (texts.dump, texts.dump_strictly):
        with pytest.raises(ValueError, match="Circular reference"):
            dump(circle)
        with pytest.raises(TypeError, match="Object of type set is not JSON serializable"):
            dump({"a": set()})


def test_a_function_that_a_script_puts_into_json_is_called(monkeypatch):
    monkeypatch.setattr(json, "dumps", lambda value: f"written {value}")
    assert texts.dump(1) == "written 1"
