"""The tables of a run, which its text in the terminal consists of and its page has, too. Imported at the end of every
run: it needs neither numpy nor charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.plain_text import one_line
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.document.blocks import (
    Details,
    Doubts,
    Notes,
    Paragraph,
    Preformatted,
    ReportDocument,
    Section,
    TableColumn,
    TableData,
    TableRow,
    written_by,
)
from plimsoll.report.document.opening import answer, opening
from plimsoll.report.document.tables import EXAMPLE, KIND, MESSAGE, METHOD, NAME, PERCENTILES, REQUESTS, shown
from plimsoll.report.load import load_at_length, load_in_short, run_title
from plimsoll.say.durations import duration_text
from plimsoll.say.headline.target import figures_line
from plimsoll.say.names import version_text
from plimsoll.say.notes import doubts, generator_line, load_line, names_line, remarks, user_line, what_of
from plimsoll.say.numbers import NONE, amount, count, known, milliseconds, moment, share, shares_line, waiting_share
from plimsoll.say.outcome import NO_REQUESTS
from plimsoll.say.validity import check_texts
from plimsoll.stats.generator import by_machine
from plimsoll.stats.headline.waiting import slow_endpoint
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.ranking import by_waiting, most_notable
from plimsoll.stats.study import TOTAL
from plimsoll.stats.table import AGREE, rows_of, total_of
from plimsoll.stats.validity import ENDED, OF_RECORD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.document.blocks import Block, ChartSpec, Figures
    from plimsoll.report.sources import Described
    from plimsoll.stats.table import Row, RunRow
    from plimsoll.stats.validity import Validity
    from plimsoll.stats.view import RunView

INVALID = "INVALID: the load was not the load asked for"
UNSOUND = "INVALID: the record of this run is not complete, or contradicts itself"
MOST_ROWS = 3000
"""Of a table; the endpoints with the most requests are kept."""
MOST_IN_SHORT = 20
"""Endpoints, failures and exceptions in a document that has only tables."""
WAITING = TableColumn("Waiting", hint="share of all waiting: the sum of its response times, of that of all endpoints")


def tables_document(view: RunView, run: Described | None, assessment: Assessment) -> ReportDocument:
    """The tables of a run, and what must be known to read them. run: None for one that was not kept."""
    rows, total = by_waiting(rows_of(view)), total_of(view)
    names = filter(None, [names_line(view)])
    shortened = most_notable(rows, MOST_IN_SHORT)
    more = f"`plimsoll report {run.id if run else 'RUN'}` has all"
    made = [
        validity(assessment) if assessment.validity.valid else None,
        numbers(shortened, total, left_out=_endpoints_left_out(len(rows) - len(shortened), more), slow=slow_key(view)),
        machines(view, run),
        failures(view, MOST_IN_SHORT),
        exceptions(view, MOST_IN_SHORT),
        Section("notes", "Notes", (Notes((), (*names, *lines_below(view, [*rows, total], assessment))),)),
    ]
    first = () if assessment.validity.valid else (_doubts(assessment),)
    manifest = run.manifest if run else Manifest()
    answered = answer(view, manifest, assessment)
    head: tuple[Block, ...] = (*first, *answered, *opening(view, manifest, total, assessment.thresholds))
    # Again in the end, which is what a terminal shows.
    made.append(Section("end", "", (*answered, Paragraph(figures_line(total)))) if answered else None)
    return document_of_run(run, lines_of(view, run), head, made)


def document_of_run(
    run: Described | None,
    lines: tuple[str, ...],
    head: tuple[Block, ...],
    made: Sequence[Section | None],
    charts: tuple[ChartSpec, ...] = (),
    settings: Mapping[str, Any] | None = None,
    *,
    is_growing: bool = False,
) -> ReportDocument:
    return ReportDocument(
        title_of(run),
        lines,
        head,
        tuple(section for section in made if section is not None),
        charts,
        dict(settings or {}),
        written_by(),
        (run.id,) if run else (),
        is_growing,
    )


def title_of(run: Described | None) -> str:
    if run is None:
        return "A run that was not kept"
    manifest = run.manifest
    return run_title(manifest.name, load_in_short(manifest), manifest.host or "") or f"Run {run.id}"


def lines_of(view: RunView, run: Described | None) -> tuple[str, ...]:
    """What the run was: one line, and one each for its warm-up, its phases and its notes."""
    if run is None:
        return ("These numbers come from memory: the store does not have all of this run.",)
    started = moment(run.started)
    parts = [
        f"run {run.id}",
        run.status,
        started,
        duration_text(view.duration),
        version_text(run.manifest.branch, run.manifest.commit),
    ]
    notes = [f"note: {one_line(note)}" for note in run.notes]
    return (", ".join(part for part in parts if part), *load_at_length(run.manifest, view.warmup), *notes)


def validity(assessment: Assessment) -> Section:
    return Section("validity", "", (_doubts(assessment),), label="Validity")


def _doubts(assessment: Assessment) -> Doubts:
    validity = assessment.validity
    small, title = tuple(doubts(validity, assessment.omission)), validity_title(validity)
    if not validity.valid:
        return Doubts(title, True, tuple(check_texts((*validity.failed, *validity.remarks))), small)
    passed = sum(check.state == "ok" for check in validity.checks)
    return Doubts(title, False, tuple(check_texts(validity.remarks)), (f"Checks passed: {passed}.", *small))


def validity_title(validity: Validity) -> str:
    """The judgement in one line. It claims no more than the checks below it show."""
    failed = [check.name for check in validity.failed]
    if failed:
        return f"{UNSOUND if OF_RECORD.issuperset(failed) else INVALID} ({', '.join(failed)})"
    states = {check.name: check.state for check in validity.checks}
    if states.get("lag") == "n/a" and states.get("percentiles") == "n/a":
        return "No request shows whether the load was the load asked for"
    match states.get(ENDED):
        case "unknown":
            return "So far the load is the load asked for"
        case "remark":
            return "The load was the load asked for until the run was stopped"
        case _:
            return "The load was the load asked for"


def numbers(
    rows: Sequence[RunRow], total: RunRow, *, left_out: str = "", slow: tuple[str, str] | None = None
) -> Section:
    """left_out: what is said of further rows. slow: method and name of the endpoint that is much slower than others."""
    if not rows:
        return Section("numbers", "Numbers", (Paragraph(NO_REQUESTS),))
    requests, *percentiles = _tables(rows, total, left_out, slow)
    times = (shown(table) for table in percentiles)
    return Section("numbers", "Numbers", (shown(requests, "requests"), *times))


MACHINES = (
    TableColumn("Machine", is_text=True, room="name"),
    TableColumn("Workers"),
    TableColumn("# Requests"),
    TableColumn("Share"),
    TableColumn("# Fails"),
    TableColumn("RPS"),
    TableColumn("50% (ms)", hint="of the response times of all requests"),
    TableColumn("99% (ms)", hint="of the response times of all requests"),
    TableColumn("Lag 99% (ms)", hint="how late its requests left"),
    TableColumn("CPU", hint="of a worker, on average: 100 % is one core"),
)
RETRANSMISSIONS = TableColumn("# Retrans.", hint="TCP segments that it sent again")


def machines(view: RunView, run: Described | None) -> Section | None:
    """None for a run on one machine."""
    machine_rows = by_machine(view.generator, run.facts if run else RunFacts(), view.duration)
    is_known = any(row.retransmissions is not None for row in machine_rows)
    columns = (*MACHINES, RETRANSMISSIONS) if is_known else MACHINES
    rows = tuple(
        TableRow(
            (
                one_line(row.machine),
                count(row.workers),
                count(row.requests),
                share(row.share, 1),
                count(row.failures),
                amount(row.rps),
                *map(known, (row.p50_ms, row.p99_ms, row.lag_p99_ms)),
                NONE if row.cpu is None else share(row.cpu, 1),
                *((NONE if row.retransmissions is None else count(row.retransmissions),) if is_known else ()),
            )
        )
        for row in machine_rows
    )
    return Section("machines", "Machines", (shown(TableData("Machines", columns, rows)),)) if rows else None


def slow_key(view: RunView) -> tuple[str, str] | None:
    """Method and name of the endpoint that is much slower than all others."""
    slow = slow_endpoint(view)
    return None if slow is None else (slow.method, slow.name)


def _endpoints_left_out(count: int, more: str) -> str:
    """more: where all of them are."""
    return f"{count} more endpoints have less waiting and fewer failures; {more}." if count > 0 else ""


def _tables(rows: Sequence[RunRow], total: RunRow, note: str, slow: tuple[str, str] | None) -> list[TableData]:
    """Locust's two, and service times where they differ. note: what is said of further rows."""
    if len(rows) > MOST_ROWS:
        note = _endpoints_left_out(len(rows) - MOST_ROWS, "the CSV files have all")
        rows = most_notable(rows, MOST_ROWS)
    rows = [*rows, total]
    extremes = (time for row in rows for time in (row.response_ms.mean, row.response_ms.min, row.response_ms.max))
    marks = " ".join(filter(None, (note, shares_line(extremes))))
    requests = TableData(
        "Requests",
        (METHOD, NAME, WAITING, *REQUESTS),
        tuple(_requests(row, total.waited_s, slow) for row in rows),
        marks,
    )
    times = [row.response_ms for row in rows]
    tables = [requests, _percentiles("Response time percentiles (ms)", rows, times, note, slow)]
    if not all(row.service_agrees for row in rows):
        title = "Service time percentiles (ms): what the target took"
        tables.append(_percentiles(title, rows, [row.service_ms for row in rows], note, slow))
    return tables


