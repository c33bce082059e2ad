"""What a comparison of two variants concludes: one value per endpoint and metric, with all that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Against, Level

VerdictWord = Literal[
    "different", "negligible", "equivalent", "not distinguishable", "one run", "no verdict", "invalid"
]
"""different: certainly apart; by at least delta, if `Comparison.at_least`. negligible: certainly apart, and certainly
by less than delta. equivalent: within delta. not distinguishable: nothing of this is certain. one run: the spread
between runs is unknown. no verdict: too few requests or pairs, or nothing to compare. invalid: a check failed."""


@dataclass(frozen=True, slots=True)
class RunsNeeded:
    """What it would take to say more."""

    pairs: int
    """More of them, to tell a difference of delta from none at the spread that was seen."""
    minutes: float | None
    powered: int | None = None
    """More pairs for an 80 % chance to find a difference of delta."""
    longer: bool = False
    """The spread is mostly that within a run: longer runs help more than further ones."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """b against a, by one metric of one endpoint at one level. Ratios are b / a."""

    metric: Metric
    a: str
    """Variant."""
    b: str
    against: Against
    """What a is to b."""
    endpoint: tuple[str, str]
    level: Level | None
    operation: str
    word: VerdictWord
    a_value: float | None = None
    """Geometric mean over the runs, in the metric's unit; arithmetic for shares."""
    b_value: float | None = None
    ratio: float | None = None
    low: float | None = None
    """95 % confidence interval of the ratio."""
    high: float | None = None
    difference: float | None = None
    """b − a of shares of failures, whose ratio says nothing near 0 and has no interval."""
    difference_low: float | None = None
    """95 % confidence interval of the difference."""
    difference_high: float | None = None
    within_run: bool = False
    """The interval holds for these very runs only."""
    at_least: bool = False
    """The whole interval lies beyond delta."""
    reason: str = ""
    """Why there is no verdict."""
    pairs: int = 0
    interleaved: bool = False
    spread: float | None = None
    """Standard deviation of ln(ratio) between pairs."""
    p: float | None = None
    """Of no difference, by the t test on ln(ratio)."""
    p_flip: float | None = None
    """The same p-value by flipping signs: exact, without any distribution."""
    q: float | None = None
    """p adjusted for the number of primary comparisons (Benjamini–Hochberg); None for others."""
    resolves: float | None = None
    """The relative difference that these runs can distinguish from none: 0.074 is ±7.4 %."""
    needed: RunsNeeded | None = None
    requests: int | None = None
    """The fewest that a value rests on in any run."""
    tail: int | None = None
    """How many of these lie above the quantile."""
    effect: float | None = None
    """Design effect: how many times fewer independent requests these are worth."""
    step: float | None = None
    """Relative step of the tool at these values."""
    warmup: float = 0.0
    checks: tuple[int, int] = (0, 0)
    """Passed, of so many."""
    remarks: tuple[str, ...] = field(default=())
    """As "within one rounding step", "with the bench's A/A history"."""

    @property
    def primary(self) -> bool:
        return self.q is not None

    @property
    def better(self) -> bool | None:
        """Whether b is better than a; None when nothing certain and relevant is known."""
        if self.word != "different":
            return None
        if self.difference is not None:
            return (self.difference > 0) == self.metric.more_is_better
        if self.ratio is None:
            return None
        return (self.ratio > 1) == self.metric.more_is_better
