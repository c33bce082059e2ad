"""All that a run will do on this machine and beyond it, composed from its plan."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from plimsoll.experiment.reproduction.changes import compared
from plimsoll.experiment.reproduction.files import shown
from plimsoll.observe.kinds import touches
from plimsoll.report.load import load_in_short
from plimsoll.report.writing import STDOUT
from plimsoll.run.guard import places_of
from plimsoll.run.manifest import plan_files
from plimsoll.run.options.table import output_options
from plimsoll.say.durations import duration_text
from plimsoll.store.database import absolute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import Outputs, PlannedRun


class Doing(Enum):
    """What a run does, in the order in which it is shown."""

    RUNS = "runs"
    IMPORTS = "imports"
    READS = "reads"
    WRITES = "writes"
    LISTENS = "listens at"
    CONNECTS = "connects to"
    SETS = "sets"
    SENDS = "sends load to"


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a run does."""

    doing: Doing
    what: str
    """In full, with any secrets: what is masked may hide what is done. Not yet made fit for a terminal."""


_OBSERVED = {
    "reads": (Doing.READS, "figures of "), "runs": (Doing.RUNS, "a program that knows figures of "),
    "connects": (Doing.CONNECTS, ""), "listens": (Doing.LISTENS, ""),
}  # fmt: skip


def effects_of(run: PlannedRun, read: Iterable[Path], digests: Mapping[int, str], url: str = "") -> list[Effect]:
    """read: files that were read for its plan. digests: the SHA-256 of its own files in the stored run, by their place.
    url: its target, if the plan has only a stand-in."""
    return [
        Effect(Doing.RUNS, _workers(run.plan)),
        *_files(run.plan, read, digests),
        *_written(run),
        *observed(run.outputs.observe),
        *_set(run.plan),
        *_sent(run.plan, url),
    ]


def named_outputs(words: Sequence[str]) -> tuple[str, ...]:
    """The options about outputs among the words of a stored command line, by their long names."""
    given = {word.partition("=")[0] for word in words}
    return tuple(option.flag for option in output_options() if given & set(option.flags))


def observed(texts: Iterable[str]) -> Iterator[Effect]:
    """What it takes to observe these. Raises UsageError for a text that is not known."""
    for text in texts:
        doing, before = _OBSERVED[touches(text)]
        yield Effect(doing, f"{before}{text}")


def _workers(plan: RunPlan) -> str:
    return f"{plan.processes:,} worker process{'es' if plan.processes != 1 else ''} of Plimsoll"


def _files(plan: RunPlan, read: Iterable[Path], digests: Mapping[int, str]) -> Iterator[Effect]:
    own = plan_files(plan)
    doing = Doing.IMPORTS if plan.locustfiles else Doing.READS
    for place, path in enumerate(own):
        yield Effect(doing, compared(path, digests.get(place)))
    for other in read:
        if str(other) not in own:
            yield Effect(Doing.READS, shown(other))


def _written(run: PlannedRun) -> Iterator[Effect]:
    outputs = run.outputs
    yield Effect(Doing.WRITES, f"{shown(absolute(outputs.store))} (the store: the new run)")
    for path in written_files(outputs, run.plan.logfile):
        yield Effect(Doing.WRITES, shown(path))


def written_files(outputs: Outputs, logfile: str | None) -> list[str]:
    """The files of a run besides its store."""
    named = [path for _, path in outputs.files() if path != STDOUT]
    prefix = [f"{outputs.csv}_*.csv"] if outputs.csv else []
    return [*named, *prefix, *filter(None, (outputs.exchanges, logfile))]


def _set(plan: RunPlan) -> Iterator[Effect]:
    if plan.locustfiles and plan.arguments:
        yield Effect(Doing.SETS, f"for the locustfile: {shlex.join(plan.arguments)}")


def _sent(plan: RunPlan, url: str) -> Iterator[Effect]:
    load = plan.described(users=plan.users, shaped=False)
    seconds = plan.seconds
    size = f"{load_in_short(load)}, {'until it is stopped' if seconds is None else duration_text(seconds)}"
    places = [f"{place.url}{f' by way of {place.shown_proxy}' if place.proxy else ''}" for place in places_of(plan)]
    for place in [url] if url else places or ["the hosts that the locustfile names"]:
        yield Effect(Doing.SENDS, f"{place}: {size}")
