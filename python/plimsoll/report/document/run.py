"""What a page shows of a single run: the tables of the terminal, to the last "≥", and how it went second by second."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.report.charts.chart import config
from plimsoll.report.console import heading
from plimsoll.report.document import sections
from plimsoll.report.document.blocks import (
    Details,
    Doubts,
    Facts,
    NamedValue,
    Paragraph,
    Preformatted,
    ReportDocument,
    Section,
)
from plimsoll.report.document.exceptions import user_line
from plimsoll.report.document.head import status
from plimsoll.report.document.remarks import doubts, generator_line, load_line, remarks
from plimsoll.report.document.run_trial import trial_of_run
from plimsoll.report.document.sections import ReportContext, shown
from plimsoll.report.document.study import written_by
from plimsoll.report.document.tables import (
    KIND,
    MESSAGE,
    METHOD,
    NAME,
    PERCENTILES,
    REQUESTS,
    TableColumn,
    TableData,
    TableRow,
)
from plimsoll.report.numbers import amount, milliseconds, share
from plimsoll.report.verdict import INVALID, threshold_rows
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.latency import Latency
from plimsoll.stats.study import TOTAL, Study
from plimsoll.stats.summary import AGREE, EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.stats.view import RunView

MOST_ROWS = 3000
"""Of a table; the endpoints with the most requests are kept."""
MOST_FAILURES = 500
MOST_EXCEPTIONS = 100
GROWING = "This run goes on: these are its numbers so far."
_ONE_LINE = 10**6
"""Characters of a line that is not to be broken: a browser does that."""
_NESTED = ("versions", "machine", "kernel", "processor", "git", "python")
"""Of a manifest, what is shown though it is several values."""


def run_document(
    view: RunView, run: Described | None, assessment: Assessment, *, is_growing: bool = False
) -> ReportDocument:
    """run: None for one that was not kept. is_growing: it goes on, and these are its numbers so far."""
    title = f"Run {run.id}" if run else "A run that was not kept"
    of = _subject(title, view, run, assessment)
    rows, total = summarise(view), summarise_total(view)
    made = [
        Section("validity", "", (_doubts(assessment),), label="Validity"),
        sections.findings(of),
        _thresholds(assessment),
        _numbers(rows, total, struck=not assessment.validity.valid),
        _curves(of),
        sections.courses(of),
        _failures(of, view),
        _exceptions(view),
        sections.target(of),
        sections.measured(_manifest(run)),
        sections.notes(of, _below(view, [*rows, total], assessment)),
    ]
    return ReportDocument(
        title,
        (*_lines(view, run), *((GROWING,) if is_growing else ())),
        (Facts(_status(of, total, assessment), "status"),),
        tuple(section for section in made if section is not None),
        of.pictures.specs(),
        config("page"),
        written_by(),
        (run.id,) if run else (),
        is_growing,
    )


def _subject(title: str, view: RunView, run: Described | None, assessment: Assessment) -> ReportContext:
    """One run is compared with nothing, but there may be something to say of it."""
    from plimsoll.stats.findings import find

    # The page says in its own words that a run is invalid, and shows its numbers struck through and its charts:
    # they tell what the generator's limit was.
    trial = replace(trial_of_run(view, run, assessment), invalid=())
    study = Study(title, (trial,), shape="operations")
    return ReportContext.of(Analysis(study, tuple(find(study)), ()))


def _lines(view: RunView, run: Described | None) -> tuple[str, ...]:
    """As the terminal's, without the run's name, which is the title."""
    if run is None:
        return ()
    first, *others = heading(run, view).splitlines()
    return (first.replace(f"run {run.id} ({run.status})", run.status, 1), *others)


def _status(of: ReportContext, total: EndpointSummary, assessment: Assessment) -> tuple[NamedValue, ...]:
    """What was measured. Of an invalid run only how much: its times stand in the tables, struck through."""
    known = tuple(fact for fact in status(of.study, of.cells) if fact.name not in ("runs", "level"))
    if not assessment.validity.valid or not total.requests:
        return known
    times = (NamedValue(f"p{each}", f"{milliseconds(total.response.quantile(each / 100))} ms") for each in (50, 95, 99))
    return (*known, NamedValue("requests per second", amount(total.rps)), *times)


def _doubts(assessment: Assessment) -> Doubts:
    validity = assessment.validity
    small = tuple(doubts(assessment, _ONE_LINE))
    if validity.valid:
        passed = sum(check.state == "ok" for check in validity.checks)
        return Doubts("The generator did what was asked of it", False, (), (f"Checks passed: {passed}.", *small))
    return Doubts(INVALID, True, tuple(validity.reasons), small)


def _thresholds(assessment: Assessment) -> Section | None:
    if not assessment.thresholds:
        return None
    columns = (
        TableColumn("Threshold", is_text=True, room="long"),
        TableColumn("Value"),
        TableColumn("Limit"),
        TableColumn("Detail", is_text=True, room="long"),
    )
    table = TableData(
        "Thresholds", columns, tuple(TableRow(tuple(row)) for row in threshold_rows(assessment.thresholds))
    )
    return Section("thresholds", "Thresholds", (shown(table),))


def _numbers(rows: Sequence[EndpointSummary], total: EndpointSummary, *, struck: bool) -> Section:
    requests, *percentiles = _tables(rows, total)
    times = (shown(each, struck=struck) for each in percentiles)
    return Section("numbers", "Numbers", (shown(requests, "requests", struck=struck), *times))


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
    requests = TableData("Requests", (METHOD, NAME, *REQUESTS), tuple(_requests(row) for row in rows), note)
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
        str(row.requests),
        str(row.failures),
        *(milliseconds(time) for time in times),
        f"{row.average_size:.0f}",
        f"{row.rps:.2f}",
        f"{row.failures_per_s:.2f}",
    )
    return TableRow(cells, _kind(row))


def _percentiles(title: str, rows: Sequence[EndpointSummary], times: Sequence[Latency], note: str) -> TableData:
    found = [
        TableRow((row.method, row.name, *(milliseconds(time.quantile(each / 100)) for each in PERCENTILES)), _kind(row))
        for row, time in zip(rows, times, strict=True)
    ]
    return TableData(title, (METHOD, NAME, *(TableColumn(f"{each}%") for each in PERCENTILES)), tuple(found), note)


def _kind(row: EndpointSummary) -> str:
    return "total" if (row.method, row.name) == TOTAL else ""


def _failures(of: ReportContext, view: RunView) -> Section | None:
    """By kind with the time until they failed, and by message."""
    if not view.failures and not view.total.failed_outcomes:
        return None
    tables = (shown(_failure_kinds(view)), shown(_failure_messages(view)))
    return Section("failures", "Failures", (*sections.failure_figure(of, ""), *tables))


def _failure_kinds(view: RunView) -> TableData:
    kinds = []
    for each in view.total.failed_outcomes:
        time = Latency.of_response([each])
        times = (milliseconds(time.median), milliseconds(time.max))
        kinds.append(TableRow((each.outcome, str(each.count), share(each.count, view.total.requests), *times)))
    columns = (KIND, *map(TableColumn, ("# Fails", "Share", "Median (ms)", "Max (ms)")))
    return TableData("Failures by kind, and the time until they failed", columns, tuple(kinds))


def _failure_messages(view: RunView) -> TableData:
    messages = [
        TableRow((str(each.count), each.outcome, each.method, each.name, each.message))
        for each in view.failures[:MOST_FAILURES]
    ]
    note = _left_out(len(view.failures) - MOST_FAILURES)
    return TableData(
        "Failures by message", (TableColumn("# Fails"), KIND, METHOD, NAME, MESSAGE), tuple(messages), note
    )


def _exceptions(view: RunView) -> Section | None:
    """Of the users' own code."""
    if not view.exceptions:
        return None
    folded = tuple(
        Details(f"{each.count} × {each.message}", (Preformatted(each.traceback),), soft=user_line(each.traceback))
        for each in view.exceptions[:MOST_EXCEPTIONS]
    )
    note = _left_out(len(view.exceptions) - MOST_EXCEPTIONS)
    blocks = (*folded, *((Paragraph(note, "note"),) if note else ()))
    return Section("exceptions", "Exceptions in the users' code", blocks, label="Exceptions")


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
