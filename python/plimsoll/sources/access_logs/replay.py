"""Writes the replay of an access log: each request of the log again, at its own time.

The log is read twice, line by line: first for its endpoints, then for the rows of the replay, which are written as they
are read.
"""

from __future__ import annotations

import csv
import heapq
import io
import itertools
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, TextIO

from plimsoll.errors import UsageError
from plimsoll.say.numbers import count, counted, moment, percent
from plimsoll.sources.access_logs.mix import VALUE, path_of
from plimsoll.sources.access_logs.mix_plan import MaskedTargets, values_of
from plimsoll.sources.access_logs.reading import read_lines, read_mix
from plimsoll.sources.draft import unused
from plimsoll.sources.exchange import percent_encoded
from plimsoll.sources.making import new_file
from plimsoll.sources.plan_text import toml_string
from plimsoll.sources.source_input import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from plimsoll.sources.access_logs.line import AccessLine
    from plimsoll.sources.access_logs.mix import Endpoint, LogMix

MOST_REPLAYED = 500_000
"""Requests of a replay: a run keeps them in memory."""
LONGEST_REPLAY_S = 100 * 86_400.0
WINDOW = 10_000
"""Lines that are put in order."""
FEEDER, COLUMN = "log", "endpoint"


@dataclass(frozen=True, slots=True)
class LogReplay:
    """What was written."""

    text: str
    """The plan."""
    requests: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplayPaths:
    """The files of a replay."""

    plan: Path

    @property
    def requests(self) -> Path:
        return self.plan.with_name(f"{self.plan.stem}.requests.csv")

    @property
    def times(self) -> Path:
        return self.plan.with_name(f"{self.plan.stem}.times.txt")


def write_replay(
    words: Sequence[str], names: Sequence[str], log_format: str | None, paths: ReplayPaths, host: str | None,
    *, speed: float, assets: bool,
) -> tuple[LogReplay, LogMix]:  # fmt: skip
    """Write the requests and their times, and return the plan. words: paths of logs. speed: 2 is twice as fast. Raises
    UsageError for a log that cannot be read or has no times, and OSError for a file that cannot be written."""
    if STDIN in words:
        raise UsageError("--replay reads a log twice: name its file")
    mix = read_mix(words, log_format, assets=assets)
    if not mix.seconds:
        raise UsageError(f"{words[0]}: has no times of requests, so it cannot be replayed")
    if mix.seconds / speed > LONGEST_REPLAY_S:
        raise UsageError(
            f"{words[0]}: its requests are from {moment(mix.first)} to {moment(mix.last)}: a replay has at most "
            f"{LONGEST_REPLAY_S / 86_400:.0f} days; leave out lines, or use a higher --speed"
        )
    endpoints = _Endpoints(mix)
    with ExitStack() as stack:
        rows, times = (
            stack.enter_context(io.TextIOWrapper(stack.enter_context(new_file(path)), encoding="utf-8", newline=""))
            for path in (paths.requests, paths.times)
        )
        written = _Rows(endpoints, mix.first, speed, rows, times)
        for time, endpoint, target in _spread(_in_order(mix, read_lines(words, log_format, assets=assets))):
            if written.requests == MOST_REPLAYED:
                break
            written.add(endpoint, target, time)
    notes = list(endpoints.masked.notes())
    if written.requests == MOST_REPLAYED < mix.requests:
        notes.append(
            f"a replay has at most {count(MOST_REPLAYED)} requests: {count(mix.requests - written.requests)} after "
            f"{moment(written.last)} are left out"
        )
    text = _plan(endpoints, names, paths, host, written, speed)
    return LogReplay(text, written.requests, tuple(notes)), mix


_Request = tuple[float, "Endpoint", str]
"""Unix time, endpoint and target."""


def _in_order(mix: LogMix, lines: Iterable[AccessLine]) -> Iterator[_Request]:
    """By time, as far as a window shows: a server may log a request when its reply ends."""
    window: list[tuple[float, int, Endpoint, str]] = []
    for number, line in enumerate(lines):
        if (endpoint := mix.endpoint_of(line)) is not None and line.time is not None:
            heapq.heappush(window, (line.time, number, endpoint, line.target))
            if len(window) > WINDOW:
                time, _, endpoint, target = heapq.heappop(window)
                yield time, endpoint, target
    window.sort()
    yield from ((time, endpoint, target) for time, _, endpoint, target in window)


