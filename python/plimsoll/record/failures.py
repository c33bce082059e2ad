"""How exchanges failed, and what the code of users raised: sums over a whole run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from plimsoll.record.exchanges import sum_of

FailureTuple = tuple[
    str,  # method
    str,  # name
    str,  # outcome
    str,  # message, with placeholders for what changes
    str,  # the first message; "" where it is the same
    bool,  # whether there was another one
    int,  # count
    int,  # first seen, ns
    int,  # last seen, ns
]


@dataclass(slots=True)
class Failure:
    """How often one endpoint failed in one way. first and last: Unix time in seconds."""

    method: str
    name: str
    outcome: str
    message: str
    """What the messages have in common, with placeholders for the parts that change: a port, a duration, an id."""
    count: int
    first: float
    last: float
    example: str = ""
    """The first message; "" where it is the same."""
    is_varied: bool = False
    """Whether there was a second, different message."""

    @classmethod
    def from_tuple(cls, row: FailureTuple, clock_offset: float) -> Failure:
        """clock_offset: Unix time minus monotonic time, in seconds."""
        method, name, outcome, message, example, is_varied, count, first, last = row
        times = first / 1e9 + clock_offset, last / 1e9 + clock_offset
        return cls(method, name, outcome, message, count, *times, example, is_varied)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.method, self.name, self.outcome, self.message

    @property
    def text(self) -> str:
        """The original message, if all failures had the same message."""
        return self.message if self.is_varied else self.example or self.message

    def add(self, other: Failure) -> None:
        """Add failures with the same message."""
        self.is_varied |= other.is_varied or self.example != other.example
        self.count = sum_of(self.count, other.count)
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)


def no_response(limit_s: float, *, is_after_arrivals: bool) -> str:
    """The message of failures whose response did not come. It is data, like the messages that clients give to others.

    limit_s: how long was waited, at least: since the last arrival of the run, or since the request was due.
    """
    if is_after_arrivals:
        return f"no response {limit_s:g} s after the last arrival of the run"
    return f"no response after more than {limit_s:.3g} s, when the user was stopped"


@dataclass(slots=True)
class CaughtException:
    """Exceptions that users' code let out at one place: counted by the frames of their traceback.

    Messages may differ, as one with a number in it does. message and traceback are those of the first.
    """

    message: str
    traceback: str
    count: int
    workers: set[int]

    @property
    def key(self) -> str:
        return frames_of(self.traceback)

    def add(self, other: CaughtException) -> None:
        self.count = sum_of(self.count, other.count)
        self.workers |= other.workers


def frames_of(traceback: str) -> str:
    """The frames of a traceback, without the lines that name the exception. A traceback without frames is unchanged."""
    frames = takewhile(lambda line: line.startswith("  "), traceback.splitlines(keepends=True))
    return "".join(frames) or traceback
