"""Messages between page and server. Times are ms, sizes bytes, moments Unix seconds, unless stated otherwise.

The TypeScript types of the page are made from these classes (`plimsoll.server.contract`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.load.shapes.shape import FormShape
from plimsoll.report.document.blocks import ChartSpec
from plimsoll.say.headline import RunHeadline

Status = Literal[
    "preparing", "spawning", "running", "stopping", "finished", "stopped", "failed", "interrupted", "damaged"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """The body of every response that is not 2xx."""

    error: str
    """For people: what is wrong, and how to fix it."""
    field: str = ""
    """The form field at fault, if any."""
    others: tuple[Problem, ...] = ()
    """More problems of the form."""


# The form


@dataclass(frozen=True, slots=True)
class UserClassItem:
    name: str
    weight: float
    fixed_count: int
    tasks: tuple[str, ...]
    host: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """An option that the locustfile adds, as the form shows it."""

    name: str
    """Name in `parsed_options`."""
    label: str
    help: str
    kind: Literal["text", "checkbox", "select", "multiple", "secret"]
    value: str | bool | tuple[str, ...]
    """The default; never of a secret."""
    choices: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A requested run, and the initial content of the form. Durations and loads are texts as on the command line: "2m",
    "900/s", "30s:100/s,1m:900/s"."""

    model: Literal["closed", "open"] = "closed"
    users: int = 1
    spawn_rate: float = 1.0
    rate: str = ""
    """Of the open model."""
    shape: str = "constant"
    """The name of a `FormShape`. constant: users, or a rate; plan: the load of the plan file."""
    shape_text: str = ""
    """The value of `--ramp`, `--stages`, …, for shapes other than constant and plan."""
    shape_class: str = ""
    """A LoadTestShape of the locustfile; "" for none, shown as Default."""
    run_time: str = ""
    """"": until stopped."""
    warmup: str = ""
    stop_timeout: str = ""
    host: str = ""
    classes: tuple[str, ...] = ()
    """User classes to run; () for all."""
    class_settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name of a user class: attributes that override the locustfile's, e.g. weight, fixed_count, host, tasks."""
    tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    arguments: dict[str, str | bool | tuple[str, ...]] = field(default_factory=dict)
    """Of the locustfile, by name."""
    profile: str = ""
    name: str = ""
    thresholds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadCurve:
    """The load that a request asks for, over time."""

    unit: Literal["users", "/s"]
    seconds: float
    """What is drawn: the whole load, or the first part of one without an end. > 0."""
    is_endless: bool
    """The load lasts until somebody stops it."""
    levels: tuple[float, ...]
    """Users, or arrivals per second, at equal distances from 0 to `seconds`; () if the locustfile decides on them, or
    if the request cannot be read."""


@dataclass(frozen=True, slots=True)
class Form:
    """What can be requested."""

    source: str
    """The locustfile, plan or URL."""
    is_native: bool
    """No locustfile: no classes, tags or arguments."""
    classes: tuple[UserClassItem, ...]
    shape_classes: tuple[str, ...]
    tags: tuple[str, ...]
    arguments: tuple[Argument, ...]
    request: RunRequest
    """The initial content: the command line, or the last run of this page."""
    shapes: tuple[FormShape, ...] = ()
    has_shape: bool = False
    """The locustfile has a LoadTestShape, which decides the users unless another is chosen."""
    has_plan: bool = False
    """A plan file defines the load."""
    first_source: str = ""
    """The source of the command line, while that of the form is a scenario which the page has sent; else ""."""
    error: str = ""
    """Why no run can start, e.g. the locustfile cannot be read."""


@dataclass(frozen=True, slots=True)
class LoadChange:
    """A change of the load of a run in progress. None: unchanged."""

    users: int | None = None
    spawn_rate: float | None = None
    classes: tuple[str, ...] | None = None
    rate: str | None = None
    """Of the open model: e.g. "900/s" from now on, in place of the planned rate."""


# A run in progress


