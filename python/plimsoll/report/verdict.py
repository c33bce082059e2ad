"""The judgement on a run as lines of text: is it valid, and did it meet its thresholds."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from plimsoll.report.numbers import quantity
from plimsoll.report.render.text_table import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.stats.threshold import ThresholdResult
    from plimsoll.stats.validity import Validity

INVALID = "INVALID: the generator, not the target, was the limit"


def banner(validity: Validity, width: int, loud: Callable[[str], str] = str) -> list[str]:
    """What stands above the numbers of an invalid run: that it is, and why; nothing for a valid one."""
    if validity.valid:
        return []
    reasons = [
        fill(one_line(reason), width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
        for reason in validity.reasons
    ]
    return [loud(INVALID), *reasons]


def last_word(validity: Validity, loud: Callable[[str], str] = str) -> list[str]:
    """The same in one line, for the end, where people look first."""
    failed = ", ".join(check.name for check in validity.checks if check.state == "failed")
    return [] if validity.valid else [loud(f"{INVALID} ({failed})")]


def threshold_rows(results: Sequence[ThresholdResult]) -> list[list[str]]:
    """Text, value, limit and detail of each; the first says whether it was met."""
    return [
        [
            f"{'✓' if each.passed else '✗'} {one_line(each.text)}",
            f"{'≥' if each.at_least else ''}{quantity(each.value, each.unit)}",
            quantity(each.limit, each.unit),
            one_line(each.detail),
        ]
        for each in results
    ]
