"""Hands a run to the store from a thread of its own: a slow disk or database must not hold up the run."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from plimsoll.errors import StoreError
from plimsoll.record import RecordCounts
from plimsoll.record.events import StoreLost, kept
from plimsoll.record.facts import RecordedRows
from plimsoll.redact import redact
from plimsoll.run import interrupts
from plimsoll.run.coordinator.progress import Observer
from plimsoll.say.events import event_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from plimsoll.record import CaughtException, Failure, Health, Interval
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.run.coordinator.progress import Batch, Progress
    from plimsoll.stats.study import Series

logger = logging.getLogger("plimsoll.run")

RETRY = 1.0
"""Seconds between attempts while the store fails."""
MOST_ROWS = 200_000
"""Rows kept in memory meanwhile (about 5 kB each); beyond that the oldest seconds are given up."""
LAST_ATTEMPTS = 3.0
"""Seconds that a failing store gets at the end of the run."""


class RunSink(Protocol):
    """What `Store.start_run` returns. Both methods raise StoreError and may be repeated then."""

    id: str

    def commit(
        self,
        intervals: Collection[Interval],
        health: Collection[Health],
        failures: Collection[Failure],
        exceptions: Collection[CaughtException],
    ) -> Mapping[str, int]: ...

    def finish(
        self,
        status: str,
        ended: float,
        notes: Collection[str],
        facts: RunFacts,
        observed: Sequence[Series] = (),
    ) -> None: ...


class _Lost:
    """What is not kept: the seconds and requests of some batches, and single numbers of others."""

    def __init__(self) -> None:
        self.seconds: set[int] = set()
        self.requests = 0
        self.batches = 0
        self.numbers: Counter[str] = Counter()
        """By column of the store: those that it cannot hold."""

    def __bool__(self) -> bool:
        return bool(self.batches or self.numbers)

    def add(self, batch: Batch) -> None:
        self.batches += 1
        self.requests += sum(interval.count for interval in batch.intervals)
        self.seconds.update(interval.second for interval in batch.intervals)
        self.seconds.update(row.second for row in batch.health)

    def __str__(self) -> str:
        return " and ".join(
            [*([self._batches()] if self.batches else []), *([self._numbers()] if self.numbers else [])]
        )

    def _batches(self) -> str:
        if not self.seconds:
            return "some failures"
        return f"seconds {min(self.seconds)} to {max(self.seconds)} ({self.requests} requests)"

    def _numbers(self) -> str:
        columns = ", ".join(f"{name}: {many}" for name, many in sorted(self.numbers.items()))
        return f"numbers out of range ({columns})"


class StoreWriter(Observer):
    """Keeps a run. What a reset leaves out stays kept; the facts of the run say what of it counts.

    open_run: starts a run with a manifest, like `Store.start_run`. manifest: called then. stored_as: called with the id
    of the run. recorded: what the run has already, if it is continued. happened: called, from a thread, when the store
    cannot be written, and again once it can.
    """

    def __init__(
        self,
        open_run: Callable[[Manifest], RunSink],
        manifest: Callable[[], Manifest],
        stored_as: Callable[[str], None] | None = None,
        recorded: RecordCounts | None = None,
        happened: Callable[[StoreLost], None] = lambda _: None,
    ) -> None:
        self._open_run = open_run
        self._manifest = manifest
        self._stored_as = stored_as
        self._writer: RunSink | None = None
        self._batches: SimpleQueue[Batch | None] = SimpleQueue()
        """None at the end of the run."""
        self._pending: deque[Batch] = deque()
        self._thread = Thread(target=self._work, name="store-writer", daemon=True)
        self._happened = happened
        self._second = 0
        """The current one of the run."""
        self._failing: StoreLost | None = None
        self._losses: list[StoreLost] = []
        """So far, as they were when they began or ended."""
        self._reason = "its writer broke down"
        self._lost = _Lost()
        self._recorded = recorded or RecordCounts()
        self._deadline = float("inf")

    @property
    def run(self) -> str | None:
        """The id of the run, once it has one."""
        return self._writer.id if self._writer else None

    def start(self, started: float, stamp: str) -> None:
        """Raises StoreError: a run that cannot even be opened is not worth starting."""
        self._writer = self._open_run(replace(self._manifest(), started=started, stamp=stamp))
        self._thread.start()
        if self._stored_as is not None:
            self._stored_as(self._writer.id)

    def second(self, progress: Progress) -> None:
        self._second = int(progress.elapsed)
        if len(progress.batch):
            self._recorded.add(progress.batch.intervals, progress.batch.health)
            self._batches.put(progress.batch)

    def finish(
        self, status: str, ended: float, notes: list[str], facts: RunFacts, observed: Sequence[Series] = ()
    ) -> list[str]:
        """Keep what is left and close the run, within seconds. Returns what was not stored, for people.

        facts: what is known of the run besides what it measured; how much that was is added. observed: of the target.
        """
        if self._writer is None:
            return ["the run was not stored"]
        self._deadline = time.monotonic() + LAST_ATTEMPTS
        self._batches.put(None)
        lost: list[str] = []
        closing = Thread(
            target=self._close, args=(self._writer, status, ended, notes, facts, observed, lost), name="store end",
            daemon=True,
        )  # fmt: skip
        closing.start()
        if interrupts.wait(lambda seconds: has_ended(closing, seconds), math.inf):
            return lost
        why = self._reason if self._failing else "the store did not answer"
        return [*lost, f"the end of the run was not stored: {why}"]

    def _close(
        self, writer: RunSink, status: str, ended: float, notes: list[str], facts: RunFacts,
        observed: Sequence[Series], lost: list[str],
    ) -> None:  # fmt: skip
        """In a thread of its own, as a store may be locked. lost: gets what was not stored."""
        self._thread.join()
        self._give_up_the_rest()
        if self._lost:
            why = f": {self._reason}" if self._lost.batches else ""
            lost.append(f"{self._lost} were not stored{why}")
        recorded = RecordedRows(exchanges=self._recorded.exchanges, reports=self._recorded.reports)
        known = replace(facts, recorded=recorded, not_stored=f"{self._lost} were not stored" if lost else None)
        for loss in self._losses:
            known = kept(loss, known)
        losses = [text for text in map(event_text, known.store_lost or ()) if text not in notes]
        try:
            writer.finish(status, ended, [*notes, *losses, *lost], known, observed)
        except StoreError as error:
            lost.append(f"the end of the run was not stored: {error}")

    def _give_up_the_rest(self) -> None:
        while not self._batches.empty():
            if batch := self._batches.get():
                self._pending.append(batch)
        for batch in self._pending:
            self._lost.add(batch)

    def _work(self) -> None:
        ending = False
        while not ending or (self._pending and time.monotonic() < self._deadline):
            ending = self._gather(ending)
            self._commit()
            self._bound()

    def _gather(self, ending: bool) -> bool:
        """Wait for work; True once the run has ended."""
        if ending:
            time.sleep(RETRY if self._failing else 0)
            return True
        try:
            batch = self._batches.get(timeout=RETRY if self._pending else None)
        except Empty:
            return False
        if batch is None:
            return True
        self._pending.append(batch)
        return False

    def _commit(self) -> None:
        # A batch whose commit failed comes again first and unchanged; the store can then tell if it has it already.
        while self._pending:
            head = self._pending[0]
            try:
                assert self._writer is not None
                left_out = self._writer.commit(head.intervals, head.health, head.failures, head.exceptions)
            except StoreError as error:
                self._reason = str(error)
                if self._failing is None:
                    self._failing = StoreLost(from_second=self._second, reason=redact(self._reason))
                    self._tell(self._failing)
                return
            self._pending.popleft()
            if left_out:
                self._leave_out(left_out)
        if self._failing is not None:
            self._tell(replace(self._failing, to_second=self._second))
        self._failing = None

    def _tell(self, loss: StoreLost) -> None:
        logger.warning(event_text(loss))
        self._losses.append(loss)
        self._happened(loss)

    def _leave_out(self, numbers: Mapping[str, int]) -> None:
        if not self._lost.numbers:
            logger.warning("the store cannot hold a number of %s; the run goes on without it", ", ".join(numbers))
        self._lost.numbers.update(numbers)

    def _bound(self) -> None:
        while len(self._pending) > 1 and sum(map(len, self._pending)) > MOST_ROWS:
            self._lost.add(self._pending[1])
            del self._pending[1]


def has_ended(thread: Thread, seconds: float) -> bool:
    """Whether the thread ends within so many seconds."""
    thread.join(seconds)
    return not thread.is_alive()