@dataclass(frozen=True, slots=True)
class WorkerItem:
    index: int
    users: int
    cpu: float
    """Seconds per second."""
    lag_p99: float | None
    delay_p99: float | None
    in_flight: int
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """The run that the page shows, in progress or over."""

    run: str
    """Id in the store; "" before it has one, and if it is not stored."""
    number: int
    """Counts the runs of this process from 1."""
    name: str
    title: str
    """Name, load and host."""
    status: Status
    model: Literal["closed", "open"]
    load: str
    """E.g. "50 users", "open model, 900/s"."""
    host: str
    started: float | None
    """Start of second 0."""
    elapsed: float
    """s since the start; the length of a run that is over."""
    left: float | None
    """s left; None: until stopped."""
    users: int
    wanted: int | None
    workers: int
    warmup: float
    """s at the start that no table includes."""
    is_editable: bool
    """Its load can be changed during the run."""
    message: str = ""
    """Why it failed, or its result."""
    exit_code: int | None = None
    """Of a run that is over."""


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint, or all of them ("", "Aggregated"). Times are None if no exchange was timed."""

    method: str
    name: str
    requests: int
    failures: int
    unanswered: int
    """No response had come when the user was stopped, or the waiting for it ended."""
    rps: float
    failures_per_s: float
    current_rps: float
    """Over the last 10 s, like the other current_ fields."""
    current_failures_per_s: float
    current_p50: float | None
    current_p95: float | None
    current_p99: float | None
    mean: float | None
    min: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float | None
    service_p50: float | None
    service_p99: float | None
    size: float
    """Mean size of the decoded bodies."""
    waited_s: float
    """The sum of the response times, in s."""
    at_least: tuple[str, ...] = ()
    """Names of the times that are lower bounds because they include timeouts."""
    shares: dict[str, float] = field(default_factory=dict)
    """By name of a time: ms that the generator may have added. Only where this is significant."""
    few: tuple[str, ...] = ()
    """Names of the percentiles with so few exchanges (p99: fewer than 368) that the slowest ones decide them."""


Rows = dict[str, list[dict[str, Any]]]
"""New rows of a chart, by data set."""


@dataclass(frozen=True, slots=True)
class LogLine:
    at: float
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class LiveUpdate:
    """The event about once a second: SSE, event "moment", with `sequence` as its id."""

    sequence: int
    """Counts up by one within this process."""
    test: Test | None
    """None: no run has started yet."""
    headline: RunHeadline | None
    total: EndpointRow | None
    rows: tuple[EndpointRow, ...]
    """Changed endpoints; the first event of a connection has all."""
    is_whole: bool
    """`rows` are all endpoints: drop others."""
    row_age: int
    """Seconds between updates of a row during the run: 1, or more with hundreds of endpoints."""
    appended: dict[str, Rows]
    """By name of a chart in the response of `/api/live/charts` for the same endpoint."""
    is_outdated: bool
    """The charts must be requested again: their axes have changed, or it is another run."""
    failures: int
    """Kinds of failures so far. When it changes, request `/api/live/failures`. The counts there change as well."""
    exceptions: int
    workers: tuple[WorkerItem, ...]
    log: tuple[LogLine, ...]
    """New lines."""


@dataclass(frozen=True, slots=True)
class LiveCharts:
    """Charts of all endpoints together, or of one."""

    charts: tuple[ChartSpec, ...]
    config: dict[str, Any]
    sequence: int
    """Of the last event they include; later events add to them."""


@dataclass(frozen=True, slots=True)
class FailureItem:
    method: str
    name: str
    outcome: str
    message: str
    count: int
    share: float
    """0…1, of the endpoint's requests so far."""
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class ExceptionItem:
    message: str
    traceback: str
    count: int
    workers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskRatio:
    name: str
    ratio: float
    """0…1, of its parent."""
    total: float
    """0…1, of the total."""
    tasks: tuple[TaskRatio, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """The page requests it first."""

    version: str
    token: str
    """Sent as `X-Plimsoll-Token` with every change."""
    mode: Literal["run", "serve"]
    store: str
    """The location of the store, for people."""
    form: Form | None
    """None: no run can be started here."""
    test: Test | None


# History


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in short; the same numbers as on its page."""

    requests: int
    failures: int
    unanswered: int
    """Requests without a response when their user was stopped."""
    rate: float
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None
    duration: float
    """s measured."""
    is_valid: bool
    reasons: tuple[str, ...] = ()
    """Why it is not valid."""
    at_least: tuple[str, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)
    """As in `EndpointRow`."""


@dataclass(frozen=True, slots=True)
class RunItem:
    id: str
    name: str
    title: str
    """As in `Test`."""
    status: Status
    started: float
    ended: float | None
    host: str
    source: str
    load: str
    experiment: str
    commit: str
    tags: tuple[str, ...]
    note: str
    summary: Summary | None
    """None while it is in progress, and if it cannot be read."""
    series: str = ""
    """The key of its `SeriesItem`; "" for a cell of an experiment."""


@dataclass(frozen=True, slots=True)
class RunList:
    runs: tuple[RunItem, ...]
    """The latest first."""
    total: int
    """Number of matches; `runs` are some of them."""
    tags: tuple[str, ...]
    """All tags in use."""


@dataclass(frozen=True, slots=True)
class Label:
    """What people note about a run or an experiment. None: unchanged."""

    tags: tuple[str, ...] | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ExperimentItem:
    name: str
    question: str
    status: str
    created: float
    ended: float | None
    cells: dict[str, int]
    """By state."""
    runs: int
    tags: tuple[str, ...]
    note: str
    is_aa: bool = False
    is_imported: bool = False
    """Imported from another tool or a published table: it has a page, but no cells."""


@dataclass(frozen=True, slots=True)
class CellItem:
    number: int
    variant: str
    level: str
    operation: str
    repeat: int
    state: str
    reason: str
    run: str
    summary: Summary | None


@dataclass(frozen=True, slots=True)
class Matrix:
    """An experiment as its cells."""

    experiment: ExperimentItem
    variants: tuple[str, ...]
    levels: tuple[str, ...]
    operations: tuple[str, ...]
    repeats: int
    cells: tuple[CellItem, ...]
    has_page: bool
    """Something was measured: there is a report."""


@dataclass(frozen=True, slots=True)
class SeriesItem:
    """Runs of the same source, target and load, so that their numbers are comparable."""

    key: str
    label: str
    runs: int
    latest: float


@dataclass(frozen=True, slots=True)
class TrendPoint:
    run: str
    started: float
    commit: str
    value: float | None
    is_valid: bool
    name: str


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The metric changed permanently between two runs."""

    run: str
    """The first run after the change."""
    before: float
    """Mean of the values since the previous change or the start."""
    after: float
    change: float | None
    """after / before − 1; None if before is 0."""
    p: float
    is_worse: bool
    text: str


@dataclass(frozen=True, slots=True)
class Trend:
    series: SeriesItem
    metric: str
    unit: str
    points: tuple[TrendPoint, ...]
    """The oldest first."""
    changes: tuple[ChangePoint, ...]
    chart: ChartSpec | None
    config: dict[str, Any]
    notes: tuple[str, ...]
    """Caveats: too few runs, invalid ones left out."""
    metrics: tuple[str, ...] = ()
    """All metrics that can be requested."""
