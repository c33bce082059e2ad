"""What the page and the server say to each other. Times are ms, sizes bytes, moments Unix seconds, unless they say so.

The TypeScript types of the page are made from these classes (`plimsoll.server.contract`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.load.shapes.shape import FormShape
from plimsoll.report.document.blocks import ChartSpec
from plimsoll.stats.headline import RunHeadline

Status = Literal[
    "preparing", "spawning", "running", "stopping", "finished", "stopped", "failed", "interrupted"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """The body of every answer that is not 2xx."""

    error: str
    """For people: what is wrong, and what to do."""
    field: str = ""
    """Of the form, if it is about one."""
    others: tuple[Problem, ...] = ()
    """What else is wrong with the form."""


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
    """An option that the locustfile has added, as the form asks for it."""

    name: str
    """As in `parsed_options`."""
    label: str
    help: str
    kind: Literal["text", "checkbox", "select", "multiple", "secret"]
    value: str | bool | tuple[str, ...]
    """Its default; of a secret never."""
    choices: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run that somebody asks for: also what the form is filled with at first. Durations and loads are texts, as
    they are typed on the command line: "2m", "900/s", "30s:100/s,1m:900/s"."""

    model: Literal["closed", "open"] = "closed"
    users: int = 1
    spawn_rate: float = 1.0
    rate: str = ""
    """Of the open model."""
    shape: str = "constant"
    """The name of a `FormShape`. constant: users, or a rate; plan: as the plan file says."""
    shape_text: str = ""
    """The value of `--ramp`, `--stages`, …, for shapes other than constant and plan."""
    shape_class: str = ""
    """A LoadTestShape of the locustfile; "" for none, which is called Default."""
    run_time: str = ""
    """"" is until stopped."""
    warmup: str = ""
    stop_timeout: str = ""
    host: str = ""
    classes: tuple[str, ...] = ()
    """User classes that take part; () is all."""
    class_settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name of a user class: attributes in place of the locustfile's, as weight, fixed_count, host, tasks."""
    tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    arguments: dict[str, str | bool | tuple[str, ...]] = field(default_factory=dict)
    """Of the locustfile, by name."""
    profile: str = ""
    name: str = ""
    thresholds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """What can be asked for."""

    source: str
    """The locustfile, plan or URL."""
    is_native: bool
    """No locustfile: there are no classes, tags, arguments."""
    classes: tuple[UserClassItem, ...]
    shape_classes: tuple[str, ...]
    tags: tuple[str, ...]
    arguments: tuple[Argument, ...]
    request: RunRequest
    """What it is filled with: the command line, or the last run of this page."""
    shapes: tuple[FormShape, ...] = ()
    has_shape: bool = False
    """The locustfile has a LoadTestShape, which decides the users unless another is chosen."""
    has_plan: bool = False
    """A plan file says the load."""
    error: str = ""
    """Why nothing can be started: the locustfile cannot be read, say."""


