"""What became of a threshold: as values, and as it is recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from plimsoll.stats.thresholds.grammar import Threshold

ThresholdOutcome = Literal["passed", "broken", "not shown"]
VerdictBasis = Literal[
    "run", "run so far", "window", "worst window", "seconds in a row", "worst second",
    "too short", "no requests", "only in the warm-up", "never occurred",
]  # fmt: skip


class ThresholdReading(NamedTuple):
    """The subject of a threshold over some seconds. value None: no data."""

    value: float | None
    at_least: bool
    held: bool
    """It is not broken."""
    share: float = 0.0
    """How much of the value the generator may have added."""
    within_share: bool = False
    """The limit is between the value and the value without that share: it is not broken, but not shown to hold."""


NO_READING = ThresholdReading(None, at_least=False, held=False)


@dataclass(frozen=True, slots=True)
class ThresholdVerdict:
    """What became of a threshold, as values. `plimsoll.say.thresholds` has the words."""

    threshold: Threshold
    basis: VerdictBasis
    """What was read: all of the run, a window or a second of it; or why nothing was."""
    reading: ThresholdReading = NO_READING
    """held: the verdict, which in `for` is not that of a single second."""
    values: tuple[float, ...] = ()
    """Of the basis. run so far: its seconds. window, second: the last one of it; of the worst second also the most in a
    row that did not hold. too short: seconds measured."""
    nearest: str = ""
    """Of an endpoint that never occurred: the one that did with the most similar name."""

    @property
    def is_within_share(self) -> bool:
        """It is not broken, but not shown to hold because of the generator's share."""
        return self.reading.held and self.reading.within_share

    @property
    def may_hold(self) -> bool:
        """It is broken, and would not be without the requests that were given up on."""
        value, at_least, held, *_ = self.reading
        return value is not None and not held and at_least and self.threshold.holds(value)

    def with_detail(self, detail: str) -> ThresholdResult:
        """As it is recorded."""
        threshold, reading, within = self.threshold, self.reading, self.is_within_share
        return ThresholdResult(
            text=threshold.text,
            passed=reading.held and not within,
            value=reading.value,
            limit=threshold.limit,
            detail=detail,
            unit=threshold.unit,
            at_least=reading.at_least,
            share=reading.share,
            within_share=within,
            shown=not within and not self.may_hold,
        )


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """What became of a threshold."""

    text: str
    """As it was written."""
    passed: bool
    """Whether the run is shown to keep to it."""
    value: float | None
    """Of the whole run; of the first window that failed, or else the one that came nearest to it. None: no samples."""
    limit: float
    """What was asked for."""
    detail: str
    """One line for people: the value, and where it was."""
    unit: str = ""
    """Of value and limit: ms, %, /s, or "" for a count."""
    at_least: bool = False
    """The true value may be greater, because requests were given up on."""
    share: float = 0.0
    """How much of the value the generator may have added."""
    within_share: bool = False
    """The limit is within that share: the target may have kept to it, but that is not shown."""
    shown: bool = True
    """Whether the data show if the limit holds. They do not if it is within that share, or if requests were given up on
    that may have taken longer."""

    @property
    def outcome(self) -> ThresholdOutcome:
        if self.passed:
            return "passed"
        return "broken" if self.shown else "not shown"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Unknown fields, from a newer version, are ignored."""
        known = {field_.name: values[field_.name] for field_ in fields(cls) if field_.name in values}
        if known.get("within_share"):
            # Earlier versions let it pass.
            known |= {"passed": False, "shown": False}
        return cls(**known)
