"""What a page shows of a single run: the tables of the terminal, to the last "≥", and how it went second by second."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.errors import StoreError
from plimsoll.report.console import heading
from plimsoll.report.exceptions import user_line
from plimsoll.report.load import load_in_short
from plimsoll.report.numbers import milliseconds, share
from plimsoll.report.page.content import Doubts, Page, gathered
from plimsoll.report.page.tables import METHOD, NAME, PERCENTILES, REQUESTS, Column, Row, Table
from plimsoll.report.remarks import doubts, generator_line, load_line, remarks
from plimsoll.report.verdict import INVALID, threshold_rows
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.latency import Latency
from plimsoll.stats.study import TOTAL, Course, FailureKind, Level, Measured, Study, Trial
from plimsoll.stats.summary import AGREE, EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.stats.view import EndpointView, RunView

MOST_ROWS = 3000
"""Of a table; the endpoints with the most requests are kept."""
MOST_FAILURES = 500
MOST_EXCEPTIONS = 100
_ONE_LINE = 10**6
"""Characters of a line that is not to be broken: a browser does that."""
_NESTED = ("versions", "machine", "kernel", "processor", "git", "python")
"""Of a manifest, what is shown though it is several values."""


@dataclass(frozen=True, slots=True)
class ShownException:
    title: str
    where: str
    traceback: str


@dataclass(slots=True)
class RunPage(Page):
    heading: list[str] = field(default_factory=list)
    thresholds: Table | None = None
    tables: list[Table] = field(default_factory=list)
    struck: bool = False
    """The numbers are of an invalid run."""
    failures: list[Table] = field(default_factory=list)
    exceptions: list[ShownException] = field(default_factory=list)
    exceptions_note: str = ""


def run_page(view: RunView, run: Described | None, assessment: Assessment) -> RunPage:
    """run: None for one that was not kept."""
    title = f"Run {run.id}" if run else "A run that was not kept"
    trial = _trial(view, run, assessment)
    # The page says in its own words that a run is invalid, and shows its numbers struck through and its charts:
    # they tell what the generator's limit was.
    study = Study(title, (replace(trial, invalid=()),), shape="operations")
    base = gathered(_analysis(study))
    page = RunPage(**{name: getattr(base, name) for name in Page.__slots__})
    page.title = title
    page.answers = []
    page.status = [(name, value) for name, value in base.status if name not in ("runs", "level")]
    page.heading = heading(run, view).splitlines() if run else []
    page.doubts = _doubts(assessment)
    page.struck = not assessment.validity.valid
    page.thresholds = _thresholds(assessment)
    page.tables = _tables(view)
    page.failures = _failures(view)
    page.exceptions = [
        ShownException(f"{each.count} × {each.message}", user_line(each.traceback), each.traceback)
        for each in view.exceptions[:MOST_EXCEPTIONS]
    ]
    left_out = len(view.exceptions) - MOST_EXCEPTIONS
    page.exceptions_note = f"{left_out} more; `plimsoll show RUN --json` has all." if left_out > 0 else ""
    page.environment = _manifest(run)
    page.generator = None
    page.footnotes = [*_below(view, assessment), *base.footnotes]
    page.contents = _contents(page)
    return page


def _contents(page: RunPage) -> list[tuple[str, str]]:
    sections = (
        ("validity", "Validity", True),
        ("findings", "Findings", page.findings),
        ("thresholds", "Thresholds", page.thresholds),
        ("numbers", "Numbers", True),
        ("percentiles", "Percentiles", page.operations and page.operations[0].charts),
        ("course", "Time", page.courses),
        ("failures", "Failures", page.failures),
        ("exceptions", "Exceptions", page.exceptions),
        ("environment", "Environment", page.environment),
        ("notes", "Notes", True),
    )
    return [(id, title) for id, title, is_there in sections if is_there]


def _analysis(study: Study) -> Analysis:
    """One run is compared with nothing, but there may be something to say of it."""
    from plimsoll.stats.findings import find

    return Analysis(study, tuple(find(study)), ())


def _trial(view: RunView, run: Described | None, assessment: Assessment) -> Trial:
    """From the store, with percentiles of each second; from the view alone if that cannot be read."""
    level = _level(run.manifest if run else {})
    if run is not None and hasattr(run, "intervals"):
        from plimsoll.stats.trial import trial_of

        try:
            return trial_of(cast("Any", run), variant=load_in_short(run.manifest) or "run", level=level)
        except StoreError:
            pass
    return _of_view(view, run, assessment, level)


def _level(manifest: Mapping[str, Any]) -> Level | None:
    users = manifest.get("users")
    return Level("users", float(users)) if isinstance(users, int | float) and manifest.get("model") != "open" else None


def _of_view(view: RunView, run: Described | None, assessment: Assessment, level: Level | None) -> Trial:
    users = view.generator.users_by_second()
    last = view.last_second
    return Trial(
        run.id if run else "memory",
        (load_in_short(run.manifest) if run else "") or "run",
        level,
        users=level.value if level is not None else None,
        duration=view.duration or None,
        warmup=float(view.warmup),
        endpoints=tuple(_measured(each, view) for each in view.endpoints),
        total=_measured(view.total, view),
        invalid=tuple(assessment.validity.reasons),
        lag=view.generator.lag if view.generator.lag.count else None,
        users_by_second=np.array([float(users.get(second, 0)) for second in range(last + 1)]) if users else None,
    )


def _measured(of: EndpointView, view: RunView) -> Measured:
    response, service = Histogram(), Histogram()
    for interval in of.outcomes.values():
        if interval.outcome in view.timed:
            response.add(interval.response)
            service.add(interval.service)
    times = of.response_of(view.timed)
    kinds = [each for each in view.failures if (each.method, each.name) == (of.method, of.name)]
    counts = np.array(of.requests_by_second, dtype=np.int64)
    unknown = np.full(len(counts), np.nan)
    return Measured(
        of.method,
        of.name,
        requests=of.requests,
        failures=of.failures,
        rate=of.requests / view.duration if view.duration else None,
        max=times.max.value if times.max is not None else None,
        outcomes={name: each.count for name, each in of.outcomes.items()},
        kinds=tuple(FailureKind(each.outcome, each.message, each.count) for each in kinds),
        histogram=response,
        service=service,
        course=Course(
            counts,
            np.array(of.failures_by_second, dtype=np.int64),
            unknown,
            unknown,
            unknown,
            (None,) * len(counts),
            slice(view.warmup, None),
        ),
    )


def _doubts(assessment: Assessment) -> Doubts:
    validity = assessment.validity
    small = tuple(doubts(assessment, _ONE_LINE))
    if validity.valid:
        passed = sum(check.state == "ok" for check in validity.checks)
        return Doubts("The generator did what was asked of it", False, (), (f"Checks passed: {passed}.", *small))
    return Doubts(INVALID, True, tuple(validity.reasons), small)


def _thresholds(assessment: Assessment) -> Table | None:
    if not assessment.thresholds:
        return None
    columns = (
        Column("Threshold", is_text=True),
        Column("Value"),
        Column("Limit"),
        Column("Detail", is_text=True),
    )
    return Table("Thresholds", columns, tuple(Row(tuple(row)) for row in threshold_rows(assessment.thresholds)))


def _tables(view: RunView) -> list[Table]:
    """Locust's two, and service times where they differ."""
    rows = summarise(view)
    note = ""
    if len(rows) > MOST_ROWS:
        note = f"The {MOST_ROWS} endpoints with the most requests; {len(rows) - MOST_ROWS} more are in the CSV files."
        chosen = {id(row) for row in sorted(rows, key=lambda row: -row.requests)[:MOST_ROWS]}
        rows = [row for row in rows if id(row) in chosen]
    rows.append(summarise_total(view))
    requests = Table("Requests", (METHOD, NAME, *REQUESTS), tuple(_requests(row) for row in rows), note)
    tables = [requests, _percentiles("Response time percentiles (ms)", rows, [row.response for row in rows], note)]
    if not all(row.service_agrees for row in rows):
        title = "Service time percentiles (ms): what the target took"
        tables.append(_percentiles(title, rows, [row.service for row in rows], note))
    return tables