@dataclass(frozen=True, slots=True)
class LoadChange:
    """Of the load of a run that goes on. None: as it is."""

    users: int | None = None
    spawn_rate: float | None = None
    classes: tuple[str, ...] | None = None
    rate: str | None = None
    """Of the open model: "900/s" from now on, in place of what was planned."""


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
    """The run that the page shows: in progress, or over."""

    run: str
    """Its id in the store; "" before it has one, and for one that was not kept."""
    number: int
    """How many runs this process has had, this one included."""
    name: str
    title: str
    """What it is: name, load and host."""
    status: Status
    model: Literal["closed", "open"]
    load: str
    """In words: "50 users", "open model, 900/s"."""
    host: str
    started: float | None
    """Of second 0."""
    elapsed: float
    """s since then; the length of a run that is over."""
    left: float | None
    """s to go; None: until somebody stops it."""
    users: int
    wanted: int | None
    workers: int
    warmup: float
    """s from the start that are in no table."""
    is_editable: bool
    """Its load may be changed while it goes on."""
    message: str = ""
    """Why it failed; what came of it."""
    exit_code: int | None = None
    """Once it is over."""


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint, or all of them ("", "Aggregated"). Times are None where nothing was timed."""

    method: str
    name: str
    requests: int
    failures: int
    rps: float
    failures_per_s: float
    current_rps: float
    """Over the last 10 s, like the other current numbers."""
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
    """Mean of the decoded bodies."""
    at_least: tuple[str, ...] = ()
    """Names of the times that are lower bounds: timeouts are among them."""
    shares: dict[str, float] = field(default_factory=dict)
    """By name of a time: how many ms of it the generator may have added. Only where that is enough to matter."""
    few: tuple[str, ...] = ()
    """Names of the percentiles that rest on so few exchanges (for a p99 fewer than 368) that the slowest decide."""


Rows = dict[str, list[dict[str, Any]]]
"""Rows to be added to the data sets of a chart, by data set."""


@dataclass(frozen=True, slots=True)
class LogLine:
    at: float
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class LiveUpdate:
    """What the event stream says about once a second: SSE, event "moment", with `sequence` as its id."""

    sequence: int
    """Of this process; grows by one."""
    test: Test | None
    """None: nothing has been started yet."""
    headline: RunHeadline | None
    total: EndpointRow | None
    rows: tuple[EndpointRow, ...]
    """Endpoints that have changed; the first moment of a connection has all."""
    is_whole: bool
    """`rows` are all endpoints there are: forget others."""
    row_age: int
    """Seconds after which each row is sent again while the run goes on: 1, and more with hundreds of endpoints."""
    appended: dict[str, Rows]
    """By name of a chart, of those that `/api/live/charts` gave for the same endpoint."""
    is_outdated: bool
    """The charts must be asked for again: their axes no longer do, or the run is another one."""
    failures: int
    """Different failures so far; asked for with `/api/live/failures` when it changes. Counts in it change too."""
    exceptions: int
    workers: tuple[WorkerItem, ...]
    log: tuple[LogLine, ...]
    """New lines."""


@dataclass(frozen=True, slots=True)
class LiveCharts:
    """Of all endpoints, or of one."""

    charts: tuple[ChartSpec, ...]
    config: dict[str, Any]
    sequence: int
    """Of the moment up to which they are drawn; later ones add to them."""


@dataclass(frozen=True, slots=True)
class FailureItem:
    method: str
    name: str
    outcome: str
    message: str
    count: int
    share: float
    """0…1, of the requests that the endpoint had by then."""
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
    """0…1, of what it is a part of."""
    total: float
    """0…1, of everything."""
    tasks: tuple[TaskRatio, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """The page asks for it first."""

    version: str
    token: str
    """To be sent as `X-Plimsoll-Token` with everything that changes something."""
    mode: Literal["run", "serve"]
    store: str
    """Where runs are kept, for people."""
    form: Form | None
    """None: no run can be started here."""
    test: Test | None


# History


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in short; the same numbers as its page has."""

    requests: int
    failures: int
    rate: float
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None
    duration: float
    """s that were measured."""
    is_valid: bool
    reasons: tuple[str, ...] = ()
    """Why it is not."""
    at_least: tuple[str, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)
    """As those of an `EndpointRow`."""


@dataclass(frozen=True, slots=True)
class RunItem:
    id: str
    name: str
    title: str
    """As of a `Test`."""
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
    """None while it goes on, and for one that cannot be read."""
    series: str = ""
    """The key of its `SeriesItem`; "" for a cell of an experiment."""


@dataclass(frozen=True, slots=True)
class RunList:
    runs: tuple[RunItem, ...]
    """The latest first."""
    total: int
    """How many match, of which these are some."""
    tags: tuple[str, ...]
    """All that are in use."""


@dataclass(frozen=True, slots=True)
class Label:
    """What people say of a run or an experiment. None: leave it."""

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
    """Read from another tool's results or a published table: it has a page, and no cells."""


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
    """Something was measured, so there is a report."""


@dataclass(frozen=True, slots=True)
class SeriesItem:
    """Runs of one kind: the same source, target and load, so that their numbers can be put in a row."""

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
    """Between two runs the metric changed for good."""

    run: str
    """The first run after it."""
    before: float
    """Mean of the values up to the change before, or the beginning."""
    after: float
    change: float | None
    """after / before − 1; None after 0."""
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
    """What to keep in mind: too few runs, invalid ones left out."""
    metrics: tuple[str, ...] = ()
    """All that can be asked for."""
