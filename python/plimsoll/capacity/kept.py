"""Stores a search as an experiment with a cell for each run, so that a later session can continue it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.redact import storable_json
from plimsoll.report.probe import probe_of
from plimsoll.stats.study import Level
from plimsoll.store.cells import CellOutcome, ExperimentFile, run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.capacity.search import Settings
    from plimsoll.stats.capacity.probe import CapacityProbe, ProbePhase
    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.store import Store
    from plimsoll.store.cells import StoredCell

OVER = ("valid", "invalid")
"""States of completed cells."""
MARGIN = 300.0
"""Seconds after a run's expected end before another machine may consider this process dead."""


def runs_over(states: Mapping[str, int]) -> int:
    """Completed cells, of how many cells have each state."""
    return sum(states.get(state, 0) for state in OVER)


def kept_file(
    settings: Settings,
    criteria: Sequence[Threshold],
    *,
    variant: str,
    pauses: Mapping[str, float],
    words: Sequence[str],
    files: Sequence[str],
    command: str,
) -> ExperimentFile:
    """The parameters of a search, to be stored. pauses: seconds by name, e.g. "warmup". words: the arguments of its
    runs, stored as a digest. files: those that the runs read. Raises UsageError for an unreadable file."""
    objective = ", ".join(each.text for each in criteria)
    search = {**asdict(settings), **pauses, "slo": [each.text for each in criteria], "arguments": _digest(words)}
    spec = storable_json({"capacity": search, "variants": [{"name": variant}], "scenarios": [{"name": ""}]})
    try:
        digests = {each: hashlib.sha256(Path(each).read_bytes()).hexdigest() for each in files}
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from error
    return ExperimentFile(
        spec, _digest(spec), digests, f"Which load meets {objective}?", settings.seed, is_aa=False, command=command
    )


def short_name(source: str) -> str:
    """A name that needs no quotes in a shell. source: a URL or a file."""
    return re.sub(r"[^\w.:-]+", "-", re.sub(r"^\w+://([^/@]*@)?", "", source)).strip("-")


def take_up(
    store: Store, name: str | None, default: str, file: ExperimentFile, *, resume: bool, fresh: bool
) -> KeptKey:
    """Begin or continue a search; this process then owns it. name: as given; None for `default`, with a number appended
    after the first finished one. Raises UsageError if it is not possible, with the reason; StoreError."""
    kept = store.experiments
    name = name or _not_finished(store, default)
    stored = kept.find(name)
    if stored is None:
        if resume:
            raise UsageError(f"there is no search {name} to go on with; leave --resume out")
        return KeptKey(name, kept.begin(name, file, ()))
    if stored.file is None or "capacity" not in stored.file.spec:
        raise UsageError(f"{name} is the name of an experiment; give the search another one with --name")
    if stored.is_running:
        raise UsageError(f"search {name} is being run by another process; wait for it, or stop it")
    states = kept.states(stored.key)
    if fresh or not runs_over(states):
        return KeptKey(name, kept.begin(name, file, ()))
    if stored.status == "finished":
        raise UsageError(f"search {name} is finished: `plimsoll report {name}` shows it; --fresh starts over")
    if not resume:
        raise UsageError(f"search {name} was interrupted; --resume goes on with it, --fresh starts over")
    if changed := _changes(stored.file, file):
        lines = "\n  ".join([f"this is not how search {name} was begun:", *changed])
        raise UsageError(f"{lines}\nput that back to go on; --fresh starts over")
    kept.resume(stored.key, file)
    return KeptKey(name, stored.key)


def _not_finished(store: Store, default: str) -> str:
    """The first of default, default-2, … that is free, or belongs to an interrupted search."""
    for number in count(1):
        name = default if number == 1 else f"{default}-{number}"
        stored = store.experiments.find(name)
        if stored is None or stored.status != "finished":
            break
    return name


@dataclass(frozen=True, slots=True)
class KeptKey:
    """A stored search that this process owns."""

    name: str
    key: int


@dataclass(slots=True)
class KeptSearch:
    """Measures loads: returns the runs of an earlier session first, in their order, then makes new ones."""

    store: Store
    kept: KeptKey
    settings: Settings
    criteria: tuple[Threshold, ...]
    variant: str
    """The variant name of the cells."""
    run: Callable[[float, int, str], str]
    """Makes a run: (load, number, name) → its id. Raises PlimsollError."""
    tell: Callable[[CapacityProbe], None]
    """Called with each run."""
    loads: list[float] = field(default_factory=list)
    """Measured so far."""

    def __call__(self, load: float, phase: ProbePhase) -> CapacityProbe:
        """Raises PlimsollError, KeyboardInterrupt; the next session then repeats the run."""
        self.loads.append(load)
        cell = self._cell(load)
        if cell.state in OVER and cell.run is not None:
            probe = probe_of(self.store.run(cell.run), self.criteria, load, phase)
        else:
            probe = self._measured(cell, load, phase)
        self.tell(probe)
        return probe

    def _measured(self, cell: StoredCell, load: float, phase: ProbePhase) -> CapacityProbe:
        experiments, key = self.store.experiments, self.kept.key
        experiments.start(key, cell.key, promised=self.settings.seconds + MARGIN)
        try:
            run = self.run(load, cell.number, run_name(self.kept.name, cell.label))
            probe = probe_of(self.store.run(run), self.criteria, load, phase)
            if probe.unreachable and cell.number == 1:
                raise PlimsollError(f"no request of the first run reached the target: {probe.unreachable}")
        except BaseException:
            experiments.give_back(key, cell.key)
            raise
        outcome = CellOutcome(
            "invalid" if probe.invalid else "valid", "".join(probe.invalid[:1]), run, data={"phase": phase}
        )
        experiments.finish(key, cell.key, outcome)
        return probe

    def _cell(self, load: float) -> StoredCell:
        """The row of the current run."""
        number = len(self.loads)
        place = {
            "number": number, "repeat": self.loads.count(load), "variant": self.variant, "unit": self.settings.unit,
            "level": load, "operation": "", "seed": self.settings.seed + number,
        }  # fmt: skip
        cells = self.store.experiments.cells(self.kept.key)
        if len(cells) < number:
            self.store.experiments.add(self.kept.key, [place])
            cells = self.store.experiments.cells(self.kept.key)
        cell = cells[number - 1]
        if cell.level != Level(self.settings.unit, load):
            raise UsageError(
                f"search {self.kept.name} was begun by a Plimsoll that chose other loads; --fresh starts over"
            )
        return cell


def _changes(was: ExperimentFile, now: ExperimentFile) -> list[str]:
    """The differences, one per line."""
    before, after = was.spec["capacity"], now.spec["capacity"]
    lines = [
        f"{name}: {before.get(name)} → {value}" if name != "arguments" else "the arguments of its runs differ"
        for name, value in after.items()
        if before.get(name) != value
    ]
    return lines + [f"{name} has changed" for name, digest in now.files.items() if was.files.get(name) != digest]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