def _requests(row: EndpointSummary) -> Row:
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
    return Row(cells, _kind(row))


def _percentiles(title: str, rows: Sequence[EndpointSummary], times: Sequence[Latency], note: str) -> Table:
    found = [
        Row((row.method, row.name, *(milliseconds(time.quantile(each / 100)) for each in PERCENTILES)), _kind(row))
        for row, time in zip(rows, times, strict=True)
    ]
    return Table(title, (METHOD, NAME, *(Column(f"{each}%") for each in PERCENTILES)), tuple(found), note)


def _kind(row: EndpointSummary) -> str:
    return "total" if (row.method, row.name) == TOTAL else ""


def _failures(view: RunView) -> list[Table]:
    """By kind with the time until they failed, and by message."""
    if not view.failures and not view.total.failed_outcomes:
        return []
    kinds = []
    for each in view.total.failed_outcomes:
        time = Latency.of_response([each])
        times = (milliseconds(time.median), milliseconds(time.max))
        kinds.append(Row((each.outcome, str(each.count), share(each.count, view.total.requests), *times)))
    columns = (Column("Kind", is_text=True), *map(Column, ("# Fails", "Share", "Median (ms)", "Max (ms)")))
    messages = [
        Row((str(each.count), each.outcome, each.method, each.name, each.message))
        for each in view.failures[:MOST_FAILURES]
    ]
    left_out = len(view.failures) - MOST_FAILURES
    note = f"{left_out} more; `plimsoll show RUN --json` has all." if left_out > 0 else ""
    texts = tuple(Column(title, is_text=True) for title in ("Kind", "Method", "Name", "Message"))
    return [
        Table("Failures by kind, and the time until they failed", columns, tuple(kinds)),
        Table("Failures by message", (Column("# Fails"), *texts), tuple(messages), note),
    ]


def _manifest(run: Described | None) -> list[tuple[str, str]]:
    """The plain values; what is nested is in the JSON."""
    if run is None:
        return []
    plain = [
        (name.replace("_", " "), str(value))
        for name, value in run.manifest.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and name != "started"
    ]
    nested = [
        (f"{name} {inner}", str(value))
        for name, each in run.manifest.items()
        if isinstance(each, dict) and name in _NESTED
        for inner, value in each.items()
        if isinstance(value, str | int | float)
    ]
    return plain + nested


def _below(view: RunView, assessment: Assessment) -> list[str]:
    """The lines below the tables of the terminal."""
    rows = [*summarise(view), summarise_total(view)]
    lines = remarks(view, view.total.response_of(view.timed))
    if view.total.response.count and all(row.service_agrees for row in rows):
        lines.append(f"service times (what the target took) agree with these response times within {100 * AGREE:.0f}%")
    if assessment.is_open:
        lines.append(load_line(view, assessment.max_users))
    return [*lines, generator_line(view.generator)]
