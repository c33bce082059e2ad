"""The report of a single run: its tables, and how it went second by second."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.load.durations import duration_text
from plimsoll.report.charts.chart import config
from plimsoll.report.document import sections
from plimsoll.report.document.blocks import (
    Answer,
    Details,
    Doubts,
    Facts,
    NamedValue,
    Notes,
    Paragraph,
    Preformatted,
    ReportDocument,
    Section,
    TableColumn,
    TableData,
    TableRow,
)
from plimsoll.report.document.opening import NO_REQUESTS, opening, streams_began
from plimsoll.report.document.remarks import doubts, generator_line, load_line, names_line, remarks, user_line, what_of
from plimsoll.report.document.run_trial import trial_of_run
from plimsoll.report.document.sections import ReportContext, shown
from plimsoll.report.document.study import written_by
from plimsoll.report.document.tables import EXAMPLE, KIND, MESSAGE, METHOD, NAME, PERCENTILES, REQUESTS
from plimsoll.report.load import load_at_length, load_in_short, run_title
from plimsoll.report.numbers import amount, count, milliseconds, quantity, share, shares_line, with_share
from plimsoll.report.text import one_line
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.headline.target import target
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.study import TOTAL, Study, Trial
from plimsoll.stats.summary import AGREE, EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.document.blocks import Block, ChartSpec, Figures
    from plimsoll.report.sources import Described
    from plimsoll.stats.reading import RunReading
    from plimsoll.stats.thresholds.watch import ThresholdResult
    from plimsoll.stats.view import RunView

INVALID = "INVALID: the load was not the load asked for"
MOST_ROWS = 3000
"""Of a table; the endpoints with the most requests are kept."""
MOST_FAILURES = 500
MOST_EXCEPTIONS = 100
MOST_IN_SHORT = 20
"""Failures and exceptions in a document that has only tables."""
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
    of = _context(_title(run), trial, command, charts=charts)
    rows, total = summarise(view), summarise_total(view)
    made = [
        sections.courses(of),
        _thresholds(assessment),
        _numbers(rows, total),
        _curves(of),
        _failures(view, MOST_FAILURES, sections.failure_figure(of, "")),
        _exceptions(view, MOST_EXCEPTIONS),
        _validity(assessment),
        sections.findings(of),
        sections.target(of),
        sections.measured(_manifest(run)),
        sections.notes(of, _below(view, [*rows, total], assessment)),
    ]
    lines = (*_lines(view, run), *((GROWING,) if is_growing else ()))
    head: tuple[Block, ...] = (*_answer(view, run, assessment), Facts(_status(view, total), "status"))
    return _document(run, lines, head, made, of.pictures.specs(), is_growing=is_growing)


def tables_document(view: RunView, run: Described | None, assessment: Assessment) -> ReportDocument:
    """The tables of a run, and what must be known to read them. run: None for one that was not kept."""
    rows, total = summarise(view), summarise_total(view)
    names = filter(None, [names_line(view)])
    made = [
        _validity(assessment) if assessment.validity.valid else None,
        _numbers(rows, total),
        _failures(view, MOST_IN_SHORT),
        _exceptions(view, MOST_IN_SHORT),
        Section("notes", "Notes", (Notes((), (*names, *_below(view, [*rows, total], assessment))),)),
    ]
    first = () if assessment.validity.valid else (_doubts(assessment),)
    head: tuple[Block, ...] = (*first, *opening(view, run.manifest if run else {}, total, assessment.thresholds))
    return _document(run, _lines(view, run), head, made)


def _document(
    run: Described | None,
    lines: tuple[str, ...],
    head: tuple[Block, ...],
    made: Sequence[Section | None],
    charts: tuple[ChartSpec, ...] = (),
    *,
    is_growing: bool = False,
) -> ReportDocument:
    return ReportDocument(
        _title(run),
        lines,
        head,
        tuple(section for section in made if section is not None),
        charts,
        config("page") if charts else {},
        written_by(),
        (run.id,) if run else (),
        is_growing,
    )


def _title(run: Described | None) -> str:
    if run is None:
        return "A run that was not kept"
    name = str((run.manifest.get("scenario") or {}).get("name") or "")
    return run_title(name, load_in_short(run.manifest), str(run.manifest.get("host") or "")) or f"Run {run.id}"


def _context(title: str, trial: Trial, command: str, *, charts: bool) -> ReportContext:
    """One run is compared with nothing, but there may be something to say of it."""
    from plimsoll.stats.findings import find

    # The document says in its own words that a run is invalid, and shows its numbers all the same.
    study = Study(title, (replace(trial, invalid=()),), shape="operations")
    return ReportContext.of(Analysis(study, tuple(find(study)), ()), command, charts=charts)


def _lines(view: RunView, run: Described | None) -> tuple[str, ...]:
    """What the run was: one line, and one each for its warm-up, its phases and its notes."""
    if run is None:
        return ("These numbers come from memory: the store does not have all of this run.",)
    started = datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    parts = [f"run {run.id}", run.status, started, duration_text(view.duration)]
    notes = [f"note: {one_line(note)}" for note in run.notes]
    return (", ".join(part for part in parts if part), *load_at_length(run.manifest, view.warmup), *notes)


def _answer(view: RunView, run: Described | None, assessment: Assessment) -> tuple[Answer, ...]:
    """Whether the target is healthy, and when streams began; nothing for a run without a request."""
    if not view.total.requests:
        return ()
    manifest = run.manifest if run is not None else {}
    judged = target(view, manifest, assessment.thresholds, None, assessment.validity)
    return (Answer((f"{judged.title}. {judged.text}{streams_began(view)}",)),)


def _status(view: RunView, total: EndpointSummary) -> tuple[NamedValue, ...]:
    """What was measured, with the generator's share of each time."""
    failed = f"{count(total.failures)} ({share(total.failures, total.requests)})" if total.failures else "none"
    known = (
        *((NamedValue("measured", duration_text(view.duration)),) if view.duration else ()),
        NamedValue("requests", count(total.requests)),
        NamedValue("failed", failed),
    )
    if not total.requests:
        return known
    times = (NamedValue(f"p{each}", with_share(total.response.quantile(each / 100))) for each in (50, 95, 99))
    return (*known, NamedValue("requests per second", amount(total.rps)), *times)


