"""Runs that are analysed together, from any tool: the input of every comparison and every finding.

A `Study` is a set of `Trial`s. A trial is one run for statistics: its variant and level, and the `Measured` values of
each endpoint. Our own runs have histograms and their `Course` second by second; a table from another report has a few
numbers. Unknown values are None; code that needs them reports it and does not guess.

Times are in ms, durations in seconds, sizes in bytes, rates per second, shares 0…1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from plimsoll.record.cells import CellKey
from plimsoll.record.cells import Level as Level
from plimsoll.record.cells import LoadUnit as LoadUnit
from plimsoll.stats.latency.censored import Survival
from plimsoll.stats.latency.ranks import above
from plimsoll.stats.metric import DEFAULT_METRICS, DELTA, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from plimsoll._engine import Histogram
    from plimsoll.record import TracedRequest
    from plimsoll.stats.capacity.probe import CapacitySearch
    from plimsoll.stats.compare.prediction import NewestRun
    from plimsoll.stats.generator import LinkUse, MachineFigures
    from plimsoll.stats.metric import MetricKind
    from plimsoll.stats.thresholds.grammar import Threshold

Against = Literal["baseline", "previous"]
SizeOf = Literal["bodies", "replies"]

TOTAL = ("", "Aggregated")
"""The key of all endpoints of a run together."""
TOLERANCE = 0.001
"""Share of failed requests that counts as none."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The resolution of a tool's times, and which times it has."""

    tool: str
    digits: int | None = 3
    """Significant decimal digits of a time; None: all of them."""
    floor: float = 0.0
    """ms; no time is more precise than this."""
    clock: Literal["due", "sent", "corrected", "unknown"] = "unknown"
    """The start of a time: the due time, the sending; or the time was changed afterwards."""
    times_of: Literal["all", "successes", "unknown"] = "unknown"
    mergeable: bool = False
    """Whether there are histograms, so that percentiles of several runs together can be computed."""
    size_of: SizeOf = "bodies"
    """Whether sizes of replies include their headers."""
    relative: float | None = None
    """Width of a histogram's bucket as a share of its value; None: times are rounded to `digits` instead."""

    def step(self, milliseconds: float) -> float:
        """ms between this time and the next one that the tool can distinguish; 0 if it distinguishes all."""
        if self.relative is not None:
            return max(self.floor, self.relative * milliseconds)
        if self.digits is None or milliseconds <= 0:
            return self.floor
        # A tool that rounds to d decimal digits has steps of 10**(magnitude + 1 - d).
        return max(self.floor, 10.0 ** (math.floor(math.log10(milliseconds)) + 1 - self.digits))


