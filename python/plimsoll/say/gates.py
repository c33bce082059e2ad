"""What a run is compared with in a gate, how it ended, and what the earlier runs say about the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll.say.comparisons import basis, endpoint
from plimsoll.say.names import listed, version_text
from plimsoll.say.numbers import counted, short_percent, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.compare.prediction import NewestRun
    from plimsoll.stats.thresholds.verdict import ThresholdResult

GateWord = Literal["Passed", "Failed", "Open", "Invalid"]
MOST_SCATTERS = 4
"""Figures in the sentence on noise."""


def newest_text(newest: NewestRun) -> str:
    """Which versions are compared."""
    this = ", ".join(filter(None, (f"This run is {newest.run}", version_text(newest.branch, newest.commit))))
    last = ", ".join(
        filter(None, (f"the last good run of {newest.baseline} is {newest.last}", version_text("", newest.last_commit)))
    )
    return f"{this}; {last}."


def gate_title(word: GateWord, thresholds: Sequence[ThresholdResult], worse: int, unexplained: int) -> str:
    """Passed: 2 of 2 thresholds hold; nothing is certainly worse."""
    parts = []
    if thresholds:
        hold = sum(result.passed for result in thresholds)
        parts.append(
            f"{hold} of {counted(len(thresholds), 'threshold')} {'holds' if 1 in (hold, len(thresholds)) else 'hold'}"
        )
    parts.append(f"{counted(worse, 'figure')} certainly worse" if worse else "nothing is certainly worse")
    if unexplained:
        are = "is" if unexplained == 1 else "are"
        parts.append(f"{counted(unexplained, 'figure')} {are} worse than the earlier runs explain")
    return f"{word}: {'; '.join(parts)}"


def noise_text(newest: NewestRun, comparisons: Sequence[Comparison], least: int) -> str:
    """How much runs of the same code scatter here. least: runs that are needed to tell."""
    scatters = [
        f"{comparison.metric.text} of {endpoint(comparison.endpoint)} by {significant(100 * comparison.spread, 2)} %"
        f"{f' (a change beyond {short_percent(comparison.resolves)} shows)' if comparison.resolves is not None else ''}"
        for comparison in comparisons
        if comparison.spread is not None
    ]
    if not scatters:
        return (
            f"The noise of this runner is not known: {newest.baseline} has {counted(newest.earlier, 'good run')} of "
            f"this scenario, and {least} are needed."
        )
    more = len(scatters) - MOST_SCATTERS
    shown = [*scatters[:MOST_SCATTERS], *([f"{more} more figures"] if more > 0 else [])]
    return f"{counted(newest.earlier, 'good run')} of {newest.baseline} scatter: {listed(shown)}."


def unexplained_text(comparison: Comparison, shown: str) -> str:
    """Of a change for the worse that fails no build. shown: its ratio."""
    if comparison.word == "one run":
        return f"{shown}, which is much; how much of it is noise is unknown with one run each"
    return f"{shown}: beyond the scatter of {basis(comparison)}, but not certain as one of all comparisons"