def _spread(requests: Iterable[_Request]) -> Iterator[_Request]:
    """Requests of the same whole second are spread over it: most logs have no fractions of seconds."""
    for time, group in itertools.groupby(requests, key=itemgetter(0)):
        same = list(group)
        step = 1 / len(same) if time.is_integer() else 0.0
        yield from ((time + number * step, endpoint, target) for number, (_, endpoint, target) in enumerate(same))


class _Endpoints:
    """The flows of the plan, the most frequent first."""

    def __init__(self, mix: LogMix) -> None:
        self.masked = MaskedTargets()
        self.names: dict[Endpoint, str] = {}
        for endpoint, _ in mix.endpoints:
            query = f"?{'&'.join(endpoint.query)}" if endpoint.query else ""
            self.names[endpoint] = unused(f"{endpoint.name}{query}", set(self.names.values()))
        self.columns = max(endpoint.segments.count(VALUE) + len(endpoint.query) for endpoint in self.names)


class _Rows:
    """The files of a replay, as they are written."""

    def __init__(self, endpoints: _Endpoints, first: float, speed: float, rows: TextIO, times: TextIO) -> None:
        self.requests = 0
        self.last = first
        self.counts = dict.fromkeys(endpoints.names, 0)
        self.first = first
        self._endpoints, self._speed, self._times = endpoints, speed, times
        self._writer = csv.writer(rows, lineterminator="\n")
        self._writer.writerow([COLUMN, *(f"v{number + 1}" for number in range(endpoints.columns))])

    def add(self, endpoint: Endpoint, target: str, time: float) -> None:
        self.requests += 1
        self.counts[endpoint] += 1
        # A line that is later than the window shows is sent with the one before it: times are in order.
        self.last = max(self.last, time)
        values = values_of(endpoint, self._endpoints.masked(target))
        missing = [""] * (self._endpoints.columns - len(values))
        self._writer.writerow([self._endpoints.names[endpoint], *values, *missing])
        self._times.write(f"{(self.last - self.first) / self._speed:.6f}\n")


def _plan(
    endpoints: _Endpoints, names: Sequence[str], paths: ReplayPaths, host: str | None, rows: _Rows, speed: float
) -> str:
    span = f"{counted(rows.requests, 'request')} from {moment(rows.first)}"
    at_speed = f", {speed:g} times as fast" if speed != 1 else ""
    lines = [f"# Made by plimsoll scenario --replay from {', '.join(names)}: {span} to {moment(rows.last)}{at_speed}."]
    lines += [f"target = {toml_string(host)}"] if host else []
    lines += [
        f'choice = "{FEEDER}.{COLUMN}"  # each row says which flow comes next',
        "",
        f"[feeder.{FEEDER}]",
        f"file = {toml_string(paths.requests.name)}",
        'at_end = "stop"',
    ]
    for endpoint, name in endpoints.names.items():
        if requests := rows.counts[endpoint]:
            path = path_of(endpoint.segments)
            target = _target(endpoint)
            lines += ["", "[[flow]]", f"name = {toml_string(name)}"]
            lines += [f"weight = {requests}  # {percent(requests / rows.requests)}", "[[flow.step]]"]
            lines += [f"name = {toml_string(path)}"] if target != path else []
            lines.append(f"{endpoint.method.lower()} = {toml_string(target)}")
    return "\n".join([*lines, "", "[[phase]]", f"replay = {toml_string(paths.times.name)}"]) + "\n"


def _target(endpoint: Endpoint) -> str:
    """Path and query, with a variable for each value."""
    values = (f"${{{FEEDER}.v{number}}}" for number in range(1, 10_000))
    path = "".join(
        f"/{next(values) if segment == VALUE else segment.replace('${', '$${')}" for segment in endpoint.segments
    )
    query = "&".join(f"{percent_encoded(name)}={next(values)}" for name in endpoint.query)
    return f"{path}?{query}" if query else path
