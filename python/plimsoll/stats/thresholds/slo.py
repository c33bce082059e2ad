"""A service level objective: thresholds that hold together, and how close a run came to breaking them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.record import TIMED
from plimsoll.stats.latency.tally import Tally
from plimsoll.stats.thresholds.grammar import parse_threshold
from plimsoll.stats.thresholds.watch import read

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from plimsoll.record import Interval
    from plimsoll.stats.thresholds.grammar import Threshold

MOST_STRAIN = 1e6
"""Stands for any more, and for a limit of 0 that was broken."""


@dataclass(frozen=True, slots=True)
class Strain:
    """One criterion in one run."""

    criterion: Threshold
    value: float | None
    """Of its subject, in its unit. None: there was nothing to take it of, which fails."""
    held: bool
    at_least: bool
    """The true value may be greater, because requests were given up on."""
    strain: float
    """0…`MOST_STRAIN`: the share of what the criterion allows that was used up. At most 1 if it held, else more than 1.
    Of a percentile that is the share of requests above the limit by the share that may be: it tells how far off a run
    was where the percentile itself jumps, from one mode of the times to another."""


def parse_slo(text: str) -> tuple[Threshold, ...]:
    """Thresholds on a whole run, separated by commas: `p99 < 200ms, errors < 0.1%`. Raises UsageError."""
    parts = [part.strip() for part in _split(text)]
    if not any(parts):
        raise UsageError("--slo: an objective is at least one threshold: --slo 'p99 < 200ms, errors < 0.1%'")
    criteria = tuple(parse_threshold(part) for part in parts if part)
    for each in criteria:
        if each.mode != "run" or each.stop:
            raise UsageError(f"--slo: {each}: an objective is about a whole run, without `over`, `for` and `else stop`")
        if each.op in ("==", "!="):
            raise UsageError(f"--slo: {each}: an objective is a bound: <, <=, > or >=")
    return criteria


def strains(
    criteria: Iterable[Threshold], intervals: Iterable[Interval], seconds: float, timed: Container[str] = TIMED
) -> tuple[Strain, ...]:
    """How a run fared. intervals: those that count, without the warm-up; seconds: that they took; timed: the outcomes
    whose times count."""
    rows = list(intervals)
    return tuple(_strain(each, rows, seconds, timed) for each in criteria)


def _strain(criterion: Threshold, rows: list[Interval], seconds: float, timed: Container[str]) -> Strain:
    tally = Tally({criterion.subject.clock} if criterion.subject.is_time else (), timed)
    mine = [each for each in rows if criterion.covers(each.method, each.name)]
    for each in mine:
        tally.add(each)
    reading = read(criterion, tally, seconds)
    if reading.value is None:
        return Strain(criterion, None, held=False, at_least=False, strain=MOST_STRAIN)
    used = _used(criterion, reading.value, [each for each in mine if each.outcome in timed])
    # The histogram's buckets have a width: what held must not look broken because of it, nor the other way round.
    used = min(used, 1.0) if reading.held else max(used, math.nextafter(1.0, 2.0))
    return Strain(criterion, reading.value, reading.held, reading.at_least, min(used, MOST_STRAIN))


def _used(criterion: Threshold, value: float, timed: list[Interval]) -> float:
    upper = criterion.op in ("<", "<=")
    if criterion.subject.kind == "quantile" and upper and criterion.subject.q < 1:
        clock = criterion.subject.clock
        histograms = [each.response if clock == "response" else each.service for each in timed]
        count = sum(each.count for each in histograms)
        above = sum(each.count_above(math.ceil(criterion.limit * 1000)) for each in histograms)
        return above / count / (1 - criterion.subject.q) if count else MOST_STRAIN
    top, bottom = (value, criterion.limit) if upper else (criterion.limit, value)
    return top / bottom if bottom > 0 else (0.0 if top <= 0 else MOST_STRAIN)


def _split(text: str) -> list[str]:
    """At commas outside of quotes."""
    parts, quote = [""], ""
    for character in text:
        if character == "," and not quote:
            parts.append("")
            continue
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        parts[-1] += character
    return parts