def _requests(row: Row, waited_s: float, slow: tuple[str, str] | None) -> TableRow:
    """waited_s: of all endpoints."""
    times = (row.response_ms.mean, row.response_ms.min, row.response_ms.max)
    cells = (
        row.method,
        row.name,
        waiting_share(row.waited_s, waited_s),
        count(row.requests),
        count(row.failures),
        count(row.unanswered),
        *(milliseconds(time) for time in times),
        count(row.average_size),
        amount(row.rps),
        amount(row.failures_per_s),
    )
    return TableRow(cells, _kind(row, slow))


def _percentiles(
    title: str, rows: Sequence[Row], times: Sequence[Latency], note: str, slow: tuple[str, str] | None
) -> TableData:
    found = [[time.quantile(percentile / 100) for percentile in PERCENTILES] for time in times]
    texts = tuple(
        TableRow((row.method, row.name, *map(milliseconds, quantiles)), _kind(row, slow))
        for row, quantiles in zip(rows, found, strict=True)
    )
    marks = " ".join(filter(None, (note, shares_line(time for quantiles in found for time in quantiles))))
    return TableData(
        title, (METHOD, NAME, *(TableColumn(f"{percentile}%") for percentile in PERCENTILES)), texts, marks
    )


def _kind(row: Row, slow: tuple[str, str] | None) -> str:
    key = (row.method, row.name)
    if key == TOTAL:
        return "total"
    return "failing" if row.failures else "slow" if key == slow else ""


