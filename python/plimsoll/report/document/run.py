"""The report of a single run: its tables, and how it went second by second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.record.manifest import Manifest
from plimsoll.report.charts.chart import config
from plimsoll.report.document import sections
from plimsoll.report.document.blocks import (
    Facts,
    NamedValue,
    ReportDocument,
    Section,
    TableColumn,
    TableData,
    TableRow,
)
from plimsoll.report.document.opening import THRESHOLD_MARKS, answer
from plimsoll.report.document.run_tables import (
    document_of_run,
    exceptions,
    failures,
    lines_below,
    lines_of,
    machines,
    numbers,
    slow_key,
    title_of,
    validity,
)
from plimsoll.report.document.run_trial import findings_of_run, study_of_run, trial_of_run
from plimsoll.report.document.sections import ReportContext
from plimsoll.report.document.tables import shown
from plimsoll.say.durations import duration_text
from plimsoll.say.numbers import amount, count, quantity, share, with_share
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.ranking import by_waiting
from plimsoll.stats.study import Trial
from plimsoll.stats.table import rows_of, total_of

if TYPE_CHECKING:
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.document.blocks import Block
    from plimsoll.report.sources import Described
    from plimsoll.stats.reading import RunReading
    from plimsoll.stats.table import Row
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.view import RunView

MOST_FAILURES = 500
MOST_EXCEPTIONS = 100
GROWING = "This run goes on: these are its numbers so far."
_NESTED = ("versions", "machine", "kernel", "processor", "git", "python")
"""Of a manifest, what is shown though it is several values."""


def run_document(
    view: RunView,
    run: Described | None,
    assessment: Assessment,
    reading: RunReading | None = None,
    *,
    is_growing: bool = False,
    charts: bool = True,
    command: str = "",
) -> ReportDocument:
    """Everything that is known of a run. run: None for one that was not kept. reading: where the view is from; without
    it there are no percentiles second by second. is_growing: it goes on, and these are its numbers so far. charts:
    whether it has any. command: what makes this report, for its notes."""
    trial = trial_of_run(view, run, assessment, reading)
    of = _context(title_of(run), trial, command, charts=charts)
    rows, total = by_waiting(rows_of(view)), total_of(view)
    manifest = run.manifest if run is not None else Manifest()
    made = [
        _thresholds(assessment),
        sections.findings(of),
        numbers(rows, total, slow=slow_key(view)),
        machines(view, run),
        sections.courses(of),
        _curves(of),
        failures(view, MOST_FAILURES, sections.failure_figure(of, "")),
        exceptions(view, MOST_EXCEPTIONS),
        validity(assessment),
        sections.target(of),
        sections.measured(_manifest(run)),
        sections.notes(of, lines_below(view, [*rows, total], assessment)),
    ]
    lines = (*lines_of(view, run), *((GROWING,) if is_growing else ()))
    head: tuple[Block, ...] = (*answer(view, manifest, assessment), Facts(_status(view, total), "status"))
    specs = of.pictures.specs()
    return document_of_run(run, lines, head, made, specs, config("page") if specs else {}, is_growing=is_growing)


def _context(title: str, trial: Trial, command: str, *, charts: bool) -> ReportContext:
    study = study_of_run(title, trial)
    return ReportContext.of(Analysis(study, findings_of_run(trial), ()), command, charts=charts)


def _status(view: RunView, total: Row) -> tuple[NamedValue, ...]:
    """What was measured, with the generator's share of each time."""
    failed = f"{count(total.failures)} ({share(total.failures, total.requests)})" if total.failures else "none"
    known = (
        *((NamedValue("measured", duration_text(view.duration)),) if view.duration else ()),
        NamedValue("requests", count(total.requests)),
        NamedValue("failed", failed),
        *((NamedValue("unanswered", count(view.total.unanswered)),) if view.total.unanswered else ()),
    )
    if not total.requests:
        return known
    times = (
        NamedValue(f"p{percentile}", with_share(total.response_ms.quantile(percentile / 100)))
        for percentile in (50, 95, 99)
    )
    return (*known, NamedValue("requests/s", amount(total.rps)), *times)


def _thresholds(assessment: Assessment) -> Section | None:
    if not assessment.thresholds:
        return None
    columns = (
        TableColumn("Threshold", is_text=True, room="long"),
        TableColumn("Value"),
        TableColumn("Limit"),
        TableColumn("Detail", is_text=True, room="long"),
    )
    table = TableData("Thresholds", columns, tuple(map(_threshold, assessment.thresholds)))
    return Section("thresholds", "Thresholds", (shown(table),))


def _threshold(result: ThresholdResult) -> TableRow:
    """The first cell says whether it was met."""
    cells = (
        f"{THRESHOLD_MARKS[result.outcome]} {one_line(result.text)}",
        quantity(result.value, result.unit, at_least=result.at_least),
        quantity(result.limit, result.unit),
        one_line(result.detail),
    )
    return TableRow(cells)


def _curves(of: ReportContext) -> Section | None:
    """All of the run: it has one operation and one level."""
    main, more, parts = sections.curves_of(of, "")
    block = of.pictures.block([*main, *more, *parts])
    return Section("percentiles", "Percentiles", block) if block else None


def _manifest(run: Described | None) -> tuple[NamedValue, ...]:
    """The plain values; what is nested is in the JSON."""
    if run is None:
        return ()
    plain = [
        NamedValue(name.replace("_", " "), str(value))
        for name, value in run.manifest.to_json().items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and name != "started"
    ]
    nested = [
        NamedValue(f"{name} {inner}", str(value))
        for name, group in run.manifest.to_json().items()
        if isinstance(group, dict) and name in _NESTED
        for inner, value in group.items()
        if isinstance(value, str | int | float)
    ]
    return (*plain, *nested)