def _validity(assessment: Assessment) -> Section:
    return Section("validity", "", (_doubts(assessment),), label="Validity")


def _doubts(assessment: Assessment) -> Doubts:
    validity = assessment.validity
    small = tuple(doubts(assessment))
    if validity.valid:
        passed = sum(check.state == "ok" for check in validity.checks)
        title = "The load was the load asked for"
        return Doubts(title, False, tuple(validity.remarks), (f"Checks passed: {passed}.", *small))
    failed = ", ".join(check.name for check in validity.checks if check.state == "failed")
    return Doubts(f"{INVALID} ({failed})", True, (*validity.reasons, *validity.remarks), small)


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
        f"{'✓' if result.passed else '✗'} {one_line(result.text)}",
        quantity(result.value, result.unit, at_least=result.at_least),
        quantity(result.limit, result.unit),
        one_line(result.detail),
    )
    return TableRow(cells)


def _numbers(rows: Sequence[EndpointSummary], total: EndpointSummary) -> Section:
    if not rows:
        return Section("numbers", "Numbers", (Paragraph(NO_REQUESTS),))
    requests, *percentiles = _tables(rows, total)
    times = (shown(each) for each in percentiles)
    return Section("numbers", "Numbers", (shown(requests, "requests"), *times))


def _curves(of: ReportContext) -> Section | None:
    """All of the run: it has one operation and one level."""
    main, more, parts = sections.curves_of(of, "")
    block = of.pictures.block([*main, *more, *parts])
    return Section("percentiles", "Percentiles", block) if block else None


def _tables(rows: Sequence[EndpointSummary], total: EndpointSummary) -> list[TableData]:
    """Locust's two, and service times where they differ."""
    note = ""
    if len(rows) > MOST_ROWS:
        note = f"The {MOST_ROWS} endpoints with the most requests; {len(rows) - MOST_ROWS} more are in the CSV files."
        chosen = {id(row) for row in sorted(rows, key=lambda row: -row.requests)[:MOST_ROWS]}
        rows = [row for row in rows if id(row) in chosen]
    rows = [*rows, total]
    extremes = (time for row in rows for time in (row.response.mean, row.response.min, row.response.max))
    marks = " ".join(filter(None, (note, shares_line(extremes))))
    requests = TableData("Requests", (METHOD, NAME, *REQUESTS), tuple(_requests(row) for row in rows), marks)
    tables = [requests, _percentiles("Response time percentiles (ms)", rows, [row.response for row in rows], note)]
    if not all(row.service_agrees for row in rows):
        title = "Service time percentiles (ms): what the target took"
        tables.append(_percentiles(title, rows, [row.service for row in rows], note))
    return tables