def failures(view: RunView, most: int, figure: tuple[Figures, ...] = ()) -> Section | None:
    """By kind with the time until they failed, and by message."""
    if not view.failures and not view.total.failed_outcomes:
        return None
    tables = [_failure_kinds(view), *([_failure_messages(view, most)] if view.failures else [])]
    return Section("failures", "Failures", (*figure, *(shown(table) for table in tables)))


def _failure_kinds(view: RunView) -> TableData:
    kinds = []
    for interval in view.total.failed_outcomes:
        time = Latency.of_response([interval])
        times = (milliseconds(time.median), milliseconds(time.max))
        kinds.append(
            TableRow((interval.outcome, count(interval.count), share(interval.count, view.total.requests), *times))
        )
    columns = (KIND, *map(TableColumn, ("# Fails", "Share", "Median (ms)", "Max (ms)")))
    return TableData("Failures by kind, and the time until they failed", columns, tuple(kinds))


def _failure_messages(view: RunView, most: int) -> TableData:
    found = view.failures[:most]
    columns = [TableColumn("# Fails"), KIND, METHOD, NAME, MESSAGE]
    cells: list[tuple[str, ...]] = [
        (count(failure.count), failure.outcome, failure.method, failure.name, failure.text) for failure in found
    ]
    if any(failure.is_varied for failure in found):
        columns.append(EXAMPLE)
        cells = [
            (*row, failure.example if failure.is_varied else "") for row, failure in zip(cells, found, strict=True)
        ]
    rows = tuple(map(TableRow, cells))
    return TableData("Failures by message", tuple(columns), rows, _left_out(len(view.failures) - most))


def exceptions(view: RunView, most: int) -> Section | None:
    """Of the users' own code."""
    if not view.exceptions:
        return None
    folded = tuple(
        Details(
            f"{caught.count} × {what_of(caught)}", (Preformatted(caught.traceback),), soft=user_line(caught.traceback)
        )
        for caught in view.exceptions[:most]
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


def lines_below(view: RunView, rows: Sequence[RunRow], assessment: Assessment) -> list[str]:
    """The lines below the tables of the terminal."""
    lines = remarks(view, view.total.response_of(view.timed))
    if view.total.response.count and all(row.service_agrees for row in rows):
        lines.append(f"service times (what the target took) agree with these response times within {100 * AGREE:.0f}%")
    if assessment.is_open:
        lines.append(load_line(view, assessment.max_users))
    return [*lines, generator_line(view.generator)]
