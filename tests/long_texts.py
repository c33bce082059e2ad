"""Texts as long as a hostile target makes them, and how many steps something takes with them.

Steps are calls of functions, those of C among them, and resumptions of generators. What does something for each
character, or for each pair of them, shows in their number. What is slow within one call of C, a search by a regular
expression say, takes hours for a text of this length and runs into the timeout of the test.
"""

from __future__ import annotations

import cProfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = 1_000_000
"""Characters."""
ALPHABETS = {
    "letters": "a", "digits": "1", "blanks": " ", "marks": "a.", "emoji": "😀", "CJK": "漢", "combining": "e\u0301",
    "ESC": "\x1b[31m",
}  # fmt: skip


def long_text(alphabet: str, length: int = LENGTH) -> str:
    unit = ALPHABETS[alphabet]
    return (unit * (length // len(unit) + 1))[:length]


def mixed_text() -> str:
    """As long, with each alphabet in turn."""
    return "".join(long_text(each, LENGTH // len(ALPHABETS)) for each in ALPHABETS)


def count_steps(work: Callable[[], object]) -> int:
    profile = cProfile.Profile()
    profile.enable()
    try:
        work()
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())
