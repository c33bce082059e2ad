"""The fields of a run as JSON: what `run_json` writes, and what its schema and its reference page are made from.

Fields may be added under the same version. None is renamed, removed or given another meaning.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from plimsoll.load.json_schema import As
from plimsoll.stats.thresholds.watch import ThresholdResult

ByPercent = dict[str, float | None]
BySecond = dict[str, int]


class ShareFields(TypedDict):
    """share: how much of a time the generator may have added, in ms. The true value is between the figure less its
    share and the figure. 0 for service times."""

    mean: float | None
    """Of the mean."""
    max: float | None
    """Of the maximum."""
    percentiles: ByPercent
    """Of each percentile."""
    unclean: list[str]
    """The percentiles whose share is more than 5 % of them and more than 0.1 ms."""


class TimesFields(TypedDict):
    """response_ms, service_ms, time_ms: times in milliseconds, null where nothing was timed."""

    count: int
    """Exchanges with a time."""
    censored: int
    """Exchanges that reached a time limit; kept at the limit."""
    waited: int
    """Exchanges without a response; each would have taken at least as long as the wait for it."""
    overflow: int
    """Exchanges longer than 1 h, where percentiles end."""
    mean: float | None
    """Exact; with waits, the product-limit estimate (Kaplan–Meier)."""
    min: float | None
    """Exact; of service times to 3 significant digits."""
    max: float | None
    """Exact; of service times to 3 significant digits."""
    percentiles: ByPercent
    """`50` … `99.99`: the time at rank ⌈q · count⌉, to 3 significant digits, never rounded further; `100` is the
    maximum. With waits, the product-limit estimate (Kaplan–Meier)."""
    at_least: list[str]
    """The percentiles that are lower bounds, and `mean` if it is one: they would be greater if exchanges that timed out
    or had no response had lasted longer."""
    share: ShareFields
    """What the generator may have added."""


class LatenessFields(TypedDict):
    """lag_ms, delay_ms: how late the generator was, in milliseconds."""

    count: int
    """Exchanges."""
    mean: float | None
    """Null without any."""
    percentiles: ByPercent
    """`50` … `100`."""


class OutcomeFields(TypedDict):
    """outcomes: exchanges that ended in one way."""

    count: int
    """How many."""
    failure: bool
    """Whether it is one."""
    time_ms: TimesFields
    """The time until they ended."""


class PerSecondFields(TypedDict):
    """per_second: counts of second 0, 1, …; 0 in the seconds of the warm-up."""

    requests: list[int]
    """Requests."""
    failures: list[int]
    """Of these, those that failed."""


class RowFields(TypedDict):
    """total: an endpoint, or all together, in a list of runs."""

    method: str
    """Of the endpoint; "" for the total."""
    name: str
    """Of the endpoint; "Aggregated" for the total, "(others)" for the names beyond `--max-names`."""
    requests: int
    """Exchanges that ended by themselves, as success or failure, and those that failed because no response came."""
    failures: int
    """The requests that failed, of any kind."""
    rps: float
    """Exchanges that ended by themselves within `duration_s`, per second."""
    failures_per_s: float
    """Of the exchanges that ended by themselves, those that failed, per second of `duration_s`."""
    average_size: float
    """`bytes_body` per exchange that ended by itself."""
    retries: int
    """Requests sent again because a kept connection turned out to be closed; not counted in `requests`."""
    response_ms: TimesFields
    """Arrival − due: the time that a user waits. Of the outcomes success, http, assertion and timeout."""


class EndpointFields(RowFields):
    """endpoints, total: an endpoint, or all together."""

    completed: int
    """Exchanges that ended by themselves. Everything offered is completed, unanswered or dropped."""
    unanswered: int
    """Exchanges without a response when their user was stopped."""
    overdue: int
    """Of these, the ones that are failures and in `requests`, because they waited for so long."""
    dropped: int
    """Arrivals that were due and never sent; not in `requests`."""
    bytes_out: int
    """Bytes sent, on the wire."""
    bytes_in: int
    """Bytes received, on the wire."""
    bytes_body: int
    """Bytes of bodies, with content codings (gzip, br, zstd) undone. Native users do not undo them when no step looks
    at the body: then these are the bytes as transferred."""
    hops: int
    """Redirects followed."""
    connected: int
    """Requests that opened a connection."""
    connect_sum: int
    """Nanoseconds that this took: name resolution, connection set-up, TLS handshake."""
    service_ms: TimesFields
    """Arrival − sent, of the same outcomes as `response_ms`: the time that the target takes."""
    outcomes: dict[str, OutcomeFields]
    """By outcome: success, http, connect, tls, timeout, reset, protocol, assertion, unanswered, dropped."""
    per_second: PerSecondFields
    """The course of the run."""


class FailureFields(TypedDict):
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


class ExceptionFields(TypedDict):
    """exceptions: what the users' code did not catch, by the frames of its traceback."""

    message: str
    """Of the first one."""
    traceback: str
    """Its frames."""
    count: int
    """How often it came."""
    workers: list[int]
    """Numbers of the workers in which it came."""


class GeneratorFields(TypedDict):
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


class DescriptionFields(TypedDict):
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


class CheckFields(TypedDict):
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


class ValidityFields(TypedDict):
    """validity: whether the generator produced the load that was asked for."""

    valid: bool
    """Whether it did."""
    clean: bool
    """The generator has too small a share in every figure to matter, and in the throughput."""
    unclean: list[str]
    """The figures of which that is not true, in words."""
    checks: list[CheckFields]
    """In the order of the page on measuring."""


class OmissionFields(TypedDict):
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


class MachineFields(TypedDict):
    """machines: one machine of a run on several."""

    machine: str
    """Its name; several where a worker was replaced by one on another machine, as its figures are one sum."""
    workers: int
    """How many worker processes it had."""
    requests: int
    """Completed requests of these workers."""
    failures: int
    """Of these, the ones that failed."""
    share: float
    """Of the completed requests of all machines, 0 to 1."""
    rps: float
    """Completed requests per second."""
    p50_ms: float | None
    """Response time, of all requests that tell how long an answer takes."""
    p99_ms: float | None
    """The same."""
    cpu: float | None
    """CPU seconds per second of a worker, on average."""
    lag_p99_ms: float | None
    """Sent − due."""


class RunFields(TypedDict):
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
    thresholds: list[Annotated[dict[str, Any], As(ThresholdResult)]]
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
    total: EndpointFields
    """All endpoints together."""
    endpoints: list[EndpointFields]
    """By name, then method. Names beyond `--max-names` are one endpoint."""
    failures: list[FailureFields]
    """By message, the most frequent first."""
    exceptions: list[ExceptionFields]
    """The most frequent first."""
    generator: GeneratorFields
    """How well the load generator itself kept up."""
    machines: list[MachineFields]
    """What each machine has done; empty for a run on one machine."""
