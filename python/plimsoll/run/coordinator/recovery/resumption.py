"""A run that is continued after the process that coordinated it was lost: what the store and the workers have of it.

The workers have ended their load. New ones begin in their places, with the arrivals that are due from then on.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plimsoll._engine import now
from plimsoll.errors import UsageError
from plimsoll.record import RecordCounts
from plimsoll.record.events import MissingRest, Resumed
from plimsoll.redact import storable_json
from plimsoll.run.coordinator.progress import Batch
from plimsoll.run.coordinator.run_clock import SECOND
from plimsoll.run.manifest import plan_fields
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport.bundle import Bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plimsoll.record.manifest import Manifest
    from plimsoll.run.coordinator.account import ResettableView
    from plimsoll.run.coordinator.name_limit import NameLimit
    from plimsoll.run.coordinator.run_clock import RunClock
    from plimsoll.run.result import Result
    from plimsoll.run.transport.kept import KeptSeconds
    from plimsoll.run.transport.master import JoinedMachine
    from plimsoll.run.transport.messages import EncodedSnapshot
    from plimsoll.store import Store, StoredRun
    from plimsoll.store.writer import RunWriter

MAY_BE_MASKED = ("command", "arguments", "options")
"""Fields of a plan in which the store may not have all values."""


def check_resumable(run: StoredRun) -> None:
    """Raises UsageError for a run that cannot be continued."""
    plan = run.manifest.plan
    if run.status == "running":
        raise UsageError(f"the process of run {run.id} is still there, so nothing is lost; `plimsoll stop` ends it")
    if run.status != "interrupted":
        raise UsageError(f"run {run.id} has ended ({run.status}); there is nothing to continue")
    if not plan.joined:
        raise UsageError(
            f"the workers of run {run.id} ended with its command; start it again. Only a run with --master, --on or "
            "--cluster can be continued"
        )
    if missing := [name for name in plan.env if name not in os.environ]:
        raise UsageError(
            f"the workers of run {run.id} had {', '.join(missing)} of its command (--env): export it here first"
        )
    if run.manifest.shaped:
        raise UsageError(f"run {run.id} followed a LoadTestShape, which would begin anew; start it again")
    if (what := unknown_rest(plan.to_json())) is not None:
        raise UsageError(f"{what} run {run.id} has left is not known; start it again")


def unknown_rest(plan: Mapping[str, Any]) -> str | None:
    """What of a plan a new worker in the place of a lost one would begin anew: "how many …", "which …"."""
    load = plan.get("load") or {}
    for what in ("iterations", "requests"):
        if load.get(what) is not None:
            return f"how many {what}"
    for feeder in (plan.get("scenario") or {}).get("feeders", ()):
        if feeder["at_end"] != "recycle":
            return f"which rows of feeder {feeder['name']}"
    return None


def resumed_plan(run: StoredRun, kept: KeptSeconds, *, log_exchanges: bool) -> RunPlan:
    """What the run goes on with, as a worker has it; the store has no credentials, bodies and rows. Raises UsageError
    if that is not what the store knows of it."""
    try:
        plan = RunPlan.from_dict(kept.plan)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"what a worker says of run {run.id} is no plan; start it again") from error
    fields = json.loads(json.dumps(storable_json(plan_fields(plan))))
    for name, value in run.manifest.plan.to_json().items():
        # Who may join may also say anything. Secrets of the locustfile's options are not known here.
        if name not in MAY_BE_MASKED and fields[name] != value:
            raise UsageError(f"what a worker says of run {run.id} is not what the store has ({name}); start it again")
    if plan.locustfiles:
        hashes = [content for _, content in Bundle.of(plan.locustfiles).files]
        if hashes != [file.sha256 for file in run.manifest.scenario.files]:
            raise UsageError(f"{', '.join(plan.locustfiles)} has changed since run {run.id} began; start it again")
    return replace(plan, has_page=False, reset_stats=False, log_exchanges=log_exchanges, run_id=run.id)


def kept_thresholds(run: StoredRun) -> tuple[str, ...]:
    """Those that the run began with, but for those of a locustfile, which says them again."""
    return run.manifest.thresholds


@dataclass(frozen=True, slots=True)
class _Gap:
    """Of one worker: the first second of which something is missing; None if nothing is. new: what is not stored."""

    worker: int
    from_second: int | None
    new: list[EncodedSnapshot]


class Resumption:
    """run: as the store has it. machines: one for each worker, by its index."""

    def __init__(self, run: StoredRun, machines: Sequence[JoinedMachine]) -> None:
        self._machines = machines
        self.goes_on = False
        """This process writes the run."""
        self.notes: list[str] = []
        """Those of the run from now on, as `facts`; known once the load is about to begin."""
        self.facts = run.facts
        self._run = run
        self._stored = Batch(list(run.intervals()), list(run.health()), list(run.failures()), list(run.exceptions()))
        self.recorded = RecordCounts()
        """How much the store has."""
        self.recorded.add(self._stored.intervals, self._stored.health)
        self._begun = max((event.to_second for event in run.facts.resumed or ()), default=0)
        """The first second since it was last continued."""
        self._gaps = [self._gap(index, machine.kept) for index, machine in enumerate(machines)]

    @property
    def manifest(self) -> Manifest:
        return self._run.manifest

    def opener(self, store: Store) -> Callable[[Manifest], RunWriter]:
        """Goes on with the run where a new one is started."""

        def resume(_: Manifest) -> RunWriter:
            writer = store.resume_run(self._run, self.notes, self.facts)
            self.goes_on = True
            return writer

        return resume

    def begin(self, clock: RunClock, head_start: int, result: Result) -> float:
        """The load is about to begin again, ns from now. Returns the Unix time of second 0."""
        clock.resume(self._epoch(), head_start, self._run.started)
        last = max(self._last_seconds(), default=0)
        resumed = Resumed(
            from_second=last,
            to_second=clock.second,
            incomplete=tuple(
                MissingRest(worker=each.worker, from_second=each.from_second)
                for each in self._gaps
                if each.from_second is not None
            ),
        )
        result.notes += self._run.notes
        result.facts = self._run.facts
        result.note_event(resumed)
        self.notes, self.facts = list(result.notes), result.facts
        return self._run.started

    def restore(self, account: ResettableView, names: NameLimit) -> Batch:
        """Have the account count what is stored. Returns what is not."""
        since = self._run.started + account.view.warmup
        failures = [each for each in self._stored.failures if not account.view.warmup or each.last >= since]
        account.add(replace(self._stored, failures=failures), self._run.started, 0.0)
        batch = Batch()
        for each in self._gaps:
            for snapshot in each.new:
                batch.add(names.fold(snapshot).decode(self._run.started - snapshot.epoch / SECOND))
        return batch

    def _gap(self, worker: int, kept: KeptSeconds | None) -> _Gap:
        """A worker's seconds follow each other: what ends with one that is stored is stored itself."""
        stored = max((row.second for row in self._stored.health if row.worker == worker), default=-1)
        wanted = max(stored + 1, self._begun)
        if kept is None or kept.last < stored:  # of one whose place another one has taken
            return _Gap(worker, wanted, [])
        ends = [max(_seconds(each), default=None) for each in kept.snapshots]
        known = max((place for place, end in enumerate(ends) if end is not None and end <= stored), default=-1)
        new = kept.snapshots[known + 1 :]
        first = min((second for each in new for second in _seconds(each) if second > stored), default=wanted)
        return _Gap(worker, wanted if first > wanted else None, new)

    def _last_seconds(self) -> Iterator[int]:
        yield from (row.second for row in self._stored.health)
        yield from (second for gap in self._gaps for each in gap.new for second in _seconds(each))

    def _epoch(self) -> int:
        """Second 0 by our clock: by the worker's whose clock is best known, else by the time of day."""
        found = []
        for machine in self._machines:
            if machine.kept is not None and (estimate := machine.estimate()) is not None:
                found.append((estimate.error, machine.kept.epoch - estimate.offset))
        return min(found)[1] if found else now() - round((time.time() - self._run.started) * SECOND)


def _seconds(snapshot: EncodedSnapshot) -> list[int]:
    return [row[0] for row, _ in snapshot.health]
