"""The mix of requests in a log: how often each endpoint is asked for, by which targets, and how many at a time.

Memory is bounded by the number of endpoints and clients that are kept, whatever the length of the log.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from plimsoll.say.numbers import count
from plimsoll.sources.draft import unused

if TYPE_CHECKING:
    from plimsoll.sources.access_logs.line import AccessLine

MOST_TARGETS = 1_000
"""Targets that are kept of an endpoint: a random sample of its requests."""
MOST_WORDS = 100
"""Different words in one place of a path; with more of them the place is a value."""
MOST_ENDPOINTS = 5_000
MOST_CLIENTS = 50_000
MOST_PLACES = 20_000
"""Places in paths whose words are kept; further ones are values."""
LONGEST_TARGET = 8_192
"""Characters. nginx and Apache take no longer ones."""
MOST_SEGMENTS = 50
LONGEST_CLIENT = 100
LONGEST_QUERY = 4_096
"""Characters; what follows them is left out."""
LONGEST_PAUSE_S = 30 * 60.0
"""A client that has been silent for longer begins another visit."""
_VALUE = re.compile(
    r"[0-9]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|(?=[^0-9]*[0-9])[0-9a-fA-F]{8,}"
    r"|(?=[A-Za-z_~-]*[0-9])[A-Za-z0-9_~-]{16,}"
)
VALUE = "{}"
"""A place of a path that has many values."""


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """Requests that differ only in values."""

    method: str
    segments: tuple[str, ...]
    """Of the path; VALUE where they differ."""
    query: tuple[str, ...] = ()
    """The names of the query, in their order."""

    @property
    def name(self) -> str:
        return f"{self.method} {path_of(self.segments)}"


@dataclass(slots=True)
class TargetSample:
    """The requests of one endpoint that did not fail: how many there are, and a sample of them."""

    requests: int = 0
    targets: list[str] = field(default_factory=list)
    """A random sample; each with its path and query."""

    def add(self, target: str, random: random.Random) -> None:
        self.requests += 1
        if self.targets and self.targets[0] == target:
            # One text for all of them.
            target = self.targets[0]
        if len(self.targets) < MOST_TARGETS:
            self.targets.append(target)
        elif (place := random.randrange(self.requests)) < MOST_TARGETS:
            # Algorithm R of Vitter, ACM Transactions on Mathematical Software 11 (1985).
            self.targets[place] = target

    def join(self, other: TargetSample, random: random.Random) -> None:
        """Take over the requests of another endpoint, each with its share of the sample."""
        total = self.requests + other.requests
        kept = min(len(self.targets), round(MOST_TARGETS * self.requests / total))
        room = min(MOST_TARGETS, len(self.targets) + len(other.targets)) - kept
        self.targets = random.sample(self.targets, kept) + random.sample(other.targets, min(room, len(other.targets)))
        self.requests = total


class LogMix:
    """Adds up the lines of a log."""

    def __init__(self) -> None:
        # The same log gives the same plan.
        self._random = random.Random(0)
        self._samples: dict[Endpoint, TargetSample] = {}
        self._words: dict[tuple[str, ...], set[str] | None] = {}
        """The words that follow a beginning of a path; None where they are too many."""
        self._clients: OrderedDict[str, float] = OrderedDict()
        """When each client came last."""
        self.minutes: Counter[int] = Counter()
        """Requests of each minute, Unix time."""
        self.left_out: Counter[str] = Counter()
        """Requests that no plan can send, by reason."""
        self.without_body: Counter[str] = Counter()
        """Those of them whose body a log does not have, by method and path."""
        self.visits = 0
        self.pauses = 0
        self._pause_sum = 0.0
        self.first = math.inf
        self.last = -math.inf

    def add(self, line: AccessLine) -> None:
        """A request that a plan can send."""
        endpoint = self._endpoint(line)
        if endpoint is None:
            self.left_out["with a very long path or query"] += 1
            return
        sample = self._samples.get(endpoint)
        if sample is None:
            if len(self._samples) >= MOST_ENDPOINTS:
                self.left_out["of more endpoints than are kept"] += 1
                return
            sample = self._samples[endpoint] = TargetSample()
        sample.add(line.target, self._random)
        if line.time is not None:
            self._note_time(line.time, line.client[:LONGEST_CLIENT])

    def endpoint_of(self, line: AccessLine) -> Endpoint | None:
        """The endpoint of a request that was added before; None if it was left out."""
        endpoint = self._endpoint(line)
        return endpoint if endpoint in self._samples else None

    def _endpoint(self, line: AccessLine) -> Endpoint | None:
        """None if the target is too long."""
        path, _, query = line.target.partition("?")
        if len(line.target) > LONGEST_TARGET or path.count("/") > MOST_SEGMENTS:
            return None
        names = tuple(name for name, _ in parse_qsl(query[:LONGEST_QUERY], keep_blank_values=True))
        return Endpoint(line.method, self._segments(line.method, path), names)

    def leave_out(self, line: AccessLine, reason: str) -> None:
        """A request that no plan can send."""
        self.left_out[reason] += 1
        if reason == NO_BODY:
            path = "/".join(line.target[:LONGEST_TARGET].partition("?")[0].split("/")[: MOST_SEGMENTS + 1])
            name = Endpoint(line.method, self._segments(line.method, path)).name
            if name in self.without_body or len(self.without_body) < MOST_ENDPOINTS:
                self.without_body[name] += 1

    @property
    def endpoints(self) -> list[tuple[Endpoint, TargetSample]]:
        """The most frequent first."""
        return sorted(self._samples.items(), key=lambda item: (-item[1].requests, item[0]))

    @property
    def requests(self) -> int:
        return sum(sample.requests for sample in self._samples.values())

    @property
    def seconds(self) -> float:
        """From the first request to the end of the second of the last one; 0 if the log has no times."""
        return self.last - self.first + 1 if self.minutes else 0.0

    @property
    def mean_pause_s(self) -> float | None:
        """Between two requests of a client on the same visit; None if no client came twice."""
        return self._pause_sum / self.pauses if self.pauses else None

    def _note_time(self, time: float, client: str) -> None:
        self.first, self.last = min(self.first, time), max(self.last, time)
        self.minutes[int(time // 60)] += 1
        before = self._clients.pop(client, None)
        if before is None or time - before > LONGEST_PAUSE_S:
            self.visits += 1
        elif time >= before:
            self.pauses += 1
            self._pause_sum += time - before
        self._clients[client] = time
        if len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)

    def _segments(self, method: str, path: str) -> tuple[str, ...]:
        """Where a place of the path has too many words, the endpoints of all of them become one."""
        segments: list[str] = []
        for segment in path.split("/")[1:]:
            start = (method, *segments)
            words = self._words.get(start)
            if words is None and start not in self._words and len(self._words) < MOST_PLACES:
                words = self._words[start] = set()
            if _VALUE.fullmatch(segment):
                segment = VALUE
            elif words is None:
                segment = VALUE if segment else segment
            elif segment:
                words.add(segment)
                if len(words) > MOST_WORDS:
                    self._words[start] = None
                    self._join_after(method, tuple(segments))
                    segment = VALUE
            segments.append(segment)
        return tuple(segments)

    def _join_after(self, method: str, beginning: tuple[str, ...]) -> None:
        """Join the endpoints that differ only in the place after the beginning."""
        place = len(beginning)
        for endpoint in [*self._samples]:
            segments = endpoint.segments
            if (
                endpoint.method == method
                and segments[:place] == beginning
                and len(segments) > place
                and segments[place]
            ):
                joined = replace(endpoint, segments=(*beginning, VALUE, *segments[place + 1 :]))
                if joined != endpoint:
                    sample = self._samples.pop(endpoint)
                    self._samples.setdefault(joined, TargetSample()).join(sample, self._random)
        for start in [start for start in self._words if start[: place + 1] == (method, *beginning)]:
            if len(start) > place + 1 and start[place + 1] != VALUE:
                del self._words[start]


NO_BODY = "with a body that a log does not have"


def reasons_in_words(mix: LogMix) -> str:
    """Why requests are left out, and how many."""
    return ", ".join(f"{count(number)} {reason}" for reason, number in mix.left_out.most_common())


def path_of(segments: tuple[str, ...]) -> str:
    """The path of an endpoint, with a name for each value: /todos/{todo_id}."""
    names = iter(value_names(segments))
    return "".join(f"/{{{next(names)}}}" if segment == VALUE else f"/{segment}" for segment in segments)


def value_names(segments: tuple[str, ...]) -> list[str]:
    """A name for each value of a path: todo_id for what follows /todos."""
    names: list[str] = []
    for before, segment in zip(("", *segments), segments, strict=False):
        if segment == VALUE:
            word = "" if before == VALUE else identifier(before)
            names.append(unused(f"{word.removesuffix('s')}_id" if word else "id", names))
    return names


def identifier(text: str) -> str:
    """Small letters, digits and _; "" if nothing is left of it."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
