"""A target, and sessions whose exchanges are recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.users.recording_server import RecordingServer

from plimsoll._engine import Recorder, now
from plimsoll.locust.fasthttp.session import FastHttpSession
from plimsoll.record import Failure, Interval, merge
from plimsoll.users.events import EventHook
from plimsoll.users.http.session import HttpSession
from plimsoll.users.recording import RequestRecorder

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class SessionBench:
    """What a worker gives to its users' sessions, and what came of it."""

    event: EventHook = field(default_factory=EventHook)
    recorder: Recorder = field(default_factory=lambda: Recorder(now()))
    _intervals: list[Interval] = field(default_factory=list)
    _failures: list[Failure] = field(default_factory=list)

    def http(self, base_url: str, user: Any = None) -> HttpSession:
        session = HttpSession(base_url, self.event, user)
        session.trust_env = False
        return session

    def fast(self, base_url: str, user: Any = None, **settings: Any) -> FastHttpSession:
        return FastHttpSession(base_url, self.event, user, **settings)

    @property
    def recorded(self) -> list[Interval]:
        """Everything so far."""
        cells, _, failures = self.recorder.take()
        self._intervals = merge([*self._intervals, *map(Interval.from_tuple, cells)])
        self._failures += [Failure.from_tuple(row, 0) for row in failures]
        return self._intervals

    @property
    def counts(self) -> dict[tuple[str, str, str], int]:
        """{(method, name, outcome): exchanges}"""
        counts: Counter[tuple[str, str, str]] = Counter()
        for each in self.recorded:
            counts[each.method, each.name, each.outcome] += each.count
        return dict(counts)

    @property
    def failures(self) -> list[tuple[str, str]]:
        """(outcome, message) of each kind of failure."""
        assert self.recorded is not None
        return [(each.outcome, each.text) for each in self._failures]


@pytest.fixture
def session_bench() -> SessionBench:
    session_bench = SessionBench()
    session_bench.event.add_listener(RequestRecorder(session_bench.recorder))
    return session_bench


@pytest.fixture
def target() -> Iterator[RecordingServer]:
    with RecordingServer() as target:
        yield target


@pytest.fixture(scope="session")
def any_place() -> list[str]:
    """Texts of 0 to 40 characters: plain ones, and those with another kind of character at each place."""
    plain = [("abcdefgh" * 5)[:length] for length in range(41)]
    kinds = ['"', "\\", "\n", "\x1f", "\x7f", "\x80", "é", "€", "😀"]
    return plain + [text[:at] + kind + text[at + 1 :] for text in plain for at in range(len(text)) for kind in kinds]
