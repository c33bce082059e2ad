"""A check of a run before its numbers are used, and the results of all checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

ACHIEVED = 0.99
"""Minimum share of the requested load that was put on the target."""

ENDED = "ended"
"""The check that tells whether the run went on to its end."""

OF_RECORD = frozenset({"percentiles", "little", "stored"})
"""Checks of the record alone. If only these fail, the load may have been the load asked for."""

CheckState = Literal["ok", "remark", "failed", "unknown", "n/a"]


@dataclass(frozen=True, slots=True)
class ValidityCheck:
    """One check and its result. value and limit are in the unit of the text; None if there is none."""

    name: str
    state: CheckState
    """failed: the run is invalid. remark: it is valid, but readers should know. unknown: data for the check is missing.
    n/a: the check does not apply."""
    value: float | None
    limit: float | None
    text: str
    """One line for people."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The checks in their order."""

    checks: tuple[ValidityCheck, ...]

    @property
    def valid(self) -> bool:
        """Nothing failed."""
        return not self.reasons

    @property
    def reasons(self) -> list[str]:
        """Why it is invalid."""
        return [check.text for check in self.checks if check.state == "failed"]

    @property
    def unfit(self) -> tuple[str, ...]:
        """Why the run counts in no comparison: because it is invalid, or has not ended."""
        ended = self.named(ENDED)
        return (*self.reasons, *([ended.text] if ended is not None and ended.state == "unknown" else ()))

    @property
    def remarks(self) -> list[str]:
        """Notes for readers of a valid run, a sentence or two each."""
        return [check.text for check in self.checks if check.state == "remark"]

    def named(self, name: str) -> ValidityCheck | None:
        return next((check for check in self.checks if check.name == name), None)


def ms(milliseconds: float) -> str:
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds:.0f} ms"


def about(milliseconds: float) -> str:
    """Two digits: more would be meaningless for a bound."""
    return f"{milliseconds:.2g} ms" if milliseconds < 99.5 else f"{milliseconds:.0f} ms"


def percent(share: float) -> str:
    """Never 100 % of less than all."""
    return f"{math.floor(share * 1000) / 10:g} %"


def count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
