"""The result of a comparison of two variants: one value per endpoint and metric, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from plimsoll.record.cells import CellKey

if TYPE_CHECKING:
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Against, Level

VerdictWord = Literal[
    "different", "negligible", "equivalent", "not distinguishable", "one run", "no verdict", "invalid"
]
"""different: certainly apart, as one of all comparisons of the study; by at least delta, if `Comparison.at_least`.
negligible: certainly apart, and certainly by less than delta. equivalent: within delta. not distinguishable: nothing of
this is certain. one run: the spread between runs is unknown. no verdict: too few requests or pairs, or nothing to
compare. invalid: a check failed."""


RemarkId = Literal[
    # Why there is no verdict.
    "not run", "no common repeat", "run invalid", "no endpoint", "not known", "failures not known", "not timed",
    "not known of both", "failure counts not known", "zero", "few requests", "few pairs",
    # What belongs to a verdict.
    "pairs left out", "runs left out", "not interleaved", "service times", "still warming up", "requests not known",
    "history", "signs disagree", "wider", "better length", "rounding step", "given up on", "look", "family",
    "full machine",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remark:
    """The values of each id are named in `plimsoll.say.remarks`, which makes its sentence."""

    id: RemarkId
    values: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    reason: Reason | None = None
    """Why pairs are left out."""


Reason: TypeAlias = "Remark | Finding"
"""Why something has no verdict. A finding: it blocks the verdict."""


@dataclass(frozen=True, slots=True)
class RunsNeeded:
    """The runs needed for a better result."""

    pairs: int
    """Additional pairs to distinguish a difference of delta from none at the observed spread."""
    minutes: float | None
    powered: int | None = None
    """Additional pairs for an 80 % chance to find a difference of delta."""
    longer: bool = False
    """The spread is mostly within runs: longer runs help more than additional ones."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """b against a, by one metric of one endpoint at one level. Ratios are b / a."""

    metric: Metric
    a: str
    """Variant."""
    b: str
    against: Against
    """The role of a in the comparison."""
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
    """b − a of failure shares, whose ratio is meaningless near 0 and has no interval."""
    difference_low: float | None = None
    """95 % confidence interval of the difference."""
    difference_high: float | None = None
    within_run: bool = False
    """The interval applies to these runs only."""
    at_least: bool = False
    """The whole interval is beyond delta."""
    reason: Reason | None = None
    """Why there is no verdict."""
    pairs: int = 0
    earlier: int = 0
    """Runs of a that were not run in pairs with b, and predict what b shows if nothing changed; 0: there are pairs."""
    interleaved: bool = False
    spread: float | None = None
    """Standard deviation of ln(ratio) between pairs."""
    p: float | None = None
    """Of no difference, by the t test on ln(ratio)."""
    p_flip: float | None = None
    """The same p-value by flipping signs: exact, without assuming a distribution."""
    q: float | None = None
    """p adjusted for all comparisons of the study (Holm, weighted); None without p."""
    primary: bool = False
    """It was declared to be what the question is about."""
    alpha: float | None = None
    """The p below which this comparison is certain whatever came of the others."""
    resolves: float | None = None
    """The relative difference that these runs can distinguish from none: 0.074 is ±7.4 %."""
    needed: RunsNeeded | None = None
    requests: int | None = None
    """The smallest number of requests behind a value in any run."""
    is_counted: bool = True
    """Whether that number was counted, not derived from the rate or rounded by the source."""
    tail: int | None = None
    """How many of these are above the quantile."""
    effect: float | None = None
    """Design effect: the requests are worth this many times fewer independent ones."""
    step: float | None = None
    """Relative step of the tool at these values."""
    warmup: float = 0.0
    checks: tuple[int, int] = (0, 0)
    """(passed, total)."""

    @property
    def cells(self) -> tuple[CellKey, CellKey]:
        """The two compared cells, that of a first."""
        return CellKey(self.a, self.level, self.operation), CellKey(self.b, self.level, self.operation)

    remarks: tuple[Remark, ...] = ()

    def cell(self, variant: str) -> CellKey:
        """Of one of its variants."""
        return CellKey(variant, self.level, self.operation)

    @property
    def full_machine(self) -> Remark | None:
        """The remark that the target had a small part of a full machine: then it is open how large a change is."""
        return next((remark for remark in self.remarks if remark.id == "full machine"), None)

    @property
    def better(self) -> bool | None:
        """Whether b is better than a; None if nothing certain and relevant is known."""
        if self.word != "different":
            return None
        if self.difference is not None:
            return (self.difference > 0) == self.metric.more_is_better
        if self.ratio is None:
            return None
        return (self.ratio > 1) == self.metric.more_is_better
