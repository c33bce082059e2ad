"""What reports are made of: a run, or an analysis of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from plimsoll.errors import PlimsollError
from plimsoll.report.assessment import assess
from plimsoll.stats.left_out import first_second
from plimsoll.stats.reading import RunReading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from plimsoll.record import Interval
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.document.blocks import ReportDocument
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.view import RunView
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
    def manifest(self) -> dict[str, Any]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def facts(self) -> dict[str, Any]: ...


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


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run that is over, or goes on."""

    view: RunView
    assessment: Assessment
    run: StoredRun | None
    """None when the store does not have all of it."""
    started: float
    """Unix time of second 0."""
    reading: RunReading | None = None
    """None when there is no store to read the run from."""

    @classmethod
    def of(cls, run: StoredRun, times_of: str | None = None) -> Self:
        """times_of: whose times count, if not those that the run was made with."""
        reading = RunReading(run, times_of)
        assessment = assess(reading.view, run.manifest, run.facts)
        return cls(reading.view, assessment, run, run.started, reading)

    @property
    def stored(self) -> StoredRun:
        """Raises PlimsollError when the store does not have all of the run."""
        if self.run is None:
            raise PlimsollError("the store does not have all of the run")
        return self.run

    def measured(self) -> Iterator[Interval]:
        """Without what is left out, second by second. Raises PlimsollError."""
        run = self.stored
        first = first_second(run.manifest, run.facts)
        return (interval for interval in run.intervals() if interval.second >= first)

    def document(self, *, charts: bool = True, command: str = "") -> ReportDocument:
        from plimsoll.report.document.run import run_document

        return run_document(
            self.view,
            self.run,
            self.assessment,
            self.reading,
            is_growing=self.run is not None and self.run.status == "running",
            charts=charts,
            command=command,
        )


@dataclass(frozen=True, slots=True)
class StudySource:
    """The analysis of an experiment, of a comparison, of imported results or of one run."""

    analysis: Analysis
    run: RunSource | None = None
    """The run that all of it is about, if it is one and kept in the store."""

    def document(
        self, *, scope: Literal["page", "text"] = "page", charts: bool = True, command: str = ""
    ) -> ReportDocument:
        if self.run is not None:
            return self.run.document(charts=charts, command=command)
        from plimsoll.report.document.study import study_document

        return study_document(self.analysis, scope=scope, charts=charts, command=command)
