"""Observes the target while a run goes on, from a thread of its own: what does not answer must not hold up the load."""

from __future__ import annotations

import time
from threading import Event, Thread
from typing import TYPE_CHECKING

from plimsoll.observe.kinds import opened
from plimsoll.observe.otlp import Receiver
from plimsoll.observe.processes import Machine, Processes
from plimsoll.observe.prometheus import RangeQuery
from plimsoll.observe.sampler import ProbeError, Sampler
from plimsoll.run.coordinator.progress import Observed, Observer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.observe.sampler import Probe

END_S = 5.0
"""What the last sample may take when the run is over."""


class TargetWatch(Observer):
    """From the first second of a run to its end."""

    def __init__(self, texts: Sequence[str]) -> None:
        """texts: as `observe.kinds` has them. Raises UsageError."""
        found = [opened(each) for each in texts]
        self._queries = [each for each in found if isinstance(each, RangeQuery)]
        self._probes: list[Probe] = [each for each in found if not isinstance(each, RangeQuery)]
        if any(isinstance(each, Processes) for each in self._probes):
            # Processes of this machine share its cores with each other and with the load generator.
            self._probes.append(Machine())
        self._sampler = Sampler(self._probes)
        self._thread = Thread(target=self._work, name="target watch", daemon=True)
        self._over = Event()
        self._started: float | None = None

    def start(self, started: float, stamp: str) -> None:
        self._started = started
        self._zero = time.monotonic() - (time.time() - started)
        """Second 0 of the run, by the sampler's clock."""
        self._sampler = Sampler(self._probes)
        self._thread.start()

    def server_ms(self, trace: str) -> float | None:
        """What the target took for a trace, by the longest of its own spans; None when none was sent."""
        found = [ms for each in self._probes if isinstance(each, Receiver) and (ms := each.ms(trace)) is not None]
        return max(found, default=None)

    def finish(self, ended: float) -> Observed:
        """All of it. ended: Unix time of the end of the run."""
        if self._started is None:
            return Observed()
        self._over.set()
        self._thread.join(END_S)
        if self._thread.is_alive():
            return Observed(notes=("what was observed of the target is lost: a sample did not end",))
        series = list(self._sampler.series(self._zero, self._zero + ended - self._started))
        facts = self._sampler.facts()
        notes = list(self._sampler.notes)
        for query in self._queries:
            try:
                series += query.series(self._started, ended)
            except ProbeError as error:
                notes.append(f"{query.source} was not observed: {error}")
            notes += query.notes
        return Observed(tuple(series), tuple(notes), facts)

    def close(self) -> None:
        """May be repeated."""
        self._over.set()
        self._sampler.close()

    def _work(self) -> None:
        while not self._over.wait(self._sampler.wait()):
            self._sampler.sample()
