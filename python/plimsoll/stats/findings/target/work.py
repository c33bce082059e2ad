"""WORK: statements or calls of the target that take longer, under more load or in another variant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.record.cells import CellKey
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import compared_cells, valid
from plimsoll.stats.findings.subject import Subject, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.study import Level, Study, Trial

GROWS = 2.0
"""Times its mean at the lowest level."""
DIFFERS = 1.5
"""Times its mean in the other variant, or the reverse."""
LEAST_CALLS = 20
"""Of a cell."""
LEAST_SHARE = 0.1
"""Of the time of its kind: less cannot matter much."""
SAME_ROWS = 1.2
"""Maximum ratio of rows per call for the same work."""
MOST = 3
"""Per variant or pair: those that take the most time."""
_KINDS = ("statement", "call", "part")
"""Without transactions: their time is the response time again."""


class _Work(NamedTuple):
    """One name in the runs of a cell."""

    calls: int
    ms: float
    """Per call."""
    share: float
    """Of the time of its kind and source."""
    rows: float | None
    """Per call."""


_Key = tuple[str, str, str]
"""Kind, source, name."""


@dataclass(frozen=True, slots=True)
class ChangedWork(Finding):
    """A statement or call that takes longer or shorter: at the highest level beside the lowest, or in one variant
    beside another."""

    id = "WORK"
    subject: Subject
    ms: tuple[float, float]
    """Per call, before and after."""
    ratio: float
    share: float
    """Of the time of all of its kind, after."""
    calls: tuple[int, int]
    rows: tuple[float, float] | None
    """Per call, if they are not the same."""
    levels: tuple[Level | None, Level | None] | None
    """Before and after; None between variants."""
    work: tuple[str, str, str]
    """Kind, source, name."""


def grown(study: Study) -> Iterable[Finding]:
    """Under more load."""
    for variant, operation in product(study.variants, study.operations):
        ladder = sorted((level for level in study.levels if level is not None), key=lambda level: level.value)
        cells = [trials for level in ladder if (trials := valid(study, CellKey(variant, level, operation)))]
        if len(cells) < 2:
            continue
        low, high = _work(cells[0]), _work(cells[-1])
        found = [key for key in high if key in low and high[key].ms >= GROWS * low[key].ms and _counts(high[key])]
        for key in sorted(found, key=lambda key: -high[key].share)[:MOST]:
            levels = cells[0][0].level, cells[-1][0].level
            yield _finding(study, cells[-1][0], key, (low[key], high[key]), levels)


def changed(study: Study) -> Iterable[Finding]:
    """From one variant to another, at the highest level that both have."""
    highest: dict[tuple[str, str, str], tuple[list[Trial], list[Trial]]] = {}
    for a, b in compared_cells(study):
        pair, place = (valid(study, a), valid(study, b)), (a.variant, b.variant, b.operation)
        known = highest.get(place)
        if all(pair) and (known is None or b.level is None or b.level.value > _value(known[0][0])):
            highest[place] = pair
    for first, second in highest.values():
        before, after = _work(first), _work(second)
        found = [
            key for key in after
            if key in before and not 1 / DIFFERS < after[key].ms / before[key].ms < DIFFERS
            and (_counts(after[key]) or _counts(before[key]))
        ]  # fmt: skip
        for key in sorted(found, key=lambda key: -max(before[key].share, after[key].share))[:MOST]:
            yield _finding(study, second[0], key, (before[key], after[key]), against=first[0].variant)


def _value(trial: Trial) -> float:
    return trial.level.value if trial.level is not None else 0.0


def _counts(work: _Work) -> bool:
    return work.share >= LEAST_SHARE


def _work(trials: Sequence[Trial]) -> dict[_Key, _Work]:
    sums: dict[_Key, list[float]] = defaultdict(lambda: [0, 0.0, 0])
    whole: dict[tuple[str, str], float] = defaultdict(float)
    without_rows: set[_Key] = set()
    for each in (each for trial in trials for each in trial.work if each.kind in _KINDS):
        key = each.kind, each.source, each.name
        for place, more in enumerate((each.calls, each.ms, each.rows or 0)):
            sums[key][place] += more
        whole[each.kind, each.source] += each.ms
        if each.rows is None:
            without_rows.add(key)
    return {
        key: _Work(int(calls), ms / calls, ms / whole[key[:2]], None if key in without_rows else rows / calls)
        for key, (calls, ms, rows) in sums.items()
        if calls >= LEAST_CALLS and ms > 0
    }


def _finding(
    study: Study,
    trial: Trial,
    key: _Key,
    pair: tuple[_Work, _Work],
    levels: tuple[Level | None, Level | None] | None = None,
    against: str | None = None,
) -> Finding:
    before, after = pair
    is_other = before.rows and after.rows is not None and not 1 / SAME_ROWS < after.rows / before.rows < SAME_ROWS
    return ChangedWork(
        # A comparison already names both of its variants with their times.
        subject(study, "" if against else trial.variant, trial.operation),
        ms=(before.ms, after.ms),
        ratio=after.ms / before.ms,
        share=after.share,
        calls=(before.calls, after.calls),
        rows=(before.rows or 0.0, after.rows or 0.0) if is_other else None,
        levels=levels,
        work=key,
        where=Where.of(trial, against=against),
        weight="insight",
    )
