"""Facts about a run besides its numbers: what was found out while it went on, and what its verdict rests on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from plimsoll.record.codec import JsonObject
from plimsoll.record.events import (
    ClockStepped,
    FeederEnded,
    GuardStopped,
    Resumed,
    StoreLost,
    WorkerLost,
    WorkerReplaced,
    WorkerSeconds,
)
from plimsoll.record.observed import ObservedSource

MATERIAL_SHARE = 0.01
"""Share of throttled periods. With a smaller share, only requests above the p99 waited for the next period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeReset(JsonObject):
    """Counts before a reset by hand, which are part of the sums that the store has."""

    failures: tuple[tuple[Any, ...], ...] = ()
    """Method, name, outcome, message and count of each kind of failure."""
    exceptions: tuple[tuple[Any, ...], ...] = ()
    """The last two values of each exception are its traceback and its count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRows(JsonObject):
    """How much the coordinator gave to the store."""

    exchanges: int = 0
    """With those of the warm-up."""
    reports: int = 0
    """Of workers, each about a second."""


@dataclass(frozen=True, slots=True)
class CpuPeriods(JsonObject):
    """How often a group's CPU time was shared out, usually every 0.1 s, and how often it ran out before the next."""

    periods: int = 0
    throttled: int = 0

    @property
    def is_material(self) -> bool:
        return self.throttled > MATERIAL_SHARE * self.periods


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts(JsonObject):
    """A machine on which workers ran. Times of its clock are in ms, relative to the coordinator's clock."""

    WRITES_NULL: ClassVar[bool] = False

    host: str = ""
    workers: tuple[int, ...] = ()
    """Indices of its workers."""
    machine: str | None = None
    """Its name for people, if that is not the name of the host."""
    clock_offset_ms: float | None = None
    """As it was used, ± `clock_error_ms`."""
    clock_error_ms: float | None = None
    clock_moved_ms: float | None = None
    """Since then, ± `clock_moved_error_ms`."""
    clock_moved_error_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts(JsonObject):
    """The machines of a run that uses several machines."""

    files_sha256: str | None = None
    """SHA-256 of the files that were sent to the machines."""
    machines: tuple[MachineFacts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts(JsonObject):
    """Facts of a run. One that is not known, or did not happen, is null; then it is not written."""

    WRITES_NULL: ClassVar[bool] = False

    lost_workers: int | None = None
    """How many workers were lost."""
    lost: tuple[WorkerLost, ...] | None = None
    """The lost workers, and what happened to them. Older versions stored only their number."""
    clock_step_ms: float | None = None
    """The largest step of the system's clock; 0: there was none."""
    clock_steps: tuple[ClockStepped, ...] | None = None
    """All of them. Older versions stored only the largest."""
    coordinator_silence_s: float | None = None
    """The longest time for which the coordinating process stood still."""
    thresholds: tuple[dict[str, Any], ...] | None = None
    """The thresholds and how they ended, as `ThresholdResult` writes them."""
    edits: tuple[tuple[int, str], ...] | None = None
    """Changes of the load by hand: the second, and what was changed."""
    incomplete: tuple[WorkerSeconds, ...] | None = None
    """Seconds from which something that a lost worker measured may be missing."""
    replaced: tuple[WorkerReplaced, ...] | None = None
    """Workers that took the place of lost ones, and the seconds without them."""
    load_taken_over: bool | None = None
    """The other workers took over the load of a lost one."""
    load_cut_s: float | None = None
    """Seconds after second 0 at which the workers ended their load, because the coordinating process stood still."""
    resumed: tuple[Resumed, ...] | None = None
    load_end: float | None = None
    """Seconds after second 0 at which the load of the open model ended."""
    reset_at: int | None = None
    """The second from which the run counts, after a reset by hand."""
    before_reset: BeforeReset | None = None
    start_error_ms: float | None = None
    """By how much the beginning of second 0 differed between workers, at most."""
    cluster: ClusterFacts | None = None
    cpu_periods: CpuPeriods | None = None
    """CPU periods of the workers' control group; None if the group has no limit."""
    observed: dict[str, ObservedSource] | None = None
    """What is known of the target, by source. `Server-Timing` and `traceparent` are sources, too."""
    guard_stopped: GuardStopped | None = None
    """The guard rail or other limit that ended the run."""
    feeder_ended: FeederEnded | None = None
    """The feeder whose rows ran out, which ended the run."""
    recorded: RecordedRows | None = None
    store_lost: tuple[StoreLost, ...] | None = None
    """Times in which the store could not be written."""
    not_stored: str | None = None
    """The parts of the run that the store does not have, in words."""

    @property
    def missing_workers(self) -> frozenset[int]:
        """Indices of the lost workers that no other worker has replaced."""
        left = Counter(event.worker for event in self.lost or ())
        left.subtract(event.worker for event in self.replaced or ())
        return frozenset(worker for worker, count in left.items() if count > 0)
