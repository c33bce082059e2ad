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
from plimsoll.run import interrupts
from plimsoll.run.coordinator.progress import Observed, Observer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.observe.sampler import Probe

END_S = 30.0
"""Seconds that the last sample, the last spans and the queries may take altogether when the run is over."""


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
        self._is_done = Event()
        self._started: float | None = None
        self._ended: float | None = None
        """Unix time of the end of the run, once it is to be reported."""
        self._observed = Observed(notes=("what was observed of the target is lost: it did not answer in time",))

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
        self._ended = ended
        self.close()
        return self._observed

    def close(self) -> None:
        """May be repeated. What does not end in time is left to its thread, which closes everything when it ends."""
        self._over.set()
        if self._started is None:
            self._sampler.close()
        else:
            interrupts.wait(self._is_done.wait, END_S)

    def _work(self) -> None:
        try:
            while not self._over.wait(self._sampler.wait()):
                self._sampler.sample()
            if self._ended is not None:
                self._observed = self._read(self._ended)
        finally:
            # By the thread that reads: another one would wait for the lock of what is being read.
            self._sampler.close()
            self._is_done.set()

    def _read(self, ended: float) -> Observed:
        assert self._started is not None
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
