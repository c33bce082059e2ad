"""Differences that are meant: a table of what differs and why. Whatever is not in it must be equal."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .facts import as_text

FILE = Path(__file__).with_name("differences.toml")

ABSENT = "(nothing)"
"""Stands for the value of a fact that one of the tools has not."""


@dataclass(frozen=True)
class Found:
    """A fact that is not equal."""

    run: str
    fact: str
    locust: Any
    plimsoll: Any


@dataclass(frozen=True)
class Listed:
    """One entry of the table. It must occur in every run of the harness in which one of its runs is carried out."""

    run: str
    """Of the run's name: `*` stands for anything."""
    fact: str
    """Of the fact's name: the same."""
    reason: str
    locust: str
    """What Locust's value contains, written as JSON; "" when it may be anything."""
    plimsoll: str

    def explains(self, found: Found) -> bool:
        return (
            fnmatchcase(found.run, _literal(self.run))
            and fnmatchcase(found.fact, _literal(self.fact))
            and self.locust in as_text(found.locust)
            and self.plimsoll in as_text(found.plimsoll)
        )

    def concerns(self, run: str) -> bool:
        return fnmatchcase(run, _literal(self.run))


def _literal(pattern: str) -> str:
    """With `*` as the only wildcard, for names have brackets and question marks."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def compare(run: str, locust: dict[str, Any], plimsoll: dict[str, Any]) -> list[Found]:
    """What differs, by the fact's name."""
    found = []
    for fact in sorted(locust.keys() | plimsoll.keys()):
        one, other = locust.get(fact, ABSENT), plimsoll.get(fact, ABSENT)
        if one != other:
            found.append(Found(run, fact, one, other))
    return found


def load(path: Path = FILE) -> list[Listed]:
    """Every entry has a reason."""
    entries = tomllib.loads(path.read_text()).get("difference", [])
    return [
        Listed(each["run"], each["fact"], each["reason"], each.get("locust", ""), each.get("plimsoll", ""))
        for each in entries
    ]
