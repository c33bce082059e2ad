from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from plimsoll.record.codec import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner(JsonObject):
    name: str = ""
    size: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer(JsonObject):
    count: int = 0
    kind: Literal["a", "b"] = "a"
    is_open: bool = False
    inner: Inner = Inner()
    maybe: Inner | None = None
    several: tuple[Inner, ...] = ()
    pair: tuple[int, str] | None = None
    sizes: dict[str, float] | None = None
    rest: Any = None


def test_a_value_is_written_as_its_fields_in_their_order_and_read_again() -> None:
    value = Outer(count=2, kind="b", several=(Inner(name="x", size=1.5),), pair=(1, "one"), sizes={"y": 2.0})
    plain = value.to_json()
    assert list(plain) == ["count", "kind", "is_open", "inner", "maybe", "several", "pair", "sizes", "rest"]
    assert (plain["several"], plain["pair"], plain["maybe"]) == ([{"name": "x", "size": 1.5}], [1, "one"], None)
    assert Outer.from_json(plain) == value


def test_missing_keys_and_null_have_the_default() -> None:
    assert Outer.from_json({}) == Outer.from_json({"count": None, "inner": None, "maybe": None}) == Outer()


def test_keys_that_another_version_wrote_are_kept() -> None:
    plain = {"later": [1], "inner": {"shape": "round", "name": "x"}, "count": 1}
    value = Outer.from_json(plain)
    assert (value.inner.name, value.count) == ("x", 1)
    assert value.to_json() == plain
    assert list(value.to_json()) == list(plain)


def test_a_changed_copy_is_written_as_its_fields() -> None:
    changed = replace(Outer.from_json({"count": 1}), count=2)
    assert changed.to_json()["count"] == 2


def test_a_changed_copy_keeps_the_keys_that_another_version_wrote() -> None:
    value = Outer.from_json({"later": [1], "inner": {"shape": "round", "name": "x"}, "count": 1})
    plain = replace(value, count=2).to_json()
    assert (plain["later"], plain["inner"], plain["count"]) == ([1], {"shape": "round", "name": "x"}, 2)
    assert replace(value, inner=replace(value.inner, name="y")).to_json()["inner"] == {
        "name": "y", "size": None, "shape": "round"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ([], "Outer is no object: []"),
        ({"count": "1"}, "Outer.count is no whole number: '1'"),
        ({"count": True}, "Outer.count is no whole number: True"),
        ({"kind": "c"}, "Outer.kind is no 'a' or 'b': 'c'"),
        ({"is_open": 1}, "Outer.is_open is no true or false: 1"),
        ({"inner": "x"}, "Outer.inner is no object: 'x'"),
        ({"inner": {"name": 5}}, "Outer.inner.name is no text: 5"),
        ({"inner": {"size": float("inf")}}, "Outer.inner.size is no number: inf"),
        ({"several": {}}, "Outer.several is no list: {}"),
        ({"several": [{"name": []}]}, "Outer.several.name is no text: []"),
        ({"pair": [1]}, "Outer.pair is no list of 2: [1]"),
        ({"sizes": {"y": "x" * 100}}, f"Outer.sizes is no number: '{'x' * 39}…"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_its_key(plain: Any, expected: str) -> None:
    with pytest.raises(ValueError, match="is no ") as caught:
        Outer.from_json(plain)
    assert str(caught.value) == expected
