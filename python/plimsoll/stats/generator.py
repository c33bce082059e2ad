"""Health of the load generator over all of its workers, and what each machine of a run on several has done."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.record import WORKER_STATE, GeneratorCounts, WorkerState, known_sum
from plimsoll.stats.latency.milliseconds import ms_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from plimsoll.record import Health
    from plimsoll.record.facts import RunFacts


BITS = 8
"""Of a byte."""
LINK_FULL = 0.85
"""Share of the speed of an interface. What TCP/IP adds leaves about 94 % for requests and responses."""
LEAST_SECONDS = 5
"""Measured seconds of a run. In fewer, a short peak may be most of it."""
LATE_MS = 2000
"""A request that leaves later than this is not load of the moment at which it was due. A worker that stands still for
longer than this keeps its users from doing anything for seconds."""
_COUNTED_STATE = tuple(name for name in WORKER_STATE if name != "cpu")


@dataclass(frozen=True, slots=True)
class Silence:
    """A time for which a worker neither sent nor read anything."""

    worker: int
    seconds: range
    """Whole seconds of the run that it was part of."""
    ms: int
    users: int
    """Users of this worker."""
    cpu: float
    """CPU seconds per second that the worker used in these seconds."""
    waited: float
    """Seconds per second for which it was ready to run, and the computer ran something else."""

    @property
    def waited_ms(self) -> float:
        return 1000 * self.waited * len(self.seconds)

    @property
    def first(self) -> int:
        return self.seconds.start

    @property
    def last(self) -> int:
        return self.seconds[-1]


class _Series:
    """One worker second by second: 24 bytes a second without objects, because a run may be long."""

    __slots__ = ("cpu", "values")

    def __init__(self) -> None:
        self.cpu = array("d")
        """-1 for a second that it did not report."""
        self.values = {name: array("I") for name in _COUNTED_STATE}

    def add(self, health: Health) -> None:
        second = health.second
        missing = second + 1 - len(self.cpu)
        if missing > 0:
            self.cpu.extend([-1.0] * missing)
        self.cpu[second] = max(self.cpu[second], health.cpu)
        # As in `WorkerState`: only one row of a second has the state.
        for name, values in self.values.items():
            if missing > 0:
                values.extend([0] * missing)
            values[second] = max(values[second], getattr(health, name))

    def silences(self, worker: int, limit_ms: float) -> Iterator[Silence]:
        """A worker that was silent for several seconds reports them at once, all with the length of the whole."""
        users, first = self.values["users"], 0
        for silent, group in groupby(self.values["silence_ms"]):
            stop = first + sum(1 for _ in group)
            # Short ones of the same length are several.
            length = stop - first if silent >= 1000 else 1
            for start in range(first, stop, length):
                if silent > limit_ms and users[start]:
                    seconds = range(start, start + length)
                    cpu = fmean(max(0.0, self.cpu[second]) for second in seconds)
                    waited = fmean(self.values["cpu_wait_ms"][second] / 1000 for second in seconds)
                    yield Silence(worker, seconds, silent, users[start], cpu, waited)
            first = stop


@dataclass
class _LastState(WorkerState):
    """A worker at its last report, which came in several rows."""

    second: int = -1


@dataclass
class WorkerRequests:
    """What one worker has sent, after the warm-up."""

    requests: int = 0
    failures: int = 0
    response: Histogram = field(default_factory=Histogram)
    """Response times, µs."""
    lag: Histogram = field(default_factory=Histogram)
    """µs."""
    cpu: float = 0.0
    """CPU seconds."""
    seconds: int = 0
    """Reports that carry its CPU."""
    retransmissions: int | None = None
    """TCP segments that its system sent again; None if it did not say."""

    def add(self, row: Health) -> None:
        self.requests += row.requests
        self.failures += row.failures
        if row.response is not None:
            self.response.add(row.response)
        self.lag.add(row.lag)
        self.cpu += row.cpu
        self.seconds += row.cpu > 0
        self.retransmissions = known_sum(self.retransmissions, row.retransmissions)

    def merge(self, other: WorkerRequests) -> None:
        """Add those of another worker."""
        self.requests += other.requests
        self.failures += other.failures
        self.response.add(other.response)
        self.lag.add(other.lag)
        self.cpu += other.cpu
        self.seconds += other.seconds
        self.retransmissions = known_sum(self.retransmissions, other.retransmissions)


class GeneratorView(GeneratorCounts):
    """The sum of the workers' health: their counters, lag, delay and CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.lag = Histogram()
        self.delay = Histogram()
        self.cpu_max = 0.0
        """Busiest second of the busiest worker, 0…1 for one thread."""
        self.length: float | None = None
        """Seconds from second 0 to the end of the run, once that is known."""
        self.cpu_used = 0.0
        """CPU seconds of all workers."""
        self.cpu_waited = 0.0
        """Seconds in which workers were ready to run, but this computer ran something else."""
        self.backed_off = 0.0
        """User seconds of waiting to reconnect after failed connections."""
        self.gathered = 0.0
        """Seconds for which replies waited because workers slept to read more of them at a time."""
        self.late_by_second: dict[int, int] = {}
        """Requests that left more than `LATE_MS` late, by the second of their answer."""
        self.late_since = 0
        """The second in which the first of them was due."""
        self.retransmissions: int | None = None
        """TCP segments that the systems of the workers sent again; None if none of them said so."""
        self.by_worker: dict[int, WorkerRequests] = {}
        """Only of a run on several machines."""
        self._offered = array("Q")
        """By second, like the next two."""
        self._lag_sum = array("d")
        """µs."""
        self._lag_count = array("Q")
        self._workers: dict[int, _Series] = {}
        self._latest: dict[int, Health | _LastState] = {}

    def add(self, health: Health, *, warmup: bool = False) -> None:
        """warmup: it updates only the current state, and is in no sum."""
        self._note_state(health)
        if warmup:
            return
        self.lag.add(health.lag)
        if health.lag.max > LATE_MS * 1000:
            self._add_late(health)
        self.delay.add(health.delay)
        if health.requests or health.response is not None or health.worker in self.by_worker:
            self.by_worker.setdefault(health.worker, WorkerRequests()).add(health)
        self.add_counts(health)
        self.cpu_max = max(self.cpu_max, health.cpu)
        self.cpu_used += health.cpu
        self.cpu_waited += health.cpu_wait_ms / 1000
        self.backed_off += health.backoff_ms / 1000
        self.gathered += health.gathered_ms / 1000
        self.retransmissions = known_sum(self.retransmissions, health.retransmissions)
        missing = health.second + 1 - len(self._offered)
        for values in (self._offered, self._lag_sum, self._lag_count):
            values.extend([0] * missing)
        self._offered[health.second] += health.offered
        self._lag_sum[health.second] += health.lag.mean * health.lag.count
        self._lag_count[health.second] += health.lag.count
        series = self._workers.get(health.worker)
        if series is None:
            series = self._workers[health.worker] = _Series()
        series.add(health)

    def _add_late(self, health: Health) -> None:
        due = max(0, health.second - health.lag.max // 1_000_000)
        self.late_since = min(due, self.late_since) if self.late_by_second else due
        late = health.lag.counts_above([LATE_MS * 1000])[0]
        self.late_by_second[health.second] = self.late_by_second.get(health.second, 0) + late

    def _note_state(self, health: Health) -> None:
        last = self._latest.get(health.worker)
        if last is None or health.second > last.second:
            self._latest[health.worker] = health
        elif health.second == last.second:
            both = self._latest[health.worker] = _LastState(second=health.second)
            both.raise_to(last)
            both.raise_to(health)

    @property
    def workers(self) -> int:
        return len(self._latest)

    @property
    def users(self) -> int:
        """Users alive at the workers' last reports."""
        return sum(state.users for state in self._latest.values())

    @property
    def in_flight(self) -> int:
        """Exchanges in flight at the workers' last reports."""
        return sum(state.in_flight for state in self._latest.values())

    @property
    def waiting(self) -> int:
        """Arrivals waiting for a user at the workers' last reports."""
        return sum(state.waiting for state in self._latest.values())

    @property
    def out(self) -> int:
        """Responses that are still to come: for requests in flight, and for arrivals that wait."""
        return self.in_flight + self.waiting

    @property
    def begun(self) -> int:
        """Arrivals that a user accepted, so that their first request was sent."""
        return max(0, self.offered - self.dropped - self.waiting)

    def busy_share(self, limit: float) -> float:
        """Share, 0…1, of the workers' whole seconds in which a worker used more CPU than `limit` (0…1).

        The second in which the run ended is excluded: it is too short for a CPU reading. 0 if there is no other.
        """
        cpu = [each for series in self._workers.values() for each in series.cpu[: self._whole_seconds] if each >= 0]
        return sum(each > limit for each in cpu) / len(cpu) if cpu else 0.0

    def full_seconds(self, limit: float) -> list[int]:
        """The whole seconds in which some worker used CPU for more than `limit` (0…1) of the time."""
        found = {
            second
            for series in self._workers.values()
            for second, each in enumerate(series.cpu[: self._whole_seconds])
            if each > limit
        }
        return sorted(found)

    def mean_lag_by_second(self) -> dict[int, float]:
        """ms, of the seconds in which anything was sent."""
        return {
            second: total / many / 1000
            for second, (total, many) in enumerate(zip(self._lag_sum, self._lag_count, strict=True))
            if many
        }

    def silences(self, limit_ms: float) -> list[Silence]:
        """The times for which a worker with users was silent for longer than that, by their first second."""
        found = [each for worker, series in self._workers.items() for each in series.silences(worker, limit_ms)]
        return sorted(found, key=attrgetter("first"))

    def silence_by_second(self) -> dict[int, int]:
        """The longest silence of a worker with users in each second that had one, ms."""
        found: dict[int, int] = {}
        for silence in self.silences(0):
            for second in silence.seconds:
                found[second] = max(silence.ms, found.get(second, 0))
        return dict(sorted(found.items()))

    @property
    def mean_silence_ms(self) -> float:
        """Mean of the longest silences of the workers' seconds, ms."""
        silent = [each for series in self._workers.values() for each in series.values["silence_ms"]]
        return fmean(silent) if silent else 0.0

    @property
    def _whole_seconds(self) -> int:
        return len(self._offered) if self.length is None else int(self.length)

    def users_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Users alive at the end of each second with a worker's report, or of those among `seconds`, as in the methods
        below."""
        return self._by_second("users", seconds)

    def in_flight_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Exchanges in flight."""
        return self._by_second("in_flight", seconds)

    def waiting_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Arrivals waiting for a user."""
        return self._by_second("waiting", seconds)

    def offered_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Arrivals due in each second."""
        return {second: self._offered[second] for second in self._reported(seconds)}

    def _reported(self, seconds: range | None) -> list[int]:
        """The seconds with a worker's report."""
        first, stop = (0, len(self._offered)) if seconds is None else (seconds.start, seconds.stop)
        is_reported = bytearray(max(0, stop - first))
        for series in self._workers.values():
            for place, cpu in enumerate(series.cpu[first:stop]):
                if cpu >= 0:
                    is_reported[place] = 1
        return [first + place for place, found in enumerate(is_reported) if found]

    def _by_second(self, name: str, seconds: range | None) -> dict[int, int]:
        series = [each.values[name] for each in self._workers.values()]
        if len(series) == 1:
            return {second: series[0][second] for second in self._reported(seconds)}
        return {second: sum(x[second] for x in series if second < len(x)) for second in self._reported(seconds)}


@dataclass(frozen=True, slots=True)
class MachineFigures:
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
    retransmissions: int | None
    """TCP segments that its system sent again on connections of these workers; null if it does not say."""


def by_machine(generator: GeneratorView, facts: RunFacts, duration: float) -> list[MachineFigures]:
    """One for each machine, by name; nothing for a run on one machine. duration: seconds that rates are taken over."""
    of_worker = generator.by_worker
    sums: dict[str, WorkerRequests] = {}
    workers: dict[str, int] = {}
    for index, name in _places(facts).items():
        if (found := of_worker.get(index)) is not None:
            sums.setdefault(name, WorkerRequests()).merge(found)
        workers[name] = workers.get(name, 0) + 1
    if len(workers) < 2 or not sums:
        return []
    total = sum(each.requests for each in sums.values())
    return list(
        _figures({name: sums.get(name, WorkerRequests()) for name in sorted(workers)}, workers, total, duration)
    )


def _places(facts: RunFacts) -> dict[int, str]:
    """By worker: the machine that it was on."""
    names: dict[int, list[str]] = {}
    for machine in facts.cluster.machines if facts.cluster is not None else ():
        for worker in machine.workers:
            names.setdefault(worker, []).append(machine.machine or machine.host)
    return {worker: ", ".join(dict.fromkeys(found)) for worker, found in sorted(names.items())}


def _figures(
    sums: Mapping[str, WorkerRequests], workers: Mapping[str, int], total: int, duration: float
) -> Iterator[MachineFigures]:
    for name, each in sums.items():
        yield MachineFigures(
            name,
            workers[name],
            each.requests,
            each.failures,
            each.requests / total if total else 0.0,
            each.requests / duration if duration else 0.0,
            ms_at(each.response, 0.5),
            ms_at(each.response, 0.99),
            each.cpu / each.seconds if each.seconds else None,
            ms_at(each.lag, 0.99),
            each.retransmissions,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LinkUse:
    """A network interface, and the bytes of the requests and responses that went over it in each second of the run,
    with its warm-up. What TCP/IP adds, about 5 %, is not in them."""

    interface: str
    mbit_s: int
    """Its speed in each direction, Mbit/s."""
    received: NDArray[np.int64]
    sent: NDArray[np.int64]

    def shares(self, *, sent: bool, measured: slice) -> NDArray[np.float64]:
        """The used share of the speed in each measured second."""
        of_bytes = self.sent if sent else self.received
        return of_bytes[measured] * BITS / (self.mbit_s * 1e6)
