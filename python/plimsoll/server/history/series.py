"""The runs of a store grouped into series: runs of the same kind, whose numbers are comparable."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.report.load import load_in_short
from plimsoll.say.durations import duration_text
from plimsoll.server.history.runs import is_of_cell
from plimsoll.server.messages import SeriesItem
from plimsoll.stats.kinds import RunKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.manifest import Manifest
    from plimsoll.store import Store, StoredRun

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class SeriesPosition:
    """The position of a run in its series."""

    key: str
    label: str
    started: float


class SeriesOfRuns:
    """Caches the position of each run: manifests do not change, and there may be thousands."""

    def __init__(self) -> None:
        self._places: dict[str, SeriesPosition | None] = {}
        """By id; None for a cell of an experiment."""
        self._lock = threading.Lock()

    def all(self, store: Store) -> list[SeriesItem]:
        """Sorted by latest run, the latest first."""
        by_key: dict[str, list[SeriesPosition]] = {}
        for place in self._look(store).values():
            if place is not None:
                by_key.setdefault(place.key, []).append(place)
        items = [_item(places) for places in by_key.values()]
        return sorted(items, key=lambda item: (-item.latest, item.key))

    def find(self, store: Store, key: str) -> tuple[SeriesItem, list[str]] | None:
        """The series with this key, and the ids of its runs, the latest first; None if it has no runs."""
        found = {run: place for run, place in self._look(store).items() if place is not None and place.key == key}
        return (_item(list(found.values())), list(found)) if found else None

    def _look(self, store: Store) -> dict[str, SeriesPosition | None]:
        ids = store.ids()
        with self._lock:
            new = [run for run in ids if run not in self._places]
            for at in range(0, len(new), _AT_ONCE):
                self._places.update((run.id, _place(run)) for run in store.several(new[at : at + _AT_ONCE]))
            return {run: self._places[run] for run in ids if run in self._places}


def _item(places: Sequence[SeriesPosition]) -> SeriesItem:
    latest = max(places, key=lambda place: place.started)
    return SeriesItem(latest.key, latest.label, len(places), latest.started)


def _place(run: StoredRun) -> SeriesPosition | None:
    if is_of_cell(run):
        return None
    kind = kind_of(run.manifest)
    return SeriesPosition(kind.key, _label(kind, run.manifest), run.started)


def _label(kind: RunKind, manifest: Manifest) -> str:
    """E.g. "locustfile.py at 50 users for 2 min, against http://127.0.0.1:8000, 2 processes"."""
    plan, load, warmup = manifest.plan, load_in_short(manifest), manifest.warmup
    length, processes = manifest.run_time, manifest.processes or 1
    words = [kind.source, f"at {load}" if load else "", f"for {duration_text(length)}" if length else ""]
    parts = (
        " ".join(word for word in words if word),
        f"against {manifest.host}" if manifest.host not in (None, kind.source) else "",
        f"warm-up {duration_text(warmup)}" if warmup else "",
        f"{processes} processes" if processes != 1 else "",
        " ".join(plan.arguments or ()),
        f"tags {', '.join(plan.tags)}" if plan.tags else "",
        f"without tags {', '.join(plan.exclude_tags)}" if plan.exclude_tags else "",
        "times of successes" if manifest.times_of == "successes" else "",
    )
    return ", ".join(part for part in parts if part)