def _requests(row: EndpointSummary) -> TableRow:
    times = (row.response.mean, row.response.min, row.response.max)
    cells = (
        row.method,
        row.name,
        count(row.requests),
        count(row.failures),
        *(milliseconds(time) for time in times),
        count(row.average_size),
        amount(row.rps),
        amount(row.failures_per_s),
    )
    return TableRow(cells, _kind(row))


def _percentiles(title: str, rows: Sequence[EndpointSummary], times: Sequence[Latency], note: str) -> TableData:
    found = [[time.quantile(each / 100) for each in PERCENTILES] for time in times]
    texts = tuple(
        TableRow((row.method, row.name, *map(milliseconds, each)), _kind(row))
        for row, each in zip(rows, found, strict=True)
    )
    marks = " ".join(filter(None, (note, shares_line(time for each in found for time in each))))
    return TableData(title, (METHOD, NAME, *(TableColumn(f"{each}%") for each in PERCENTILES)), texts, marks)


def _kind(row: EndpointSummary) -> str:
    return "total" if (row.method, row.name) == TOTAL else ""


def _failures(view: RunView, most: int, figure: tuple[Figures, ...] = ()) -> Section | None:
    """By kind with the time until they failed, and by message."""
    if not view.failures and not view.total.failed_outcomes:
        return None
    tables = [_failure_kinds(view), *([_failure_messages(view, most)] if view.failures else [])]
    return Section("failures", "Failures", (*figure, *(shown(each) for each in tables)))


def _failure_kinds(view: RunView) -> TableData:
    kinds = []
    for each in view.total.failed_outcomes:
        time = Latency.of_response([each])
        times = (milliseconds(time.median), milliseconds(time.max))
        kinds.append(TableRow((each.outcome, count(each.count), share(each.count, view.total.requests), *times)))
    columns = (KIND, *map(TableColumn, ("# Fails", "Share", "Median (ms)", "Max (ms)")))
    return TableData("Failures by kind, and the time until they failed", columns, tuple(kinds))


def _failure_messages(view: RunView, most: int) -> TableData:
    found = view.failures[:most]
    columns = [TableColumn("# Fails"), KIND, METHOD, NAME, MESSAGE]
    cells: list[tuple[str, ...]] = [
        (count(each.count), each.outcome, each.method, each.name, each.text) for each in found
    ]
    if any(each.is_varied for each in found):
        columns.append(EXAMPLE)
        cells = [(*row, each.example if each.is_varied else "") for row, each in zip(cells, found, strict=True)]
    rows = tuple(map(TableRow, cells))
    return TableData("Failures by message", tuple(columns), rows, _left_out(len(view.failures) - most))


def _exceptions(view: RunView, most: int) -> Section | None:
    """Of the users' own code."""
    if not view.exceptions:
        return None
    folded = tuple(
        Details(f"{each.count} × {what_of(each)}", (Preformatted(each.traceback),), soft=user_line(each.traceback))
        for each in view.exceptions[:most]
    )
    note = _left_out(len(view.exceptions) - most)
    blocks = (*folded, *((Paragraph(note, "note"),) if note else ()))
    return Section(
        "exceptions",
        "Exceptions in the users' code, by traceback, each with its first message",
        blocks,
        label="Exceptions",
    )


def _left_out(count: int) -> str:
    return f"{count} more; `plimsoll show RUN --json` has all." if count > 0 else ""


def _manifest(run: Described | None) -> tuple[NamedValue, ...]:
    """The plain values; what is nested is in the JSON."""
    if run is None:
        return ()
    plain = [
        NamedValue(name.replace("_", " "), str(value))
        for name, value in run.manifest.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and name != "started"
    ]
    nested = [
        NamedValue(f"{name} {inner}", str(value))
        for name, each in run.manifest.items()
        if isinstance(each, dict) and name in _NESTED
        for inner, value in each.items()
        if isinstance(value, str | int | float)
    ]
    return (*plain, *nested)


def _below(view: RunView, rows: Sequence[EndpointSummary], assessment: Assessment) -> list[str]:
    """The lines below the tables of the terminal."""
    lines = remarks(view, view.total.response_of(view.timed))
    if view.total.response.count and all(row.service_agrees for row in rows):
        lines.append(f"service times (what the target took) agree with these response times within {100 * AGREE:.0f}%")
    if assessment.is_open:
        lines.append(load_line(view, assessment.max_users))
    return [*lines, generator_line(view.generator)]
