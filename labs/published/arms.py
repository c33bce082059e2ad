"""What the tables of a report are to one another: the variant, level and operation of each arm of each table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from plimsoll.stats.study import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.published.parts import Key, Part

    from plimsoll.importers.measured import RowValues
    from plimsoll.importers.result_file import ResultFile

    Shape = Literal["auto", "ladder", "operations", "chain", "rates"]

PUBLISHED = "as published"
"""The variant of a report that compares nothing."""


@dataclass(slots=True)
class TrialRows:
    """One arm of one table, or one row of a table of runs: what becomes a trial."""

    part: Part
    arm: int
    level: Level | None
    rows: dict[Key, RowValues]
    operation: str = ""
    variant: str = ""
    row: Key | None = None
    """Of a table of runs."""
    also: list[int] = field(default_factory=list)
    """Lines of tables that tell the same once more."""

    @property
    def rate(self) -> float | None:
        return self.part.rates[self.arm] if self.part.rates else None

    def id(self, source: ResultFile) -> str:
        place = source.place(self.part.line)
        if self.row is not None:
            return f"{place} {' '.join(self.row)}"
        if self.part.run:
            place = f"{place} {self.part.run}"
        return f"{place} #{self.arm + 1}" if len(self.part.arms) > 1 else place

    def repeats(self, other: TrialRows) -> bool:
        """Whether it is the same run told again: every number that both give is the same."""
        if (self.level, self.operation) != (other.level, other.operation):
            return False
        if self.rate is not None and other.rate is not None and self.rate != other.rate:
            return False
        if not self.rows or not other.rows:
            return self.rate is not None and self.rate == other.rate
        common = self.rows.keys() & other.rows.keys()
        return bool(common) and all(_agree(self.rows[key], other.rows[key]) for key in common)


def _agree(one: RowValues, other: RowValues) -> bool:
    """Whether both have the same where both have anything, and there is such a place."""
    common = one.by_measure.keys() & other.by_measure.keys()
    return bool(common) and all(one.by_measure[each] == other.by_measure[each] for each in common)


def trials_rows(parts: Sequence[Part]) -> tuple[list[TrialRows], Shape]:
    """Every run that a report tells of, once, with the shape of the report."""
    of_rows = [part for part in parts if part.by_row]
    if of_rows:
        return _of_rows(of_rows), "rates" if _is_offered(of_rows) else "auto"
    operations = _operations(parts)
    seats: list[TrialRows] = []
    for operation in dict.fromkeys(operations):
        chosen = [part for part, each in zip(parts, operations, strict=True) if each == operation]
        seats += _variants(chosen, operation)
    levels = {seat.level for seat in seats}
    if len(set(operations)) > 1:
        return seats, "operations"
    if len(levels) > 1:
        return seats, "ladder"
    return seats, "chain" if len({seat.variant for seat in seats}) > 2 else "auto"


def _level(part: Part) -> Level | None:
    if part.around.users is not None:
        return Level("users", float(part.around.users))
    return Level("/s", part.around.offered) if part.around.offered is not None else None


def _operations(parts: Sequence[Part]) -> list[str]:
    """One for each part. Tables at the same level that share no endpoint are operations."""
    groups: list[set[Key]] = []
    for part in parts:
        joined = set(part.keys)
        for group in [group for group in groups if group & joined]:
            groups.remove(group)
            joined |= group
        if joined:
            groups.append(joined)
    if len(groups) < 2:
        return ["" for _ in parts]

    def name(part: Part) -> str:
        return next((_label(keys) for keys in ordered if part.keys & set(keys)), "")

    seen = dict.fromkeys(key for part in parts for arm in part.arms for key in arm)
    first_seen = {key: index for index, key in enumerate(seen)}
    ordered = [sorted(group, key=first_seen.__getitem__) for group in groups]
    return [name(part) for part in parts]


def _label(keys: Sequence[Key]) -> str:
    return " + ".join(" ".join(key).strip() for key in keys)


def _variants(parts: Sequence[Part], operation: str) -> list[TrialRows]:
    """The arms of these tables, without those that are told again.

    Tables that follow one another at one level, under one heading, make up a cluster; clusters of the same form (as:
    one table with a single arm, then one with two) have the same variants in the same places.
    """
    clusters = [list(group) for _, group in groupby(parts, key=lambda part: (_level(part), part.around.heading))]
    forms = [tuple((len(part.arms), tuple(part.names)) for part in cluster) for cluster in clusters]
    if len(clusters) == 1:
        alone = _named(clusters[0], _step_names(clusters[0]), operation)
        _tell_apart(alone)
        return alone
    kept: list[TrialRows] = []
    unsure: list[tuple[TrialRows, tuple[object, int]]] = []
    meant: dict[tuple[object, int], set[str]] = defaultdict(set)
    for form in dict.fromkeys(forms):
        named = not kept
        for cluster in (each for each, its in zip(clusters, forms, strict=True) if its == form):
            for place, seat in enumerate(_named(cluster, _letters(cluster), operation)):
                same = [each for each in kept if seat.repeats(each)] if not named else []
                if len(same) == 1:
                    same[0].also.append(seat.part.line)
                    meant[form, place].add(same[0].variant)
                elif named:
                    kept.append(seat)
                else:
                    unsure.append((seat, (form, place)))
    taken = {seat.variant for seat in kept}
    for seat, at in unsure:
        if len(meant[at]) == 1:
            # The other clusters of this form repeat one variant in this place.
            seat.variant = next(iter(meant[at]))
            seat.part.notes.append(
                f"variant {seat.variant} by its place: where else tables stand so, this one repeats {seat.variant}"
            )
        elif seat.variant in taken and meant[at]:
            seat.variant = f"{seat.variant}, line {seat.part.line}"
        kept.append(seat)
    kept.sort(key=lambda seat: (seat.part.line, seat.arm))
    _tell_apart(kept)
    return kept


def _tell_apart(seats: Sequence[TrialRows]) -> None:
    """Two runs of one variant at one level would be repeats. In a report they are different things: named after their
    headings if these differ, otherwise by which time it is."""
    times: dict[tuple[str, Level | None, str], list[TrialRows]] = defaultdict(list)
    for seat in seats:
        times[seat.variant, seat.level, seat.operation].append(seat)
    if all(len(same) == 1 for same in times.values()):
        return
    headings = [[seat.part.around.heading for seat in same] for same in times.values()]
    if all(all(each) and len(set(each)) == len(each) for each in headings):
        for seat in seats:
            heading = seat.part.around.heading
            seat.variant = heading if seat.variant == PUBLISHED else f"{heading}: {seat.variant}"
        return
    for same in times.values():
        for number, seat in enumerate(same[1:], 2):
            seat.variant = f"{seat.variant} ({number})"


def _named(cluster: Sequence[Part], names: Sequence[str], operation: str) -> list[TrialRows]:
    return [seat for part, name in zip(cluster, names, strict=True) for seat in _arms(part, name, operation)]


def _arms(part: Part, name: str, operation: str) -> list[TrialRows]:
    level = _level(part)
    several = len(part.arms) > 1
    return [
        TrialRows(part, arm, level, rows, operation, part.names[arm] or (f"{name}{arm + 1}" if several else name))
        for arm, rows in enumerate(part.arms)
    ]


def _letters(cluster: Sequence[Part]) -> list[str]:
    if len(cluster) == 1 and len(cluster[0].arms) == 1:
        return [PUBLISHED]
    return [chr(ord("A") + index) if index < 26 else f"table {index + 1}" for index in range(len(cluster))]


def _step_names(cluster: Sequence[Part]) -> list[str]:
    """At one level only: the steps of a journal, one after another, by their headings if each has its own."""
    if len(cluster) == 1:
        return [PUBLISHED if len(cluster[0].arms) == 1 else "arm "]
    headings = [part.around.heading for part in cluster]
    if all(headings) and len(set(headings)) == len(headings):
        return headings
    return [f"step {index + 1}" for index in range(len(cluster))]


def _is_offered(parts: Sequence[Part]) -> bool:
    """Whether "req/s" is what was asked for: a variant has several rows that differ in it."""
    rows = [key for part in parts for key in part.arms[0]]
    found = [values for part in parts for values in part.arms[0].values()]
    return len(rows) > len({variant for variant, _ in rows}) and all(
        values.get("users") is None and values.get("rate") is not None for values in found
    )


def _of_rows(parts: Sequence[Part]) -> list[TrialRows]:
    """Each row a run. Tables under different headings are operations."""
    offered = _is_offered(parts)
    headings = [part.around.heading for part in parts]
    told_apart = len(set(headings)) == len(parts) > 1
    seats = []
    for part in parts:
        for key, values in part.arms[0].items():
            users, rate = values.get("users"), values.get("rate")
            if users is not None:
                level: Level | None = Level("users", users)
            else:
                level = Level("/s", rate) if offered and rate else _level(part)
            operation = part.around.heading if told_apart else ""
            seats.append(TrialRows(part, 0, level, {key: values}, operation, key[0] or PUBLISHED, key))
    _tell_apart(seats)
    return seats
