"""PAYLOAD of lists: the rows in a reply, if they follow from the reply to creating one.

A reply to POST with the created row has the size r of a row; a JSON list of n of them has n · r bytes, n − 1 commas and
two brackets, so n = (size − 1) / (r + 1). That is a guess until the counts agree with it: a list that grows from
nothing has on average half of the created rows, and a list cut off at a limit has the same whole number each time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import places, valid
from plimsoll.stats.findings.subject import Subject, run, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.stats.study import Study, Trial

AGREES = 0.10
"""Tolerance for half of the created rows: reads and writes are not spread evenly."""
WHOLE = 0.01
"""Tolerance for a whole number of rows of a list that is cut off."""
LEAST_ROWS = 5
"""A list with fewer rows is not conclusive."""
LEAST_BYTES = 20
"""Of a row: less is a number or an "ok"."""
_LIMIT = re.compile(r"\bLimit\b[^\n]*?\brows=(\d+)")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list in one run."""

    trial: Trial
    key: tuple[str, str]
    rows: float
    """Per reply, derived."""
    expected: float
    """Average of a list that grew by the rows created during the run."""
    mean: float
    """ms of the reply."""
    size: float

    @property
    def grows(self) -> bool:
        return abs(self.rows / self.expected - 1) <= AGREES if self.expected else False

    @property
    def is_cut(self) -> bool:
        """Fewer rows than expected of a growing list, and a whole number."""
        return abs(self.rows - round(self.rows)) <= WHOLE and self.rows < self.expected * (1 - AGREES)

    @property
    def per_row(self) -> float:
        """ms."""
        return self.mean / self.rows


@dataclass(frozen=True, slots=True)
class VariantRows:
    """A list of a variant: means over its runs."""

    variant: str
    rows: float
    expected: float
    mean_ms: float
    ms_per_row: float


@dataclass(frozen=True, slots=True)
class GrowingList(Finding):
    """A list that grows during the run."""

    id = "PAYLOAD"
    subject: Subject
    variants: tuple[VariantRows, ...]
    baseline: VariantRows | None
    """The study's first variant, if the list grows in it."""


@dataclass(frozen=True, slots=True)
class CutList(Finding):
    """A variant that returns fewer rows than others because of a limit."""

    id = "PAYLOAD"
    subject: Subject
    rows: float
    ratio_to_first: float
    """Of the size to that of the first variant whose list grows."""
    ratio_to_previous: float
    """To that of the last one before this variant; to the first if there is none."""
    against: tuple[str, str]
    """The names of these two."""
    is_change: bool
    """Whether variants before this one have a list that grows."""


@dataclass(frozen=True, slots=True)
class OtherPlan(Finding):
    """A collected query plan that is not of the query."""

    id = "PLAN"
    subject: Subject
    plan_rows: float
    """The limit of the plan."""
    rows: float
    """Per reply, derived from its size."""


def lists(study: Study) -> Iterable[Finding]:
    for level, operation in places(study):
        by_key: dict[tuple[str, str], list[Listing]] = {}
        for variant in study.variants:
            for trial in valid(study, CellKey(variant, level, operation)):
                for listing in listings(trial):
                    by_key.setdefault(listing.key, []).append(listing)
        for found in by_key.values():
            growing = [each for each in found if each.grows]
            if growing:
                yield _growing(study, growing)
                yield from _cut(study, growing, [each for each in found if each.is_cut])


def plans(study: Study) -> Iterable[Finding]:
    """Collected query plans, compared with the replies."""
    for trial in study.trials:
        limits = {int(found) for text in trial.collected.values() for found in _LIMIT.findall(text)}
        for each in listings(trial) if limits else ():
            if not each.is_cut or round(each.rows) in limits:
                continue
            yield OtherPlan(
                run(study, trial, " ".join(each.key)),
                plan_rows=float(min(limits)),
                rows=each.rows,
                where=Where.of(trial, each.key, trial.id),
                weight="warning",
            )


def listings(trial: Trial) -> Iterator[Listing]:
    """Of each GET whose name also has a POST, with at least `LEAST_ROWS` rows."""
    rows = {row.key: row for row in trial.endpoints}
    for (method, name), read in rows.items():
        create = rows.get(("POST", name))
        if method != "GET" or create is None or read.mean is None:
            continue
        if read.size is None or create.size is None or create.size < LEAST_BYTES or create.requests is None:
            continue
        count = (read.size - 1) / (create.size + 1)
        expected = _expected(trial, create.requests - (create.failures or 0))
        if count >= LEAST_ROWS:
            yield Listing(trial, (method, name), count, expected, read.mean, read.size)


def _expected(trial: Trial, created: int) -> float:
    """Average rows of a list during the creation of so many: from the number before or after, if collected from the
    target. Rows created in a warm-up are only in the number afterwards."""
    end, start = trial.facts.get("rows at the end"), trial.facts.get("rows at the start")
    if isinstance(end, int | float) and end >= created:
        return end - created / 2
    return (start if isinstance(start, int | float) else 0) + created / 2


def _growing(study: Study, found: Sequence[Listing]) -> Finding:
    trial, key = found[0].trial, found[0].key
    variants = _by_variant(found)
    return GrowingList(
        subject(study, "", "", " ".join(key), trial.level),
        variants,
        next((rows for rows in variants if rows.variant == study.variants[0]), None),
        where=Where(None, trial.level, trial.operation, key),
        weight="warning",
    )


def _cut(study: Study, growing: Sequence[Listing], cut: Sequence[Listing]) -> Iterable[Finding]:
    others = list(dict.fromkeys(each.trial.variant for each in growing))
    first = others[0]
    for of_variant in _by_variant(cut):
        variant = of_variant.variant
        own = [each for each in cut if each.trial.variant == variant]
        size, trial = _mean_size(own, variant), own[0].trial
        before = [name for name in others if study.variants.index(name) < study.variants.index(variant)]
        previous = before[-1] if before else first
        yield CutList(
            subject(study, "", "", f"GET {own[0].key[1]}", trial.level),
            rows=of_variant.rows,
            ratio_to_first=size / _mean_size(growing, first),
            ratio_to_previous=size / _mean_size(growing, previous),
            against=(first, previous),
            is_change=bool(before),
            where=Where(variant, trial.level, trial.operation, own[0].key),
            weight="warning",
        )


def _by_variant(listings: Sequence[Listing]) -> tuple[VariantRows, ...]:
    result = []
    for variant in dict.fromkeys(listing.trial.variant for listing in listings):
        own = [listing for listing in listings if listing.trial.variant == variant]
        sums = ((listing.rows, listing.expected, listing.mean, listing.per_row) for listing in own)
        result.append(VariantRows(variant, *(sum(column) / len(own) for column in zip(*sums, strict=True))))
    return tuple(result)


def _mean_size(found: Sequence[Listing], variant: str) -> float:
    own = [each.size for each in found if each.trial.variant == variant]
    return sum(own) / len(own)
