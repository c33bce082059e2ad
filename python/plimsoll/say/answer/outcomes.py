"""What came of pairs of variants by one metric of one endpoint, in sentences: over all levels of a pair together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.say import comparisons, phrases
from plimsoll.say.durations import duration_text
from plimsoll.say.names import at_levels, code, level_texts, listed
from plimsoll.say.numbers import counted, short_percent
from plimsoll.stats.compare import planning
from plimsoll.stats.compare.pairs import ALPHA
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study

SAME = ("negligible", "equivalent")
MOST_ALONE = 3
"""Differences that have a sentence each; more of them share one."""
MOST_PAIRS = 100
"""More pairs of runs than these are no advice."""
WIDE_OPEN = 100.0
"""An interval whose ends are so many times apart says nothing."""


def differences(study: Study, rows: Sequence[Comparison]) -> Iterator[str]:
    """By pair of variants, the largest difference first; one sentence has all levels of a pair."""
    ordered = sorted(
        (pair for pair in by_pair(rows) if any(map(is_certain, pair))),
        key=lambda pair: -max(size(each) for each in pair if is_certain(each)),
    )
    for pair in ordered[:MOST_ALONE]:
        yield f"{difference(pair, has_levels=len(study.levels) > 1)}."
    if rest := ordered[MOST_ALONE:]:
        largest = (max(filter(is_certain, pair), key=size) for pair in rest)
        texts = (f"{code(each.b)} {phrases.change(each)}{_by(each)}" for each in largest)
        yield f"Smaller differences: {listed(texts)}."


def difference(pair: Sequence[Comparison], *, has_levels: bool) -> str:
    """pair: the rows of two variants, of which one is certain at least; no full stop. "`new` is 46 % faster than `old`
    at 48 users (p50, 30–58 %, 5 pairs), 41 % at 96 and 34 % at 162 users; at 240 users nothing can be said"."""
    largest = max(filter(is_certain, pair), key=size)
    if not has_levels:
        return phrases.sentence(largest, endpoint_of(largest))
    first, *alike = [row for row in pair if is_certain(row) and row.better == largest.better]
    other_way = [row for row in pair if is_certain(row) and row.better != largest.better]
    text = phrases.sentence(first, f"{endpoint_of(first)} {at_levels([first.level])}")
    if alike:
        is_short = all(
            row.ratio is not None and phrases.is_relative(row.ratio) and row.full_machine is None
            for row in (first, *alike)
        )
        changes = [short_percent(abs((row.ratio or 1) - 1)) if is_short else phrases.change(row) for row in alike]
        levels = level_texts(row.level for row in alike)
        text += f", {listed(f'{what} at {level}' for what, level in zip(changes, levels, strict=True))}"
    if other_way:
        text += f"; but {listed(f'{phrases.change(row)} {at_levels([row.level])}' for row in other_way)}"
    return "; ".join([text, *_beside(pair)])


def _beside(pair: Sequence[Comparison]) -> Iterator[str]:
    """The levels of a pair at which there is no certain difference."""
    if same := [row for row in pair if row.word in SAME]:
        yield f"{_at(same)} it makes no difference that matters (less than {short_percent(same[0].metric.delta)})"
    if bounded := [row for row in pair if is_open(row) and not comparisons.is_unclear(row)]:
        yield f"{_at(bounded)} no difference shows ({ruled_out(bounded)})"
    if unclear := [row for row in pair if is_open(row) and comparisons.is_unclear(row)]:
        largest = max(unclear, key=size)
        yield f"{_at(unclear)} it is unclear ({phrases.values(largest)}{_if_several(unclear, largest)})"
    if silent := [row for row in pair if row.word == "no verdict"]:
        yield f"{_at(silent)} nothing can be said"


def uncertain(study: Study, rows: Sequence[Comparison]) -> Iterator[str]:
    """Of pairs without a certain difference: what is unclear with its numbers, then what made no difference, with what
    is ruled out, then of what nothing is known. Pairs that share an outcome stand together."""
    left = [row for pair in by_pair(rows) if not any(map(is_certain, pair)) for row in pair]
    unclear = [row for row in left if is_open(row) and comparisons.is_unclear(row)]
    if unclear:
        yield _unclear(study, unclear)
    metric = left[0].metric.text if left else ""
    if same := [row for row in left if row.word in SAME]:
        least = short_percent(same[0].metric.delta)
        yield f"{who(study, same)} made no difference that matters in {metric} (less than {least} either way)."
    if bounded := [row for row in left if is_open(row) and row not in unclear]:
        pairs = comparisons.basis(max(bounded, key=lambda row: row.pairs))
        yield f"{who(study, bounded)} made no difference in {metric} that {pairs} can show; {ruled_out(bounded)}."