PLIMSOLL = Precision("plimsoll", digits=3, floor=0.001, clock="due", times_of="all", mergeable=True, relative=1 / 1024)
LOCUST = Precision("locust", digits=2, floor=1.0, clock="sent", times_of="all")


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """One endpoint second by second, from second 0 of the run, including the warm-up. All arrays have one entry each
    second; means, maxima and sizes are NaN in a second without any."""

    requests: NDArray[np.int64]
    failures: NDArray[np.int64]
    means: NDArray[np.float64]
    maxima: NDArray[np.float64]
    sizes: NDArray[np.float64]
    """Mean bytes of a decoded body."""
    histograms: Sequence[Histogram | None]
    """Of the timed responses, in µs; packed, like all here."""
    measured: slice = field(default_factory=lambda: slice(None))
    """The seconds that count: without the warm-up."""
    service: Sequence[Histogram | None] = ()
    """Service times of the same responses, in µs; empty if unknown."""
    on_time: Sequence[Histogram | None] = ()
    """As in `Measured`; empty if these are the service times."""

    def __len__(self) -> int:
        return len(self.requests)


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorCourse:
    """The load generator second by second, over all workers, from second 0 of the run, including the warm-up. All have
    one entry each second; the arrays are NaN in a second without a worker's report."""

    lag: Sequence[Histogram | None]
    """In µs, like `delay`; packed."""
    delay: Sequence[Histogram | None]
    in_flight: NDArray[np.float64]
    """Exchanges at the end of the second."""
    waiting: NDArray[np.float64]
    """Arrivals of the open model that wait for a user then."""
    offered: NDArray[np.float64]
    """Arrivals due in the second."""

    def __len__(self) -> int:
        return len(self.in_flight)


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Similar failures of an endpoint."""

    outcome: str
    message: str
    count: int
    status: int | None = None
    """The HTTP status, if the message has one."""
    group: str = ""
    """The common text of its messages, with placeholders; "" for a tool that does not group them."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One endpoint in one run, without the warm-up. `requests` includes failed ones, like `rate`, and those that failed
    because no response came, which are not in `rate`."""

    method: str
    name: str
    requests: int | None = None
    failures: int | None = None
    rate: float | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    quantiles: Mapping[float, float] = field(default_factory=dict)
    """By q, 0 < q < 1, as reported by the tool: `quantile` finds others in the histogram."""
    size: float | None = None
    """Mean bytes of a decoded body."""
    outcomes: Mapping[str, int] = field(default_factory=dict)
    kinds: tuple[FailureKind, ...] = ()
    mean_success: float | None = None
    mean_failure: float | None = None
    """Of the failed requests with a response."""
    censored: int = 0
    """Timed-out requests, kept at their limit."""
    unanswered: int | None = None
    """Requests without a response when their user was stopped; None: unknown."""
    overdue: int = 0
    """Of these, those that are failures."""
    waits: Histogram | None = None
    """How long they had waited, in µs; None without any."""
    service_waits: Histogram | None = None
    """The same since they were sent."""
    connected: int | None = None
    """Requests that opened a connection."""
    connecting: float | None = None
    """Mean ms that these took for it: name resolution, connection setup and TLS handshake."""
    histogram: Histogram | None = None
    """Response times in µs."""
    service: Histogram | None = None
    """Of the same requests, in µs."""
    on_time: Histogram | None = None
    """The responses with a generator that sends on time, in µs; None: the service times."""
    rounding: Mapping[str, float] = field(default_factory=dict)
    """Half the step of counts that the source rounds: of "requests", "failures"."""
    throughput_share: float = 0.0
    """0…1: the relative amount by which the generator may have lowered the rate."""
    course: Course | None = None

    @property
    def label(self) -> str:
        return f"{self.method} {self.name}".strip()

    @property
    def key(self) -> tuple[str, str]:
        return self.method, self.name

    @property
    def successes_per_s(self) -> float | None:
        """Of the completed requests; all of them where failures were not counted."""
        if self.rate is None or not self.requests or not self.failures:
            return self.rate
        completed = self.requests - self.overdue
        return self.rate * (self.requests - self.failures) / completed if completed else 0.0

    @property
    def waited_ms(self) -> float:
        """The sum of all response times; 0 if they are not known."""
        return (self.mean or 0.0) * (self.requests or 0)

    def quantile(self, q: float) -> float | None:
        """ms at rank ⌈q · n⌉; None if unknown."""
        if self.waits is not None and self.histogram is not None:
            return Survival.of(self.histogram, self.waits).quantiles((q,))[0][0] / 1000
        if self.histogram is not None and self.histogram.count:
            value = self.histogram.value_at(q) / 1000
            # A bucket of a histogram ends above the times in it; no percentile is above the maximum.
            return value if self.max is None else min(value, self.max)
        return next((value for known, value in self.quantiles.items() if math.isclose(known, q, abs_tol=1e-9)), None)

    def is_at_least(self, q: float) -> bool:
        """Whether the value at this quantile may have been greater: it lies among requests that were given up on."""
        if self.waits is not None and self.histogram is not None:
            return Survival.of(self.histogram, self.waits).quantiles((q,))[0][1]
        return bool(self.censored and self.timed and above(self.timed, q) <= self.censored)

    @property
    def is_mean_at_least(self) -> bool:
        """Whether the mean and the maximum may have been greater."""
        if self.censored or self.waits is None or self.histogram is None:
            return bool(self.censored)
        return not Survival.of(self.histogram, self.waits).is_complete

    @property
    def timed(self) -> int | None:
        """The number of responses behind the quantiles."""
        return self.histogram.count if self.histogram is not None else self.requests


@dataclass(frozen=True, slots=True)
class GeneratorHealth:
    """Health of the load generator in one run."""

    lag_p99: float | None = None
    delay_p99: float | None = None
    cpu_max: float | None = None
    achieved: float | None = None
    """Started arrivals of the open model, as a share of those offered."""
    dropped: int | None = None
    in_flight: float | None = None
    """Mean number of exchanges in flight."""
    open_files: int | None = None
    """Maximum number of open files of the generator."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """An observation of the target under load. seconds: since second 0 of the run, ascending."""

    source: str
    """A process, a database."""
    name: str
    """"rss", "cpu", "threads", "files", …"""
    unit: str
    seconds: NDArray[np.float64]
    values: NDArray[np.float64]


WorkKind = Literal["transaction", "call", "statement", "part"]
WORK_KINDS: tuple[WorkKind, ...] = get_args(WorkKind)


@dataclass(frozen=True, slots=True)
class TargetWork:
    """Work that the target reported under one name during a run. Times in ms."""

    kind: WorkKind
    """A request that it answered, one that it sent itself, a statement of its database, a part of the time of its
    responses."""
    source: str
    """A service, a database; for a part, the endpoint."""
    name: str
    calls: int
    ms: float
    """All calls together."""
    view: str = ""
    """The function that responded, or the system that was called."""
    failed: int = 0
    p50: float | None = None
    p95: float | None = None
    max: float | None = None
    rows: int | None = None
    """Returned or changed by a statement."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trial(CellKey):
    """One run: a cell of an experiment, or a table of a report. Trials with the same `repeat` ran next to one another,
    and are compared as a pair. The first is 1 in an experiment, and 0 in imported files; people read
    `Study.number_of`."""

    id: str
    order: int | None = None
    """Its position in time among all trials of the study."""
    users: float | None = None
    offered: float | None = None
    """Arrivals per second of the open model."""
    think: float | None = None
    """Mean seconds of a user's pause between a reply and its next request; None: unknown."""
    duration: float | None = None
    """Seconds over which rates are computed, without the warm-up."""
    ramp: float = 0.0
    """Seconds within `duration` in which users were still starting."""
    warmup: float = 0.0
    endpoints: tuple[Measured, ...] = ()
    total: Measured | None = None
    precision: Precision = PLIMSOLL
    invalid: tuple[str, ...] = ()
    """Why its numbers must not be used."""
    notes: tuple[str, ...] = ()
    is_stopped: bool = False
    """It was stopped before its time was up."""
    generator: GeneratorHealth | None = None
    machines: tuple[MachineFigures, ...] = ()
    """Of the generator; empty for a run on one machine."""
    lag: Histogram | None = None
    """Lag of the generator, in µs."""
    users_by_second: NDArray[np.float64] | None = None
    """Users alive, from second 0 of the run."""
    generator_course: GeneratorCourse | None = None
    link: LinkUse | None = None
    observed: tuple[Series, ...] = ()
    cores: Mapping[str, float] = field(default_factory=dict)
    """The number of cores that the sources of `observed` may use, if known."""
    work: tuple[TargetWork, ...] = ()
    slowest: tuple[TracedRequest, ...] = ()
    """Requests with a trace, the slowest one first."""
    edits: tuple[tuple[int, str], ...] = ()
    """Manual changes of its load, in seconds from its start, and the new load."""
    crashed: str | None = None
    """How the target ended, if it ended by itself."""
    scenario: str | None = None
    """A digest of the scenario; trials with different ones did not do the same."""
    replayed: Mapping[tuple[str, str], float] | None = None
    """Requests of each endpoint in the log whose requests it sends in their order; None if there is no such log."""
    facts: Mapping[str, str | float] = field(default_factory=dict)
    """More data, e.g. "rows at the start"."""
    collected: Mapping[str, str] = field(default_factory=dict)
    """The output of collecting hooks, by their names: query plans, …"""

    @property
    def model(self) -> Literal["closed", "open"]:
        return "open" if self.offered is not None else "closed"

    # Each is itself, whatever others have the same place.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def endpoint(self, key: tuple[str, str]) -> Measured | None:
        """key ("", "") or `TOTAL`: all of them together."""
        if key in (("", ""), TOTAL):
            return self.total
        return next((measured for measured in self.endpoints if measured.key == key), None)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of an imported table that was left out because its meaning is uncertain."""

    place: str
    """file:line"""
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a report about its own numbers, to be compared with them."""

    place: str
    """file:line"""
    text: str
    kind: MetricKind
    relation: Literal[">", "<"]
    value: float
    """Of errors: a share, 0…1."""
    operation: str | None = None
    endpoint: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of one metric from the bench's own A/A runs: how far identical runs differ."""

    metric: str
    endpoint: tuple[str, str]
    level: Level | None
    variance: float
    """Of ln(value of one run / value of the next)."""
    freedom: float
    """Degrees of freedom of the variance."""
    rejected: int = 0
    compared: int = 0
    """Of so many A/A verdicts, `rejected` called identical systems different."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Trials that answer one question."""

    name: str
    trials: tuple[Trial, ...]
    title: str = ""
    """The title of its report; "" for its name."""
    question: str = ""
    variants: tuple[str, ...] = ()
    """In the order of the experiment: the first is the baseline."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """The declared change of each variant, by its name."""
    against: tuple[Against, ...] = ("baseline",)
    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    """The compared metrics."""
    primary: tuple[Metric, ...] = ()
    """The metrics of the question, which share one rate of false alarms. Empty: none was declared beforehand."""
    delta: float = DELTA
    tolerance: float = TOLERANCE
    slo: tuple[Threshold, ...] = ()
    """The declared objective: a load whose runs break it is not carried."""
    interleaved: bool = False
    """Whether the trials of a repeat ran in random order next to one another."""
    gap: float | None = None
    """Seconds of a trial in addition to its duration: start, seed, warm-up, cool-down."""
    looks: int = 1
    """The number of looks at the result, declared beforehand."""
    repeats: int | None = None
    """Planned pairs of runs, which determine the current look; None: the last one."""
    noise: tuple[Noise, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = ()
    """Caveats about the whole study: variants that differ beyond the declared factor, …"""
    source: str = ""
    """Its origin: an experiment of the store, a file."""
    command: str = ""
    """The command that made it."""
    about: Mapping[str, str] = field(default_factory=dict)
    """The environment, for people: machine, kernel, versions, commit."""
    shape: Literal["auto", "ladder", "operations", "chain", "rates"] = "auto"
    """The layout of its report."""
    is_after_earlier: bool = False
    """The baseline's runs are earlier ones of the same thing, by themselves: they predict what the next run shows."""
    newest: NewestRun | None = None
    """What its last variant is, where it is one run after earlier ones; they may be too few to predict."""
    is_aa: bool = False
    """The variants are identical: all differences are noise."""
    search: CapacitySearch | None = None
    """The search for capacity, if the trials are its runs."""

    def __post_init__(self) -> None:
        if not self.variants:
            seen = dict.fromkeys(trial.variant for trial in self.trials)
            object.__setattr__(self, "variants", tuple(seen))
        object.__setattr__(self, "trials", _numbered(self.trials))

    @property
    def levels(self) -> tuple[Level | None, ...]:
        """Ascending; None for trials without one."""
        return tuple(sorted({trial.level for trial in self.trials}, key=lambda level: (level is not None, level)))

    @property
    def operations(self) -> tuple[str, ...]:
        """In the order of their first occurrence."""
        return tuple(dict.fromkeys(trial.operation for trial in self.trials))

    def number_of(self, trial: Trial) -> int:
        """Of its repeat, from 1."""
        return trial.repeat - min(other.repeat for other in self.trials) + 1

    def cell(self, of: CellKey) -> tuple[Trial, ...]:
        """The repeats of a cell, in order; including invalid ones."""
        return tuple(sorted(filter(of.is_of_cell, self.trials), key=lambda trial: trial.repeat))

    def endpoints(self, operation: str | None = None) -> tuple[tuple[str, str], ...]:
        """Keys of all endpoints, by name, then method. operation None: of all operations."""
        keys = {
            endpoint.key
            for trial in self.trials
            if operation in (None, trial.operation)
            for endpoint in trial.endpoints
        }
        return tuple(sorted(keys, key=lambda key: (key[1], key[0])))


def _numbered(trials: tuple[Trial, ...]) -> tuple[Trial, ...]:
    """Runs of one variant, level and operation are repeats, even without numbers."""
    cells: dict[CellKey, list[Trial]] = {}
    for trial in trials:
        cells.setdefault(trial.cell, []).append(trial)
    numbers = {
        id(trial): same[0].repeat + number
        for same in cells.values()
        if len(same) > 1 and len({trial.repeat for trial in same}) == 1
        for number, trial in enumerate(same)
    }
    if not numbers:
        return trials
    return tuple(replace(trial, repeat=numbers.get(id(trial), trial.repeat)) for trial in trials)
