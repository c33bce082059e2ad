"""What the target's responses say their time was made of: the parts of the header Server-Timing, by endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.observe.thinned_series import ThinnedSeries
from plimsoll.record.observed import ObservedSource, ObservedWork
from plimsoll.run.coordinator.progress import Observed, Observer

if TYPE_CHECKING:
    from plimsoll.run.coordinator.progress import Progress

SOURCE = "Server-Timing"
MOST = 500
"""Parts of all endpoints together. Their series are thinned, so they take 20 MB at most."""

Key = tuple[str, str, str]
"""Method and name of the endpoint, name of the part."""


@dataclass(slots=True)
class _Part:
    ns: int = 0
    micros: Histogram = field(default_factory=Histogram)
    means: ThinnedSeries = field(default_factory=ThinnedSeries)
    """Seconds of the run, and the mean in ms of about a second before that."""

    def work(self, method: str, endpoint: str, name: str) -> ObservedWork:
        return ObservedWork(
            service=f"{method} {endpoint}".strip(),
            name=name,
            calls=self.micros.count,
            ms=self.ns / 1e6,
            p50=self.micros.value_at(0.5) / 1000,
            p95=self.micros.value_at(0.95) / 1000,
            max=self.micros.max / 1000,
        )


class ServerTimings(Observer):
    """Adds up what the workers hand over, and keeps the mean of each second. Nothing of the warm-up is in it."""

    def __init__(self) -> None:
        self._parts: dict[Key, _Part] = {}
        self._left_out = 0
        """The most parts of one second that were not kept. A target may name them anew in each response."""

    def second(self, progress: Progress) -> None:
        new: dict[Key, _Part] = {}
        others: set[Key] = set()
        for method, name, part, ns, encoded in progress.batch.parts:
            key = method, name, part
            if key not in self._parts and len(self._parts) >= MOST:
                others.add(key)
                continue
            sums = new.setdefault(key, _Part())
            sums.ns += ns
            sums.micros.add(Histogram.decode(encoded))
        for key, sums in new.items():
            known = self._parts.get(key)
            if known is None:
                if len(self._parts) >= MOST:
                    others.add(key)
                    continue
                known = self._parts[key] = _Part()
            known.ns += sums.ns
            known.micros.add(sums.micros)
            known.means.add(progress.elapsed, sums.ns / sums.micros.count / 1e6)
        self._left_out = max(self._left_out, len(others))

    def reset_at(self, second: int) -> None:
        for each in self._parts.values():
            each.ns, each.micros = 0, Histogram()

    def finish(self) -> Observed:
        """All of it."""
        if not self._parts:
            return Observed()
        # Only here: numpy takes a while to import.
        import numpy as np

        from plimsoll.stats.study import Series

        series = tuple(
            Series(SOURCE, f"{part} of {method} {name}".replace("  ", " "), "ms", *map(np.array, each.means.points()))
            for (method, name, part), each in self._parts.items()
        )
        works = [sums.work(*key) for key, sums in self._parts.items() if sums.micros.count]
        works.sort(key=lambda work: -work.ms)
        there_are = MOST + self._left_out
        notes = (f"{SOURCE}: only the first {MOST} of {there_are} parts or more are kept",) if self._left_out else ()
        return Observed(series, notes, {SOURCE: ObservedSource(parts=tuple(works))})
