"""What reports are made of: a run, or an analysis of several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from plimsoll.errors import PlimsollError
from plimsoll.report.assessment import assess
from plimsoll.stats.left_out import first_second
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from plimsoll.record import Interval
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.report.assessment import Assessment
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.reading import RunReading
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.store import StoredRun


class Described(Protocol):
    """A run with its circumstances; what the store hands out. Times are Unix seconds."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def experiment(self) -> str | None: ...
    @property
    def manifest(self) -> Manifest: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def facts(self) -> RunFacts: ...


class Labelled(Described, Protocol):
    """With what people say of it."""

    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def note(self) -> str: ...


@dataclass(frozen=True, slots=True)
class OutputRequest:
    """How a report is to be written, beyond its format."""

    command: str = ""
    """What makes the report, for its notes."""
    width: int | None = None
    """Cells of the terminal; None: ask it."""
    colour: bool = False
    table: str = "trials"
    """Which one, in CSV."""


@dataclass
class RunSource:
    """A run that is over, or goes on. A stored one is read when something of it is asked for: once for a document, and
    without its courses for what needs none. Then StoreError is raised if it cannot be read."""

    run: StoredRun | None
    """None when the store does not have all of it."""
    started: float
    """Unix time of second 0."""
    times_of: str | None = None
    """Whose times count, if not those that the run was made with."""

    @classmethod
    def of(cls, run: StoredRun, times_of: str | None = None) -> Self:
        return cls(run, run.started, times_of)

    @classmethod
    def of_view(cls, view: RunView, assessment: Assessment, started: float) -> Self:
        """Of a run that cannot be read from a store."""
        source = cls(None, started)
        source.view, source.assessment = view, assessment
        return source

    @cached_property
    def reading(self) -> RunReading | None:
        """None when there is no store to read the run from."""
        from plimsoll.stats.reading import RunReading

        return None if self.run is None else RunReading(self.run, self.times_of)

    @cached_property
    def view(self) -> RunView:
        reading = vars(self).get("reading")
        return RunView.of(self.stored, self.times_of) if reading is None else reading.view

    @cached_property
    def assessment(self) -> Assessment:
        return assess(self.view, self.stored.manifest, self.stored.facts, self.stored.status)

    @property
    def is_invalid(self) -> bool:
        return bool(self.assessment.validity.unfit)

    @property
    def stored(self) -> StoredRun:
        """Raises PlimsollError when the store does not have all of the run."""
        if self.run is None:
            raise PlimsollError("the store does not have all of the run")
        return self.run

    def measured(self) -> Iterator[Interval]:
        """Without what is left out, second by second. Raises PlimsollError."""
        return self.stored.intervals(self.first)

    @property
    def first(self) -> int:
        """The first second that is not left out."""
        return first_second(self.stored.manifest, self.stored.facts)


@dataclass
class StudySource:
    """The analysis of an experiment, of a comparison, of imported results or of one run."""

    analysed: Analysis | Callable[[], Analysis]
    """A function is called when the analysis is asked for: the document of one run needs none."""
    run: RunSource | None = None
    """The run that all of it is about, if it is one and kept in the store."""
    remark: str = ""
    """Why it is about less than was asked for."""

    @cached_property
    def analysis(self) -> Analysis:
        return self.analysed() if callable(self.analysed) else self.analysed

    @property
    def name(self) -> str:
        return self.analysis.study.name if self.run is None else self.run.stored.id

    @property
    def thresholds(self) -> tuple[ThresholdResult, ...]:
        """Of the run, or of the newest one of a comparison."""
        if self.run is not None:
            return self.run.assessment.thresholds
        newest = self.analysis.study.newest
        return () if newest is None else newest.thresholds
