from __future__ import annotations

import json

import pytest

from plimsoll.errors import FieldError
from plimsoll.server.control.class_settings import check, configured, texts, with_more
from plimsoll.server.control.description import OwnClass, TaskNode

BUYER = OwnClass("Buyer", 1.0, 0, "http://a", tuple(TaskNode(name, 0.25, (), (), False) for name in "wxyz"))
VISITOR = OwnClass("Visitor", 3.0, 0, "", (TaskNode("look", 1.0, (), (), False),))
CLASSES = (BUYER, VISITOR)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"Nobody": {}}, "no user class Nobody"),
        ({"Buyer": {"weight": -1}}, "weight of Buyer must be a number, 0 or more"),
        ({"Buyer": {"weight": True}}, "weight of Buyer must be a number"),
        ({"Buyer": {"weight": float("nan")}}, "weight of Buyer must be a number"),
        ({"Buyer": {"weight": "3"}}, "weight of Buyer must be a number"),
        ({"Buyer": {"fixed_count": 1.5}}, "fixed_count of Buyer must be a whole number"),
        ({"Buyer": {"host": 3}}, "host of Buyer must be a text"),
        ({"Buyer": {"tasks": []}}, "tasks of Buyer must be a list of some of w, x, y, z"),
        ({"Buyer": {"tasks": ["w", "look"]}}, "must be a list of some of"),
        ({"Buyer": {"tasks": [["w"]]}}, "must be a list of some of"),
        ({"Buyer": {"tasks": "w"}}, "must be a list of some of"),
        ({"Buyer": {"a b": 1}}, "a b of Buyer is no attribute"),
    ],
)
def test_what_a_class_cannot_have_is_told(settings, said):
    with pytest.raises(FieldError, match=said) as caught:
        check(settings, CLASSES)
    ((name, chosen),) = settings.items()
    assert caught.value.field == ".".join(["class_settings", *([name, *chosen] if chosen else [])])


def test_whatever_else_a_class_has_may_be_set():
    check({"Buyer": {"weight": 0, "fixed_count": 2, "host": "", "tasks": ["w"], "patience": {"s": 3}}}, CLASSES)


def test_what_was_chosen_before_stays():
    first = {"Buyer": {"weight": 2, "host": "http://b"}, "Visitor": {"weight": 9}}
    found = with_more(first, "Buyer", {"weight": 3})
    assert found == {"Buyer": {"weight": 3, "host": "http://b"}, "Visitor": {"weight": 9}}
    assert first["Buyer"]["weight"] == 2
    assert with_more({}, "Buyer", {"weight": 3}) == {"Buyer": {"weight": 3}}


def test_classes_are_as_a_run_will_have_them():
    buyer, visitor = configured(CLASSES, {"Buyer": {"fixed_count": 2, "tasks": ["w", "z"], "patience": 3}})
    assert visitor == VISITOR
    assert (buyer.weight, buyer.fixed_count, buyer.host) == (1.0, 2, "http://a")
    assert [(each.name, each.share) for each in buyer.tasks] == [("w", 0.5), ("z", 0.5)]


def test_the_command_line_says_the_same():
    (text,) = texts({"Buyer": {"weight": 2}, "Visitor": {}})
    assert json.loads(text) == {"user_class_name": "Buyer", "weight": 2}
