"""Tables in a text, with the load that the text states above them: which belong together, and what they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.importers.cells import MS, TableCell
from plimsoll.importers.tables.columns import LABELS, MappedColumn, column
from plimsoll.stats.study import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SUMS = frozenset({"aggregated", "total", "all", "overall", "sum", "totals"})
"""Names of the row for all endpoints together."""
LONGEST_STATEMENT = 120
"""Characters of a line that states a load."""
_ASSIGNMENT = re.compile(r"\s*(?P<title>[^=|]+?)\s*=\s*(?P<value>\d+(?:\.\d+)?)(?=\s|$)")
_ASSIGNMENTS = re.compile(r"(?:\s*[^=|\d][^=|]*=\s*\d+(?:\.\d+)?(?=\s|$))+\s*")
_BRACKETS = re.compile(
    r"\((?P<users>\d+) (?P<unit>[A-Za-z ]+?)(?:, (?P<time>\d+) ?(?P<per>s|sec|seconds|min|minutes))?\)", re.IGNORECASE
)
SHOWN = 120
"""Maximum characters of a line quoted in a reason."""


@dataclass(frozen=True, slots=True)
class StatedLoad:
    """What the text above a table says of the load of its runs."""

    level: Level | None = None
    rate: float | None = None
    """Requests per second of all rows together."""
    seconds: float | None = None

    @classmethod
    def of(cls, line: str) -> StatedLoad | None:
        """From "No. of clients = 48", "req/s = 9.4", or from brackets: "(10 VUS, 180 seconds)". None for a line that
        says nothing of it, or more than that."""
        if len(line) > LONGEST_STATEMENT:
            return None
        if found := _BRACKETS.search(line):
            kind = column(found["unit"])
            seconds = float(found["time"]) * MS[found["per"].lower()] / 1000 if found["time"] else None
            is_users = kind is not None and kind.kind == "users"
            return cls(Level("users", float(found["users"])), None, seconds) if is_users else None
        if not _ASSIGNMENTS.fullmatch(line):
            return None
        values = {}
        for found in _ASSIGNMENT.finditer(line):
            kind = column(found["title"])
            if kind is None or kind.kind not in ("users", "offered", "rate") or kind.kind in values:
                return None
            values[kind.kind] = float(found["value"])
        users, offered = values.get("users"), values.get("offered")
        level = Level("users", users) if users else Level("/s", offered) if offered else None
        return cls(level, values.get("rate"))

    def then(self, other: StatedLoad) -> StatedLoad:
        """What both say; the other one, if it names a load anew."""
        return other if other.level is not None else replace(self, rate=other.rate)


@dataclass(slots=True)
class TextTable:
    """A table of a file, cell by cell."""

    line: int
    """Of its header."""
    heading: str
    titles: list[str]
    columns: list[MappedColumn | None]
    rows: list[tuple[int, list[TableCell]]] = field(default_factory=list)
    stated: StatedLoad = StatedLoad()
    """By the text above it."""

    @property
    def kinds(self) -> set[str]:
        return {mapped.kind for mapped in self.columns if mapped}

    @property
    def has_arms(self) -> bool:
        """Whether the same measures occur several times."""
        return any(mapped and mapped.place for mapped in self.columns)

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The names of its rows."""
        places = [index for index, mapped in enumerate(self.columns) if mapped and mapped.kind in LABELS]
        return [tuple(cells[index].name for index in places) for _, cells in self.rows]

    @property
    def measures(self) -> list[int]:
        """The indexes of its other columns."""
        return [index for index, mapped in enumerate(self.columns) if mapped is None or mapped.kind not in LABELS]

    def cells(self, index: int) -> list[TableCell]:
        return [cells[index] for _, cells in self.rows]

    def is_continued_by(self, other: TextTable) -> bool:
        """Whether the other one has more measures of the same rows, as the second of Locust's two tables."""
        measured = [{table.columns[index] for index in table.measures} for table in (self, other)]
        names = self.labels
        return (
            "name" in self.kinds & other.kinds
            and bool(names)
            and names == other.labels
            and not measured[0] & measured[1]
            and other.stated in (StatedLoad(), self.stated)
        )

    def add(self, other: TextTable) -> None:
        """The measures of a table that continues it."""
        places = other.measures
        self.titles += [other.titles[index] for index in places]
        self.columns += [other.columns[index] for index in places]
        for (_, cells), (_, more) in zip(self.rows, other.rows, strict=True):
            cells += [more[index] for index in places]


def joined(tables: Iterable[TextTable]) -> list[TextTable]:
    """Those that continue the one before are part of it."""
    joined: list[TextTable] = []
    for table in tables:
        if joined and joined[-1].is_continued_by(table):
            joined[-1].add(table)
        else:
            joined.append(table)
    return joined


def _places_at_loads(tables: Sequence[TextTable]) -> list[int]:
    """The place of each table among those of its load, from 1; [] unless the same ones follow one another at each. Some
    may be missing at the end of a load, if no two have the same form."""
    by_load: dict[Level | None, list[TextTable]] = {}
    for table in tables:
        by_load.setdefault(table.stated.level, []).append(table)
    forms = [[tuple(table.titles) for table in at_load] for at_load in by_load.values()]
    longest = max(forms, key=len)
    is_complete = all(form == longest for form in forms)
    is_begun = len(set(longest)) == len(longest) and all(form == longest[: len(form)] for form in forms)
    if len(by_load) < 2 or None in by_load or not (is_complete or is_begun):
        return []
    places = {id(table): place for at_load in by_load.values() for place, table in enumerate(at_load, 1)}
    return [places[id(table)] for table in tables]


def operations_of(tables: Sequence[TextTable]) -> list[str]:
    """The endpoints of each table, if tables at one load have none in common: then they are different operations, and
    no variants. Otherwise nothing for each."""
    known = [frozenset(label for label in table.labels if label[-1].lower() not in SUMS) for table in tables]
    by_load: dict[Level | None, list[frozenset[tuple[str, ...]]]] = {}
    for table, endpoints in zip(tables, known, strict=True):
        by_load.setdefault(table.stated.level, []).append(endpoints)
    are_apart = all(len(frozenset().union(*alike)) == sum(map(len, alike)) for alike in by_load.values())
    is_several = all(known) and all("name" in table.kinds for table in tables) and len(set(known)) > 1
    if not (are_apart and is_several and all(set(alike) == set(known) for alike in by_load.values())):
        return [""] * len(tables)
    return [shorten(" + ".join(" ".join(filter(None, label)) for label in sorted(endpoints))) for endpoints in known]


def names_of(tables: Sequence[TextTable]) -> list[str]:
    """Of several tables: their headings if all differ, otherwise their numbers; at each load anew, if the same tables
    follow one another at each."""
    headings = [table.heading for table in tables]
    if len(tables) < 2:
        return [""] * len(tables)
    if places := _places_at_loads(tables):
        return [f"table {place}" if max(places) > 1 else "" for place in places]
    if all(headings) and len(set(headings)) == len(headings):
        return headings
    return [f"table {number}" for number in range(1, len(tables) + 1)]


def shorten(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
