"""The fields of a run as JSON: what `run_json` writes, and what its schema and its reference page are made from.

Fields may be added under the same version. None is renamed, removed or given another meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.stats.generator import MachineFigures
from plimsoll.stats.table import RunRow
from plimsoll.stats.thresholds.verdict import ThresholdResult

ByPercent = dict[str, float | None]
BySecond = dict[str, int]


@dataclass(frozen=True, slots=True)
class LatenessFields:
    """lag_ms, delay_ms: how late the generator was, in milliseconds."""

    count: int
    """Exchanges."""
    mean: float | None
    """Null without any."""
    percentiles: ByPercent
    """`50` … `100`."""


@dataclass(frozen=True, slots=True)
class FailureFields:
    """failures: of one message."""

    method: str
    """Of the endpoint."""
    name: str
    """Of the endpoint."""
    outcome: str
    """How they ended."""
    message: str
    """Messages that differ only in changing parts are one failure: it then has placeholders."""
    example: str | None
    """The first of these messages; null if it was always the same."""
    count: int
    """How often it came."""
    first: float
    """Time of day of the first one."""
    last: float
    """Time of day of the last one."""


@dataclass(frozen=True, slots=True)
class ExceptionFields:
    """exceptions: what the users' code did not catch, by the frames of its traceback."""

    message: str
    """Of the first one."""
    traceback: str
    """Its frames."""
    count: int
    """How often it came."""
    workers: list[int]
    """Numbers of the workers in which it came."""


@dataclass(frozen=True, slots=True)
class GeneratorFields:
    """generator: how well the load generator itself kept up."""

    workers: int
    """How many worker processes reported."""
    lag_ms: LatenessFields
    """Sent − due: how late the generator sent."""
    delay_ms: LatenessFields
    """Read − arrival: how long answers lay unread."""
    cpu_max: float | None
    """CPU seconds per second of the busiest worker in its busiest second."""
    user_stamps: int
    """Exchanges whose arrival this program stamped, not the kernel."""
    rejected_stamps: int
    """Of these, those whose kernel stamp contradicted the order of events."""
    offered: int
    """Arrivals of the open model that were due."""
    dropped: int
    """Of these, those never sent."""
    exhausted: int
    """Exchanges that failed because the generator ran out of files, ports or memory."""
    sent: int
    """Of `offered`, those that a user took."""
    retransmissions: int | None
    """TCP segments that the systems of the workers sent again on their connections; null if they do not say."""
    users_by_second: BySecond
    """Users alive at the end of each second."""
    silence_ms_by_second: BySecond
    """The longest time for which a worker with users stood still; seconds without are left out."""
    in_flight_by_second: BySecond
    """Exchanges in flight at the end of each second."""
    waiting_by_second: BySecond
    """Arrivals that waited for a user at the end of each second."""
    offered_by_second: BySecond
    """Arrivals that were due."""


@dataclass(frozen=True, slots=True)
class DescriptionFields:
    """run: the circumstances."""

    id: str
    """The minute of the start in UTC, and four characters: `20261120-1301-7f3k`."""
    status: str
    """running, finished, stopped, failed, or interrupted: its writer died without closing it."""
    started: float
    """Time of day of second 0."""
    ended: float | None
    """Time of day of the end; null while there is none."""
    experiment: str | None
    """The experiment that it belongs to."""
    manifest: dict[str, Any]
    """What is needed to repeat it: command, plan, seed, versions, git commit, kernel, CPU, machine (governor, usable
    CPUs, CPU quota and memory limit of the control group, somaxconn), limits. Passwords in URLs are masked."""
    notes: list[str]
    """What the reader must know: a worker that died, seconds that were not stored."""
    facts: dict[str, Any]
    """What was found out during the run, and is the basis of the verdict. A missing fact is not known."""


@dataclass(frozen=True, slots=True)
class CheckFields:
    """checks: one of [measuring](../measuring.md#is-this-run-valid)."""

    name: str
    """What was checked."""
    state: Literal["ok", "remark", "failed", "unknown", "n/a"]
    """remark: readers should know, but the run is valid; failed: one of these makes the run invalid; unknown: the data
    for the check is not stored; n/a: the check does not apply to the load model."""
    value: float | None
    """What was found; null where that is not one number."""
    limit: float | None
    """What was allowed."""
    text: str
    """The same in words, with units."""


@dataclass(frozen=True, slots=True)
class ValidityFields:
    """validity: whether the generator produced the load that was asked for."""

    valid: bool
    """Whether it did."""
    clean: bool
    """The generator has too small a share in every figure to matter, and in the throughput."""
    unclean: list[str]
    """The figures of which that is not true, in words."""
    checks: list[CheckFields]
    """In the order of the page on measuring."""


@dataclass(frozen=True, slots=True)
class OmissionFields:
    """omission: what independent clients at the run's own pace would have seen, modelled from it."""

    warning: str | None
    """Null if the run hides nothing that matters."""
    rate: float
    """Requests in a typical second."""
    interval_s: float
    """From one request of a user to its next at that pace."""
    recorded_ms: dict[str, float]
    """Response time percentiles as recorded."""
    modelled_ms: dict[str, float]
    """As those clients would have seen them."""
    stalls: int
    """Exchanges that took so long that their users missed requests."""
    missed: int
    """How many requests would have come meanwhile."""


@dataclass(frozen=True, slots=True)
class RunFields:
    """document: a run with all that is known of it."""

    schema: Literal["plimsoll.run"]
    """The format."""
    version: Literal[3]
    """Of the format. Version 2 had `cancelled` for `unanswered`, and no such exchange was a failure. Version 1 counted
    dropped exchanges as failed requests, and had no warm-up and no verdict."""
    run: DescriptionFields | None
    """The circumstances; null for a run that was not stored."""
    validity: ValidityFields
    """Whether the generator produced the load that was asked for."""
    thresholds: list[ThresholdResult]
    """One object per threshold of the run, in the order given."""
    omission: OmissionFields | None
    """What a closed model did not see; null in the open model, and for a run that is too small or too uneven for a
    statement."""
    warmup_s: int
    """Whole seconds from the start that are left out of everything below."""
    times_of: str
    """Whose times `response_ms` and `service_ms` are: all, or successes with `--times-of successes`."""
    duration_s: float
    """Seconds that rates are taken over: the time of the load, without the warm-up, and without the time that the run
    waited for responses after it."""
    total: RunRow
    """All endpoints together."""
    endpoints: list[RunRow]
    """By name, then method. Names beyond `--max-names` are one endpoint."""
    failures: list[FailureFields]
    """By message, the most frequent first."""
    exceptions: list[ExceptionFields]
    """The most frequent first."""
    generator: GeneratorFields
    """How well the load generator itself kept up."""
    machines: list[MachineFigures]
    """What each machine has done; empty for a run on one machine."""
