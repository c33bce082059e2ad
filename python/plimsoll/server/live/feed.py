"""What the server reads of the run in progress: the last snapshots, and the lines of the log.

Snapshots are immutable. Readers never block the coordinator.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.redact import redact
from plimsoll.server.live.snapshot import LiveSnapshot
from plimsoll.server.messages import LogLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.server.messages import Test

INTEREST_S = 5.0
"""How long tables are made after the last request for them."""
FRESH_S = 2.5
"""Maximum age of current numbers while a run is in progress."""
MOST_LINES = 1000
"""Lines of the log that are kept."""
MOST_CHARACTERS = 10_000
"""Of a line of the log; a traceback or a body in a message may be any length."""
MOST_SNAPSHOTS = 20
"""A viewer that is further behind gets everything again."""
IN_PROGRESS = frozenset({"spawning", "running", "stopping"})


class SnapshotFeed:
    """One thread publishes snapshots; any thread may call the other methods. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        """Guards the attributes up to `_listeners`; held only briefly."""
        self._snapshots: tuple[LiveSnapshot, ...] = (LiveSnapshot(),)
        """The latest, ascending."""
        self._lines: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._unsaid: deque[LogLine] = deque(maxlen=MOST_LINES)
        """Lines that are in no snapshot yet."""
        self._listeners: list[Callable[[], None]] = []
        self._looked = -math.inf
        self.test: Test | None = None

    def log(self, level: str, text: str) -> None:
        """Add a line that the process or a worker prints to the log. From any thread."""
        text = redact(text)
        if len(text) > MOST_CHARACTERS:
            text = f"{text[:MOST_CHARACTERS]} … ({len(text) - MOST_CHARACTERS} characters are left out)"
        line = LogLine(time.time(), level, text)
        with self._lock:
            self._lines.append(line)
            self._unsaid.append(line)

    @property
    def snapshot(self) -> LiveSnapshot:
        """The latest."""
        return self._snapshots[-1]

    def snapshots_after(self, sequence: int) -> tuple[LiveSnapshot, ...]:
        """The snapshots after this one; only the latest if some are no longer kept."""
        found = tuple(each for each in self._snapshots if each.sequence > sequence)
        return found if not found or found[0].sequence == sequence + 1 else found[-1:]

    @property
    def is_in_progress(self) -> bool:
        return self.test is not None and self.test.status in IN_PROGRESS

    @property
    def is_fresh(self) -> bool:
        """Whether the last snapshot has current numbers."""
        return not self.is_in_progress or self.snapshot.at > self._clock() - FRESH_S

    @property
    def is_watched(self) -> bool:
        return bool(self._listeners) or self._looked > self._clock() - INTEREST_S

    def look(self) -> None:
        """Request current numbers: tables are made for some seconds."""
        self._looked = self._clock()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call the listener at each snapshot, in the thread that makes it."""
        with self._lock:
            self._listeners = [*self._listeners, listener]

    def leave(self, listener: Callable[[], None]) -> None:
        with self._lock:
            self._listeners = [each for each in self._listeners if each != listener]

    def flush(self) -> None:
        """Publish logged lines while no run reports seconds."""
        if self._unsaid and not self.is_in_progress:
            self.publish()

    def lines(self) -> tuple[LogLine, ...]:
        """The latest lines of the log."""
        with self._lock:
            return tuple(self._lines)

    def publish(self, **news: Any) -> None:
        """Publish the last snapshot with these changes."""
        once: dict[str, Any] = {"changed": (), "is_whole": False, "appended": {}}
        with self._lock:
            log = tuple(self._unsaid)
            self._unsaid.clear()
            stamp = {"sequence": self.snapshot.sequence + 1, "test": self.test, "log": log}
            snapshot = replace(self.snapshot, **{**once, **stamp, **news})
            self._snapshots = (*self._snapshots[1 - MOST_SNAPSHOTS :], snapshot)
            listeners = self._listeners
        for listener in listeners:
            listener()
