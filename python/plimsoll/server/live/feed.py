"""What the server reads of the run in progress: the last snapshots, and the lines of the log.

Snapshots never change. Nobody who reads makes the coordinator wait.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.server.live.snapshot import LiveSnapshot
from plimsoll.server.messages import LogLine
from plimsoll.store.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.server.messages import Test

INTEREST_S = 5.0
"""Seconds for which tables are made after somebody asked for something."""
FRESH_S = 2.5
"""Seconds for which numbers of a run in progress are shown as those of now."""
MOST_LINES = 1000
"""Of the log, that are kept."""
MOST_SNAPSHOTS = 20
"""That a viewer may be behind before all is sent again."""
IN_PROGRESS = frozenset({"spawning", "running", "stopping"})


class SnapshotFeed:
    """Snapshots are published by one thread; everything else may be called by any. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        """Of what follows up to the listeners; held for a moment at a time."""
        self._snapshots: tuple[LiveSnapshot, ...] = (LiveSnapshot(),)
        """The last ones, ascending."""
        self._lines: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._unsaid: deque[LogLine] = deque(maxlen=MOST_LINES)
        """Lines that no snapshot has."""
        self._listeners: list[Callable[[], None]] = []
        self._looked = -math.inf
        self.test: Test | None = None

    def log(self, level: str, text: str) -> None:
        """From any thread. A line that the process or a worker prints; the next snapshot has it."""
        line = LogLine(time.time(), level, redact(text))
        with self._lock:
            self._lines.append(line)
            self._unsaid.append(line)

    @property
    def snapshot(self) -> LiveSnapshot:
        """The last one."""
        return self._snapshots[-1]

    def snapshots_after(self, sequence: int) -> tuple[LiveSnapshot, ...]:
        """Those that came after this one; if it is too long ago, only the last."""
        found = tuple(each for each in self._snapshots if each.sequence > sequence)
        return found if not found or found[0].sequence == sequence + 1 else found[-1:]

    @property
    def is_in_progress(self) -> bool:
        return self.test is not None and self.test.status in IN_PROGRESS

    @property
    def is_fresh(self) -> bool:
        """Whether the numbers of the last snapshot are those of now."""
        return not self.is_in_progress or self.snapshot.at > self._clock() - FRESH_S

    @property
    def is_watched(self) -> bool:
        return bool(self._listeners) or self._looked > self._clock() - INTEREST_S

    def look(self) -> None:
        """Somebody wants to know: for some seconds tables are made."""
        self._looked = self._clock()

    def listen(self, listener: Callable[[], None]) -> None:
        """Have it called at each snapshot, in the thread that makes it."""
        with self._lock:
            self._listeners = [*self._listeners, listener]

    def leave(self, listener: Callable[[], None]) -> None:
        with self._lock:
            self._listeners = [each for each in self._listeners if each != listener]

    def flush(self) -> None:
        """Publish what was logged while no seconds come."""
        if self._unsaid and not self.is_in_progress:
            self.publish()

    def lines(self) -> tuple[LogLine, ...]:
        """The last ones of the log."""
        with self._lock:
            return tuple(self._lines)

    def publish(self, **news: Any) -> None:
        """A snapshot that says what the last one said, except for this."""
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
