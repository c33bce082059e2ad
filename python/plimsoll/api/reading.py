"""Stored runs: what a store has, what a run measured, and how one compares with another."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.api.frames import Table
from plimsoll.api.layouts import ROWS, RUNS, SECONDS, VERDICTS
from plimsoll.api.values import FindingText, SecondRow
from plimsoll.errors import UsageError
from plimsoll.experiment.matching.studies import matched
from plimsoll.experiment.refs import source_of_run, study_of_refs
from plimsoll.experiment.study import study_of_run
from plimsoll.report import outputs
from plimsoll.report.document.opening import answer_lines
from plimsoll.report.formats import all_formats, of_runs
from plimsoll.report.gate import regressions
from plimsoll.report.render.interval_rows import about_run
from plimsoll.report.run_summary import summarised
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.run.options.option import STORE
from plimsoll.run.options.value_sources import value_of
from plimsoll.say.answer import answer_of
from plimsoll.say.validity import check_texts
from plimsoll.stats.analysis import analyse
from plimsoll.stats.seconds import by_second
from plimsoll.stats.table import rows_of, total_of
from plimsoll.stats.totals import Totals
from plimsoll.store import Store

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from plimsoll.record import Failure
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.report.run_summary import RunSummary
    from plimsoll.report.sources import StudySource
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study
    from plimsoll.stats.table import RunRow
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.store import StoredRun


class Run:
    """A run of a store. What is read of it is kept; ask the store again for a run that goes on.

    Reading raises StoreError for a run that is damaged.
    """

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored = stored
        self._store = store

    @property
    def id(self) -> str:
        return self._stored.id

    @property
    def status(self) -> str:
        """running, finished, stopped, failed, interrupted or damaged."""
        return self._stored.status

    @property
    def started(self) -> float:
        """Unix time of second 0."""
        return self._stored.started

    @property
    def ended(self) -> float | None:
        """Unix time; None while it goes on."""
        return self._stored.ended

    @property
    def experiment(self) -> str | None:
        return self._stored.experiment

    @property
    def tags(self) -> tuple[str, ...]:
        return self._stored.tags

    @property
    def note(self) -> str:
        return self._stored.note

    @property
    def manifest(self) -> Manifest:
        """What is needed to repeat it: scenario, load, host, versions, commit, machine."""
        return self._stored.manifest

    @property
    def facts(self) -> RunFacts:
        """What was found out while it went on."""
        return self._stored.facts

    @property
    def is_valid(self) -> bool:
        """Whether its load was the load that was asked for."""
        return not self.invalid

    @property
    def invalid(self) -> tuple[str, ...]:
        """Why it is not valid, in sentences."""
        return tuple(check_texts(self._source.assessment.validity.failed))

    @property
    def thresholds(self) -> tuple[ThresholdResult, ...]:
        """Each with its outcome: passed, broken or not shown."""
        return self._source.assessment.thresholds

    @property
    def answer(self) -> tuple[str, ...]:
        """The sentences with which every report of it begins; none for a run without a request."""
        return answer_lines(self._source.view, self.manifest, self._source.assessment)

    @cached_property
    def findings(self) -> tuple[FindingText, ...]:
        """Blocking ones first, then warnings, then insights."""
        return tuple(map(FindingText.of, self._study.analysis.findings))

    @cached_property
    def summary(self) -> RunSummary:
        """All of it in a line. That of a run that is over is kept in the store, and the run itself need not be read."""
        return summarised(self._store, [self._stored])[0][1]

    @cached_property
    def total(self) -> RunRow:
        """The row of all endpoints together, without the warm-up."""
        return total_of(self._source.view)

    def rows(self) -> Table[RunRow]:
        """A row per endpoint, as in every table of a report: by name, then method, without the warm-up."""
        return Table(tuple(rows_of(self._source.view)), ROWS, self._about)

    def seconds(self, *, warmup: bool = False) -> Table[SecondRow]:
        """A row per second of all endpoints together (method ""), and per second of each. warmup: whether those of the
        warm-up are among them."""
        return Table(tuple(self._seconds(0 if warmup else self._source.first)), SECONDS, self._about)

    def failures(self) -> tuple[Failure, ...]:
        """Kinds of failures with their messages, the most frequent first."""
        return tuple(self._source.view.failures)

    def compare(self, baseline: Run | str) -> RunComparison:
        """This run against another one, or against what `plimsoll compare --baseline` takes: "main@{last}", an id, the
        name of an experiment. Raises UsageError where nothing is comparable."""
        if isinstance(baseline, str):
            return RunComparison(analyse(study_of_refs(self._store, [baseline, self.id])))
        return RunComparison(analyse(matched([baseline._alone(), self._alone()])))

    def label(self, *, tags: Sequence[str] | None = None, note: str | None = None) -> Run:
        """Say this of it, and return it with that; None leaves what is said. Raises UsageError for too many tags."""
        self._store.labels.of_run(self.id, tags=tags, note=note)
        return Run(self._store.run(self.id), self._store)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> Path:
        """Write it to a file: format is one of `plimsoll report` or of `plimsoll export`, by default what the name ends
        with (.html, .md, .json, .csv, .parquet, .hgrm, …)."""
        target = Path(path)
        formats = all_formats()
        chosen = format or outputs.by_suffix(str(target)) or target.suffix.removeprefix(".")
        if chosen not in formats:
            raise UsageError(f"{chosen or target.name!r} is no format of a report; valid are {', '.join(formats)}")
        source = self._source if chosen in of_runs() and not formats[chosen].study else self._study
        outputs.write(source, chosen, str(target), OutputRequest())
        return target

    def __str__(self) -> str:
        return "\n".join([f"run {self.id}, {self.status}", *self.answer])

    def __repr__(self) -> str:
        return f"<Run {self.id}: {self.manifest.name}, {self.status}>"

    @cached_property
    def _study(self) -> StudySource:
        return source_of_run(self._stored, self._store)

    @property
    def _source(self) -> RunSource:
        assert self._study.run is not None
        return self._study.run

    @property
    def _about(self) -> dict[str, str]:
        return about_run(self._stored, "; ".join(self.invalid))

    def _alone(self) -> Study:
        return study_of_run(self._stored, self._store, self._source.reading)

    def _seconds(self, first: int) -> Iterator[SecondRow]:
        view = self._source.view
        users = self._source.reading.users_by_second if self._source.reading is not None else None
        for sums in by_second(self._stored.intervals(first)):
            alive = math.nan if users is None else users[sums.second]
            yield self._second(sums.total, view.timed, None if math.isnan(alive) else int(alive))
            for (method, name), intervals in sorted(sums.endpoints.items(), key=lambda entry: entry[0][::-1]):
                yield self._second(Totals.of(method, name, intervals, sums.second), view.timed, None)

    def _second(self, totals: Totals, timed: frozenset[str], users: int | None) -> SecondRow:
        counts = totals.counts
        return SecondRow(
            second=totals.second,
            time=self.started + totals.second,
            method=totals.method,
            name=totals.name,
            users=users,
            requests=totals.requests,
            failures=totals.failures,
            unanswered=totals.unanswered,
            dropped=totals.dropped,
            bytes_out=counts.bytes_out,
            bytes_in=counts.bytes_in,
            response_ms=totals.response_of(timed),
            service_ms=totals.service_of(timed),
        )


@dataclass(frozen=True, slots=True)
class RunComparison:
    """A run against its baseline."""

    analysis: Analysis = field(repr=False)

    @property
    def answer(self) -> tuple[str, ...]:
        """One to four sentences, the same as in every report."""
        return answer_of(self.analysis)

    @property
    def verdicts(self) -> Table[Comparison]:
        """One per endpoint and metric: b is the run, a its baseline; ratios are b / a."""
        return Table(self.analysis.comparisons, VERDICTS)

    @property
    def regressions(self) -> tuple[Comparison, ...]:
        """What `--fail-on regression` fails on: worse for certain, and by more than what matters."""
        return regressions(self.analysis)

    @property
    def findings(self) -> tuple[FindingText, ...]:
        return tuple(map(FindingText.of, self.analysis.findings))

    def __str__(self) -> str:
        return "\n".join(self.answer)


class RunStore:
    """Stored runs. It may be used as a context manager. Everything raises StoreError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"<RunStore {self.name}>"

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        return self._store.name

    def run(self, ref: str = "last") -> Run:
        """By its id, the beginning of one, or "last". Raises RefError."""
        return Run(self._store.run(ref), self._store)

    def runs(self, *, search: str = "", tag: str = "", limit: int | None = None) -> Table[Run]:
        """The latest first. search: words that all stand in its id, name, host, files, commit, experiment, tags or
        note. tag: one that it has. As a frame: a line per run, to see how figures change."""
        found = self._store.runs(limit, search=search, tag=tag)
        return Table(tuple(Run(stored, self._store) for stored in found), RUNS)

    def compare(self, *refs: str) -> RunComparison:
        """As `plimsoll compare`: runs, experiments, imported studies or files, each against the first."""
        return RunComparison(analyse(study_of_refs(self._store, refs)))

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open(store: str | os.PathLike[str] | None = None) -> RunStore:
    """A store that is there: an SQLite file, or the URL of a PostgreSQL database. By default what PLIMSOLL_STORE names,
    else plimsoll.db in the current folder. Raises RefError when there is none."""
    return RunStore(Store.open(location_of(store), create=False))


def location_of(store: str | os.PathLike[str] | None) -> str | None:
    """Of what a caller gave; None for the file of the current folder."""
    return value_of(STORE) if store is None else str(store)
