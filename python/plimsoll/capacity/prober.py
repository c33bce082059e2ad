"""One run of the search in a process of its own, read back from the store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.load.durations import format_duration
from plimsoll.run.planning import planned_run, read_source
from plimsoll.run.supervised import generator
from plimsoll.run.supervised.process import StartError
from plimsoll.stats.capacity.estimate import CapacityProbe
from plimsoll.stats.thresholds.slo import strains
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from plimsoll.capacity.search import Settings
    from plimsoll.run.options.command import RunWords
    from plimsoll.run.planned import PlannedRun
    from plimsoll.stats.capacity.estimate import ProbePhase
    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.stats.thresholds.slo import Strain
    from plimsoll.store import Store

SLACK = 90.0
"""Seconds that a run may take beyond what it was told to."""
LATENESS = frozenset({"lag", "delay", "cpu"})
"""Checks of a run's validity that are about time which the generator took."""
POLL_INTERVAL_S = 0.2
"""Seconds between looks at whether it has ended."""


class Prober:
    """Measures a load. Raises PlimsollError when a run cannot be made; what the target does is a result."""

    def __init__(
        self,
        words: RunWords,
        settings: Settings,
        criteria: tuple[Threshold, ...],
        store: Store,
        place: str | None,
        folder: Path,
        *,
        warmup: float,
        cool_down: float,
        tell: Callable[[CapacityProbe], None],
    ) -> None:
        """words: what follows `plimsoll run`, without load and length. store, place: where runs are kept, opened and
        as `--store` names it. folder: for files that pass. warmup: seconds of each run that do not count. cool_down:
        seconds for which the target is left alone before a run. tell: called with each run. Raises PlimsollError for
        words that make no run."""
        self._words = words
        self._source = read_source(words.arguments, words.given)
        self._settings = settings
        self._criteria = criteria
        self._store = store
        self._place = place
        self._folder = folder
        self._warmup = warmup
        self._cool_down = cool_down
        self._tell = tell
        self._runs = 0
        self.planned(settings.start, "double", folder / "run.json")

    def __call__(self, load: float, phase: ProbePhase) -> CapacityProbe:
        if self._runs:
            time.sleep(self._cool_down)
        self._runs += 1
        probe = self._read(self._run(load, phase), load, phase)
        self._tell(probe)
        return probe

    def planned(self, load: float, phase: ProbePhase, summary: Path) -> PlannedRun:
        """Raises PlimsollError."""
        settings = self._settings
        unit = " users" if settings.unit == "users" else "/s"
        changes: dict[str, Any] = {
            "run_time": settings.seconds,
            "warmup": format_duration(self._warmup) if self._warmup else None,
            # A different seed each time: runs that draw the same would agree more than the target does with itself.
            "seed": settings.seed + self._runs,
            "name": f"capacity: {load:.4g}{unit} ({phase})",
            "store": self._place,
            "headless": True,
            "only_summary": True,
            "summary": str(summary),
        }
        if settings.unit == "users":
            # All at once: a locustfile's users would else come one per second.
            changes |= {"users": round(load), "spawn_rate": float(round(load)) if self._source.locustfiles else None}
        else:
            changes["rate"] = f"{load:.12g}/s"
        return planned_run(self._words, self._source, changes)

    def _run(self, load: float, phase: ProbePhase) -> str:
        """The id of the run."""
        summary = self._folder / f"run-{self._runs}.json"
        planned = self.planned(load, phase, summary)
        settings = self._settings
        try:
            run = generator.start(planned, self._folder, f"run-{self._runs}", grace=SLACK / 2)
        except StartError as error:
            raise PlimsollError(f"a run cannot be started: {error}") from error
        deadline = time.monotonic() + self._warmup + settings.seconds + SLACK
        with run:
            try:
                while (ending := run.wait(POLL_INTERVAL_S)) is None:
                    if time.monotonic() > deadline:
                        raise PlimsollError(f"a run at {load:g} did not end; its last words: {' | '.join(run.tail())}")
            except KeyboardInterrupt:
                run.interrupt()
                run.wait(SLACK / 2)
                raise
            described = generator.summary_of(summary).get("run")
            if ending.status == generator.USAGE or ending.status < 0 or described is None:
                said = [each.removeprefix("plimsoll: ") for each in run.tail() if each.strip()]
                raise PlimsollError("\n".join(said[-3:]) or f"a run at {load:g} failed: {ending}")
        return str(described["id"])

    def _read(self, run: str, load: float, phase: ProbePhase) -> CapacityProbe:
        stored = self._store.run(run)
        view = RunView.of(stored)
        counted = (each for each in stored.intervals() if each.second >= view.warmup)
        found = strains(self._criteria, counted, view.duration, view.timed)
        failed = [each for each in judge(view, stored.manifest, stored.facts).checks if each.state == "failed"]
        owed = (view.generator.lag.value_at(0.99) + view.generator.delay.value_at(0.99)) / 1000
        reasons = () if cannot_have_decided({each.name for each in failed}, found, owed) else failed
        return CapacityProbe(load, view.duration, phase, found, tuple(each.text for each in reasons), run)


def cannot_have_decided(failed: AbstractSet[str], found: Sequence[Strain], owed: float) -> bool:
    """Whether what was wrong with the generator leaves the verdict on an objective as it is.

    What it sent late is in the response times, so an objective that was met in spite of that was met. One that was
    broken was broken by the target if it still is with all taken off that the generator owed (ms, at its p99), and no
    lateness makes requests fail. failed: names of the checks of the run's validity that failed.
    """
    if failed - LATENESS:
        return False
    if all(each.held for each in found):
        return True
    if "cpu" in failed:
        return False
    return any(
        not each.criterion.subject.is_time or (each.value is not None and each.value - owed > each.criterion.limit)
        for each in found
        if not each.held
    )
