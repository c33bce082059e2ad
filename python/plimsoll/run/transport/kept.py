"""What a worker keeps of a run, so that the run can be continued when its coordinator is lost.

A file with frames: `plan INDEX FIRST PLAN`, then the last snapshots of the worker, as it has sent them. Some of these
are in the store already.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.run.transport.frames import MAX_REPORT_BYTES, Frames, pack, unpack_report
from plimsoll.run.transport.messages import EncodedSnapshot
from plimsoll.run.transport.report_rules import ProtocolError, is_count, is_settings

if TYPE_CHECKING:
    from typing import Self

MOST_SNAPSHOTS = 60
"""A store that has not kept a second for so long has failed."""
MOST_BYTES = MAX_REPORT_BYTES // 2
"""Of these together; older ones are given up. The plan is in the same frame when they are handed over."""


class KeptSnapshots:
    """The last snapshots of a worker. file: where `write` puts them. index: the worker's."""

    def __init__(self, file: str, index: int) -> None:
        self.plan: dict[str, Any] | None = None
        """As the run is carried out; None before it begins."""
        self.first = 0
        """The second of the run with which this worker began. No other one in the same place has the same."""
        self._file = Path(file)
        self._index = index
        self._snapshots: deque[bytes] = deque()
        self._bytes = 0
        """Of all of them."""

    def add(self, snapshot: bytes) -> None:
        """One more frame."""
        if len(self._snapshots) == MOST_SNAPSHOTS:
            self._bytes -= len(self._snapshots.popleft())
        self._snapshots.append(snapshot)
        self._bytes += len(snapshot)
        while self._bytes > MOST_BYTES:
            self._bytes -= len(self._snapshots.popleft())

    def write(self) -> None:
        """Nothing is written of a run that has not begun. Only this user can read the file: plans have credentials."""
        if self.plan is None or not self._snapshots:
            return
        with (
            suppress(OSError),
            os.fdopen(os.open(self._file, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as stream,
        ):
            stream.write(b"".join([pack("plan", self._index, self.first, self.plan), *self._snapshots]))


@dataclass(frozen=True, slots=True)
class KeptSeconds:
    """What one worker has kept."""

    worker: int
    first: int
    """The second with which it began."""
    plan: dict[str, Any]
    snapshots: list[EncodedSnapshot]
    """In their order, at least one."""

    @property
    def run(self) -> str | None:
        found = self.plan.get("run_id")
        return found if isinstance(found, str) else None

    @property
    def epoch(self) -> int:
        """The stamp of second 0 by the worker's clock."""
        return self.snapshots[-1].epoch

    @property
    def last(self) -> int:
        """The last second that it measured; -1 if there is none."""
        return max((row[0] for each in self.snapshots for row, _ in each.health), default=-1)

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """data: the file's; None if it is empty. Raises ProtocolError."""
        frames = list(Frames().feed(data))
        if not frames:
            return None
        try:
            (_, (index, first, plan)), *rest = frames
            snapshots = [report for frame in rest if isinstance(report := unpack_report(*frame), EncodedSnapshot)]
            if not (is_count(index) and is_count(first) and is_settings(plan) and snapshots):
                raise ValueError("no snapshot")
            if any(each.worker != index for each in snapshots):
                raise ValueError("snapshots of another worker")
        except (TypeError, ValueError) as error:
            raise ProtocolError("no kept seconds") from error
        # Those of a ramp-up that was forgotten are of no use.
        return cls(index, first, plan, [each for each in snapshots if each.epoch == snapshots[-1].epoch])
