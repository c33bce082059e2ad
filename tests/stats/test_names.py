"""The pattern that names share, and the one name that is proposed for them."""

from __future__ import annotations

import random
import uuid

import pytest

from plimsoll.stats.names import MOST_SAMPLED, name_pattern

RANDOM = random.Random(7)
WORDS = ("alice", "bob", "carol", "dave", "erin", "frank")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _token() -> str:
    return "".join(RANDOM.choices(LETTERS, k=14)) + "".join(RANDOM.choices("0123456789", k=8))


@pytest.mark.parametrize(
    ("names", "text", "name"),
    [
        ([f"/item/{n}" for n in range(50)], "/item/[0-9]+", "/item/[id]"),
        ([f"/item/{n}/parts/{n % 7}" for n in range(50)], "/item/[0-9]+/parts/[0-9]+", "/item/[id]/parts/[id]"),
        ([f"Add item {n}" for n in range(50)], "Add item [0-9]+", "Add item [id]"),
        ([f"/item-{n}.html" for n in range(50)], "/item-[0-9]+.html", "/item-[id].html"),
        ([f"/o/{uuid.UUID(int=RANDOM.getrandbits(128))}" for _ in range(50)], "/o/[0-9a-f-]+", "/o/[id]"),
        ([f"/o/a{RANDOM.getrandbits(60):015x}1" for _ in range(50)], "/o/[0-9a-f]+", "/o/[id]"),
        ([f"/t/{_token()}/x" for _ in range(50)], "/t/[A-Za-z0-9_-]+/x", "/t/[id]/x"),
        ([f"/day/2024-01-{n:02}" for n in range(1, 29)], "/day/[0-9]{4}-[0-9]{2}-[0-9]{2}", "/day/[date]"),
        ([f"/user/{word}/home" for word in WORDS], "/user/[^/]+/home", "/user/[name]/home"),
        ([f"/find?q={word}&page={n}" for word in WORDS for n in (1, 2)],
         "/find?q=[^/]+&page=[0-9]+", "/find?q=[name]&page=[id]"),
    ],
)  # fmt: skip
def test_what_differs_becomes_a_class_of_characters(names: list[str], text: str, name: str) -> None:
    found = name_pattern(names)
    assert found is not None
    assert (found.text, found.name, found.share) == (text, name, 1.0)


def test_a_number_that_is_the_same_in_all_names_stays() -> None:
    found = name_pattern(f"/api/v2/item/{n}" for n in range(50))
    assert found is not None
    assert (found.text, found.name) == ("/api/v2/item/[0-9]+", "/api/v2/item/[id]")


def test_the_largest_group_counts_and_parts_of_an_api_are_no_words() -> None:
    names = [*(f"/a/{n}" for n in range(30)), *(f"/b/{n}" for n in range(40)), *(f"/c/{n}/x" for n in range(30))]
    found = name_pattern(names)
    assert found is not None
    assert (found.text, found.share) == ("/b/[0-9]+", 0.4)


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["/"],
        ["/"] * 10,
        ["/a/1", "/a/2"],
        ["x" * 3000 + str(n) for n in range(50)],
        [f"{chr(97 + n)}{'/x' * n}" for n in range(20)],
    ],
)
def test_few_or_unlike_names_have_no_pattern(names: list[str]) -> None:
    assert name_pattern(names) is None


def test_the_number_of_names_that_are_looked_at_is_bounded() -> None:
    def endless():  # type: ignore[no-untyped-def]
        number = 0
        while number < 10 * MOST_SAMPLED:
            number += 1
            yield f"/item/{number}"
        raise AssertionError("it does not stop")

    assert name_pattern(endless()) is not None
