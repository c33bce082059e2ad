"""Is the generator reliable? The results of `stats.validity` so far, as one statement.

A failed check makes it bad at once; a remark is a warning. In the first seconds some would be unfair: lag and delay
count once there are `validity.LEAST_FOR_P99` exchanges, CPU once there are `ENOUGH` seconds, because in fewer a single
busy second already exceeds the allowed `CPU_SHARE`. Before `EARLY` seconds after the warm-up it is too early for a
statement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll.stats.validity import CPU, CPU_SHARE, LEAST_FOR_P99

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.generator import GeneratorView
    from plimsoll.stats.validity import Validity, ValidityCheck
    from plimsoll.stats.view import RunView

EARLY = 3
ENOUGH = round(1 / CPU_SHARE)
COARSE = 0.01
"""Share of arrivals without a kernel stamp above which the p99 of the delay is not meaningful."""


ReliabilityKind = Literal["failed", "remark", "no worker", "early", "busy", "coarse", "reliable"]


@dataclass(frozen=True, slots=True)
class GeneratorReliability:
    """What can be said of the generator."""

    kind: ReliabilityKind
    """failed, remark: by checks in this state. early: too few exchanges or seconds. busy: its CPU was over its limit in
    the first seconds. coarse: arrivals without a kernel stamp."""
    numbers: GeneratorView
    checks: tuple[ValidityCheck, ...] = ()
    """In this state, the weightiest first."""
    unknown: tuple[str, ...] = ()
    """Names of the checks that cannot be made."""
    cpu_limit: float = 1.0
    """0…1, of a worker."""

    @property
    def unstamped(self) -> float:
        """0…1: share of the arrivals without a kernel stamp."""
        return self.numbers.user_stamps / self.numbers.delay.count if self.numbers.delay.count else 0.0


def generator(view: RunView, manifest: Manifest, validity: Validity) -> GeneratorReliability:
    state = view.generator
    checks = [check for check in validity.checks if not is_early(check, view)]
    if failed := tuple(check for check in checks if check.state == "failed"):
        return GeneratorReliability("failed", state, failed)
    if remarks := tuple(check for check in checks if check.state == "remark"):
        return GeneratorReliability("remark", state, remarks)
    if not state.workers:
        return GeneratorReliability("no worker", state)
    if len(view.whole_seconds) < EARLY or state.lag.count < LEAST_FOR_P99:
        return GeneratorReliability("early", state)
    unknown = tuple(check.name for check in validity.checks if check.state == "unknown")
    if any(check.state in ("failed", "remark") for check in validity.checks):
        limit = CPU["native" if manifest.is_native else "python"]
        return GeneratorReliability("busy", state, unknown=unknown, cpu_limit=limit)
    found = GeneratorReliability("reliable", state, unknown=unknown)
    return replace(found, kind="coarse") if found.unstamped > COARSE else found


def is_early(check: ValidityCheck, view: RunView) -> bool:
    """Whether a failed check would still be unfair."""
    return check.name == "cpu" and view.length is None and len(view.whole_seconds) < ENOUGH
