"""PAYLOAD of lists: the rows in a reply, if they follow from the reply to creating one.

A reply to POST with the created row has the size r of a row; a JSON list of n of them has n · r bytes, n − 1 commas and
two brackets, so n = (size − 1) / (r + 1). That is a guess until the counts agree with it: a list that grows from
nothing has on average half of the created rows, and a list cut off at a limit has the same whole number each time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import places, valid

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
RULE = (
    "rows of a list = (size − 1) / (size of the reply to creating one + 1), derived from JSON; taken as confirmed when "
    "that is half of the rows created (within 10 %: the list grows from nothing) or always the same whole number (a "
    "limit)"
)
PLAN = "a plan's Limit says how many rows a query returns at most; replies that carry more were not made by that query"
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


def lists(study: Study) -> Iterable[Finding]:
    for level, operation in places(study):
        by_key: dict[tuple[str, str], list[Listing]] = {}
        for trial in (each for variant in study.variants for each in valid(study, variant, level, operation)):
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
            limit = sorted(limits)[0]
            yield Finding(
                "PLAN",
                "warning",
                f"{wording.place(study, trial, ' '.join(each.key))}: the collected plan has a limit of {limit} rows, "
                f"but replies carry {each.rows:.0f} (derived from their size): it is the plan of another query.",
                Where(trial.variant, trial.level, trial.operation, each.key, trial.id),
                PLAN,
                {"plan_rows": float(limit), "rows": each.rows},
                "Collect the plan of the very statement that the service sends.",
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
    label = f"{found[0].key[0]} {found[0].key[1]}"
    by_variant = _by_variant(found)
    baseline = by_variant.get(study.variants[0])
    evidence: dict[str, float | str | tuple[float, ...]] = {"derived": "rows from sizes of replies"}
    per_row = []
    for variant, (each_rows, expected, mean, each_ms) in by_variant.items():
        evidence[f"rows of {variant}"] = each_rows
        evidence[f"expected rows of {variant}"] = expected
        evidence[f"ms_per_row of {variant}"] = each_ms
        if baseline is not None and variant != study.variants[0]:
            evidence[f"per_row_ratio of {variant}"] = each_ms / baseline[3]
            evidence[f"mean_ratio of {variant}"] = mean / baseline[2]
            per_row.append(
                f"{variant} {wording.signed(each_ms / baseline[3], '.0f')} "
                f"(mean {wording.signed(mean / baseline[2], '.0f')})"
            )
    every = [each[0] for each in by_variant.values()]
    rows = wording.between(f"{min(every):.0f}", f"{max(every):.0f}")
    compared = f"; per row, against {study.variants[0]}: {', '.join(per_row)}" if per_row else ""
    return Finding(
        "PAYLOAD",
        "warning",
        f"{label}{wording.at(study, found[0].trial.level)} returns {rows} rows a reply (derived from sizes): the list "
        f"grows during the run, so a faster variant makes its own requests slower{compared}.",
        Where(None, found[0].trial.level, found[0].trial.operation, found[0].key),
        RULE,
        evidence,
        "Fill in a fixed number of rows and reset them before each run.",
    )


def _cut(study: Study, growing: Sequence[Listing], cut: Sequence[Listing]) -> Iterable[Finding]:
    """Variants that return fewer rows than others because of a limit."""
    others = list(dict.fromkeys(each.trial.variant for each in growing))
    first = others[0]
    for variant, (rows, _, _, _) in _by_variant(cut).items():
        own = [each for each in cut if each.trial.variant == variant]
        size = _mean_size(own, variant)
        before = [name for name in others if study.variants.index(name) < study.variants.index(variant)]
        evidence: dict[str, float | str | tuple[float, ...]] = {"rows": rows}
        compared = []
        for name, of in {first: "first", before[-1] if before else first: "previous"}.items():
            evidence[f"ratio_to_{of}"] = size / _mean_size(growing, name)
            compared.append(f"{wording.change(size / _mean_size(growing, name))} bytes against {name}")
        evidence.setdefault("ratio_to_first", size / _mean_size(growing, first))
        yield Finding(
            "PAYLOAD",
            "warning",
            f"{variant} {'changes the work' if before else f'does not do the work of {first}'}: GET {own[0].key[1]}"
            f"{wording.at(study, own[0].trial.level)} returns {rows:.0f} rows whatever was created (derived from "
            f"sizes; {', '.join(compared)}).",
            Where(variant, own[0].trial.level, own[0].trial.operation, own[0].key),
            RULE,
            evidence,
            "It is another request: compare it only with variants that return as many rows.",
        )


def _by_variant(found: Sequence[Listing]) -> dict[str, tuple[float, float, float, float]]:
    """Means over the runs: rows, expected rows, ms, ms per row."""
    result = {}
    for variant in dict.fromkeys(each.trial.variant for each in found):
        own = [each for each in found if each.trial.variant == variant]
        sums = ((each.rows, each.expected, each.mean, each.per_row) for each in own)
        rows, expected, mean, per_row = (sum(column) / len(own) for column in zip(*sums, strict=True))
        result[variant] = (rows, expected, mean, per_row)
    return result


def _mean_size(found: Sequence[Listing], variant: str) -> float:
    own = [each.size for each in found if each.trial.variant == variant]
    return sum(own) / len(own)
