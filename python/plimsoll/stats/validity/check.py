"""A check of a run before its numbers are used, and the results of all checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

ACHIEVED = 0.99
"""Minimum share of the requested load that was put on the target."""

ENDED = "ended"
"""The check that tells whether the run went on to its end."""

OF_RECORD = frozenset({"percentiles", "little", "stored"})
"""Checks of the record alone. If only these fail, the load may have been the load asked for."""

CheckState = Literal["ok", "remark", "failed", "unknown", "n/a"]


@dataclass(frozen=True, slots=True)
class ValidityCheck:
    """One check and its result, as values. Each kind is a class of its own; `plimsoll.say.validity` has the words."""

    name: ClassVar[str]
    state: CheckState
    """failed: the run is invalid. remark: it is valid, but readers should know. unknown: data for the check is missing.
    n/a: the check does not apply."""
    value: float | None = None
    """What was found; None where that is not one number."""
    limit: float | None = None
    """What is allowed, in the unit of the value."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The checks in their order."""

    checks: tuple[ValidityCheck, ...]

    @property
    def valid(self) -> bool:
        """Nothing failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[ValidityCheck, ...]:
        """Why it is invalid."""
        return self._in_state("failed")

    @property
    def unfit(self) -> tuple[ValidityCheck, ...]:
        """Why the run counts in no comparison: because it is invalid, or has not ended."""
        ended = self.named(ENDED)
        return (*self.failed, *([ended] if ended is not None and ended.state == "unknown" else ()))

    @property
    def remarks(self) -> tuple[ValidityCheck, ...]:
        """What readers of a valid run should know."""
        return self._in_state("remark")

    def named(self, name: str) -> ValidityCheck | None:
        return next((check for check in self.checks if check.name == name), None)

    def _in_state(self, state: CheckState) -> tuple[ValidityCheck, ...]:
        return tuple(check for check in self.checks if check.state == state)