def _unclear(study: Study, rows: Sequence[Comparison]) -> str:
    """The largest change with its values, what else is possible, and what would decide it."""
    largest = max(rows, key=size)
    others = by_pair(rows)
    whether = f"{who(study, rows)} {'differs' if len(others) == 1 else 'differ'}"
    beside = f" from {code(largest.a)}" if len(others) == 1 else ""
    at = f" {at_levels([largest.level])}" if len(study.levels) > 1 else ""
    of = f" for {code(largest.b)}" if len(others) > 1 else ""
    pairs = comparisons.basis(largest)
    if possible := _possible(largest):
        doubt = f"but with {pairs} anything from {possible} is possible"
    elif largest.low is not None and largest.high is not None and not largest.low <= 1 <= largest.high:
        doubt = f"but {pairs} are not enough to be certain among so many comparisons"
    else:
        doubt = f"but {pairs} leave almost anything possible"
    values = f"{phrases.values(largest)}{endpoint_of(largest)}{of}{at}"
    return f"Whether {whether}{beside} in {largest.metric.text} is unclear: {values}, {doubt}{_advice(study, largest)}."


def _possible(comparison: Comparison) -> str:
    """The interval in words: −60 to +80 %, 0.90 to 9.0 times; "" without one, for one that lies on one side of "no
    change", and for one that says nothing."""
    low, high = comparison.low, comparison.high
    if low is None or high is None or not (low > 0 and math.isfinite(high)) or not low <= 1 <= high:
        return ""
    if high / low > WIDE_OPEN:
        return ""
    if phrases.is_relative(low) and phrases.is_relative(high):
        return f"−{short_percent(1 - low).removesuffix(' %')} to +{short_percent(high - 1)}"
    return f"{low:.2g} to {high:.2g} times"


def _advice(study: Study, comparison: Comparison) -> str:
    """How many more pairs could tell a change of this size from none, at the spread that was seen."""
    if not comparison.spread or not comparison.ratio or comparison.earlier:
        return ""
    goal = max(math.expm1(abs(math.log(comparison.ratio))), comparison.metric.delta)
    alpha = comparison.alpha or ALPHA
    more = max(2, planning.pairs_needed(comparison.spread, goal, alpha) - comparison.pairs)
    if more > MOST_PAIRS:
        return "; longer runs or a quieter machine are needed"
    pace = comparisons.RunLength.of(study, comparison)
    time = ""
    if pace is not None:
        minutes = math.ceil(planning.minutes(more, pace.duration, pace.gap))
        time = f" ({duration_text(60 * minutes)})"
    return f"; about {counted(more, 'more pair')}{time} could tell"


def ruled_out(rows: Sequence[Comparison]) -> str:
    """Of rows that have a bound: what is not possible."""
    if rows[0].difference is not None:
        points = max(abs(end or 0.0) for row in rows for end in (row.difference_low, row.difference_high))
        return f"more than {100 * points:.2g} percentage points either way is ruled out"
    widest = max(comparisons.bound(row) or 0.0 for row in rows)
    return f"anything beyond ±{short_percent(widest)} is ruled out"


def who(study: Study, rows: Iterable[Comparison]) -> str:
    """`index` and `replica`; `new` at 48 and 162 users."""
    rows = list(rows)
    names = listed(dict.fromkeys(code(row.b) for row in rows))
    return f"{names} {_at(rows)}" if len(study.levels) > 1 else names


def by_pair(rows: Iterable[Comparison]) -> list[list[Comparison]]:
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for each in rows:
        pairs.setdefault((each.a, each.b), []).append(each)
    return list(pairs.values())


def is_certain(comparison: Comparison) -> bool:
    return comparison.better is not None


def is_open(comparison: Comparison) -> bool:
    return comparison.word == "not distinguishable"


def size(comparison: Comparison) -> float:
    if comparison.difference is not None:
        return abs(comparison.difference)
    return abs(math.log(comparison.ratio)) if comparison.ratio else 0.0


def endpoint_of(comparison: Comparison) -> str:
    """ " for `GET /todos/`"; "" for all endpoints together."""
    return "" if comparison.endpoint == TOTAL else f" for {code(' '.join(filter(None, comparison.endpoint)))}"


def in_short(comparison: Comparison, *, has_levels: bool) -> str:
    """One difference in few words: "`new` for `GET /x` at 20 users, 45 % higher p99"."""
    at = f" {at_levels([comparison.level])}" if has_levels else ""
    return f"{code(comparison.b)}{endpoint_of(comparison)}{at}, {phrases.change(comparison)}{_by(comparison)}"


def _by(comparison: Comparison) -> str:
    """The metric, where "faster" does not say it."""
    return f" ({comparison.metric.text})" if phrases.is_typical(comparison.metric) else ""


def _at(rows: Iterable[Comparison]) -> str:
    return at_levels(dict.fromkeys(each.level for each in rows))


def _if_several(rows: Sequence[Comparison], one: Comparison) -> str:
    return f" {at_levels([one.level])}" if len(rows) > 1 else ""
