"""The result of a check: one line of the table."""

import math
from dataclasses import dataclass
from enum import Enum

from .tolerance import Bounds


class Verdict(Enum):
    """Of one line."""

    HOLDS = "holds"
    FAILS = "FAILS"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Line:
    """One figure: the true value, the reported value, and the allowed difference."""

    case: str
    quantity: str
    truth: str
    reported: str
    tolerance: str
    verdict: Verdict


def exact(case: str, quantity: str, truth: object, reported: object) -> Line:
    """The two values must be equal."""
    return Line(case, quantity, words(truth), words(reported), "equal", verdict(truth == reported))


def within(case: str, quantity: str, truth: str, reported: float, bounds: Bounds) -> Line:
    """A time in s that must be within bounds."""
    low, high = milliseconds(bounds.low), milliseconds(bounds.high)
    tolerance = f"≥ {low}" if math.isinf(bounds.high) else f"{low} … {high}"
    return Line(case, quantity, truth, milliseconds(reported), f"{tolerance} ms", verdict(reported in bounds))


def fact(case: str, quantity: str, truth: str, reported: str, tolerance: str, holds: bool) -> Line:
    """Any other condition."""
    return Line(case, quantity, truth, reported, tolerance, verdict(holds))


def not_judged(case: str, why: str) -> Line:
    """The case could not be measured now."""
    return Line(case, why, "–", "–", "–", Verdict.NOT_JUDGED)


def verdict(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.FAILS


def milliseconds(seconds: float) -> str:
    """To the µs below 10 ms, to four figures above."""
    value = seconds * 1e3
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"


def words(value: object) -> str:
    """Counts by name as `3 success, 1 reset`; numbers with separators."""
    if isinstance(value, dict):
        return ", ".join(f"{count:,} {name}" for name, count in sorted(value.items())) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
