"""Runs one load of the search in a separate process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.run.planning import planned_run, read_source
from plimsoll.run.supervised import generator
from plimsoll.run.supervised.process import StartError
from plimsoll.say.durations import format_duration

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.capacity.search import Settings
    from plimsoll.run.options.command import RunWords
    from plimsoll.run.planned import PlannedRun

SLACK = 90.0
"""Seconds that a run may take longer than its planned length."""
POLL_INTERVAL_S = 0.2
"""Interval in seconds between checks whether it has ended."""


class Prober:
    """Runs a load. Raises PlimsollError if a run is impossible; failures of the target are results."""

    def __init__(
        self, words: RunWords, settings: Settings, place: str | None, folder: Path, *, warmup: float, cool_down: float
    ) -> None:
        """words: the arguments of `plimsoll run` without load and length. place: the store of the runs, as in
        `--store`. folder: for temporary files. warmup: seconds at the start of each run that do not count. cool_down:
        pause of the target in seconds before a run. Raises PlimsollError for words that do not define a run."""
        self._words = words
        self._settings = settings
        self._place = place
        self._folder = folder
        self._warmup = warmup
        self._cool_down = cool_down
        self._has_run = False
        self.source = read_source(words.arguments, words.given)
        self.first = self.planned(settings.start, 1, "first")
        """The run of the first load."""

    def __call__(self, load: float, number: int, name: str) -> str:
        """The id of the run. number: its position in the search, from 1. name: of the run."""
        if self._has_run:
            time.sleep(self._cool_down)
        self._has_run = True
        planned = self.planned(load, number, name)
        settings = self._settings
        try:
            run = generator.start(planned, self._folder, f"run-{number}", grace=SLACK / 2)
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
            described = generator.summary_of(self._summary(number)).get("run")
            if ending.status == generator.USAGE or ending.status < 0 or described is None:
                said = [each.removeprefix("plimsoll: ") for each in run.tail() if each.strip()]
                raise PlimsollError("\n".join(said[-3:]) or f"a run at {load:g} failed: {ending}")
        return str(described["id"])

    def planned(self, load: float, number: int, name: str) -> PlannedRun:
        """Raises PlimsollError."""
        settings = self._settings
        changes: dict[str, Any] = {
            "run_time": settings.seconds,
            "warmup": format_duration(self._warmup) if self._warmup else None,
            # A different seed each time: with equal random numbers, runs would agree more than the target does with
            # itself.
            "seed": settings.seed + number,
            "name": name,
            "store": self._place,
            "headless": True,
            "only_summary": True,
            "summary": str(self._summary(number)),
        }
        if settings.unit == "users":
            # All at once: a locustfile's users would otherwise start at one per second.
            changes |= {"users": round(load), "spawn_rate": float(round(load)) if self.source.locustfiles else None}
        else:
            changes["rate"] = f"{load:.12g}/s"
        return planned_run(self._words, self.source, changes)

    def _summary(self, number: int) -> Path:
        return self._folder / f"summary-{number}.json"
