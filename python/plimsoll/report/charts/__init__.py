"""All charts of an analysis. How each looks is in a `*.vl.json` of this folder; what it shows is gathered here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.record.cells import CellKey
from plimsoll.report.charts.chart import Chart, unique
from plimsoll.report.charts.course import Beside, course_charts
from plimsoll.report.charts.failures import FailureBar, failure_chart
from plimsoll.report.charts.ladder import ladder_charts, operations_charts
from plimsoll.report.charts.percentiles import Curves, percentile_chart
from plimsoll.report.charts.target import histogram_chart, target_charts
from plimsoll.report.charts.verdicts import verdict_chart
from plimsoll.say import comparisons
from plimsoll.say.numbers import counted
from plimsoll.stats.findings.bimodal import TwoModes
from plimsoll.stats.study import Measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll._engine import Histogram
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Level, Study, Trial

__all__ = ["MOST_COURSES", "MOST_ENDPOINTS", "TOTAL", "Chart", "busiest", "charts_of", "what_of"]

TOTAL = ("", "")
MOST_ENDPOINTS = 12
"""Of an operation that have charts of their own: those with the most requests. Tables have the others."""
MOST_CURVES = 7
"""Percentile curves in one chart, as many as there are colours: of all endpoints together and of those with the most
waiting."""
MOST_COURSES = 60
"""Runs that are shown second by second."""


def charts_of(analysis: Analysis) -> list[Chart]:
    """In the order of a report; names are unique. What nobody knows has no chart."""
    study = analysis.study
    charts = [*_verdicts(analysis), *operations_charts(analysis)]
    for operation in study.operations:
        endpoints = [*busiest(study, operation), TOTAL]
        if len(endpoints) == 2:
            del endpoints[1]
        for endpoint in endpoints:
            charts += ladder_charts(analysis, operation, endpoint, comparisons.endpoint(endpoint))
        charts += _percentiles_of(study, operation, endpoints)
        charts += _failures(study, operation)
        charts += _parts(study, operation)
    charts += _modes(analysis)
    charts += _courses(study)
    charts += _target(study)
    return unique(charts)


def busiest(study: Study, operation: str) -> list[tuple[str, str]]:
    """At most MOST_ENDPOINTS, in the order of every table."""
    counts = dict.fromkeys(study.endpoints(operation), 0)
    for trial in study.trials:
        if trial.operation == operation:
            for each in trial.endpoints:
                counts[each.key] += each.requests or 0
    chosen = set(sorted(counts, key=lambda key: -counts[key])[:MOST_ENDPOINTS])
    return [key for key in counts if key in chosen]


def what_of(study: Study) -> str:
    """What the times of a study are, for the title of an axis."""
    clocks = {trial.precision.clock for trial in study.trials}
    names = {"due": "response time", "sent": "service time", "corrected": "response time, corrected afterwards"}
    return names.get(clocks.pop(), "time") if len(clocks) == 1 else "time"


def _verdicts(analysis: Analysis) -> Iterator[Chart]:
    """Those that the question is about, then all: for each operation, level and pair."""
    primary = [each for each in analysis.comparisons if each.primary]
    overview = primary or [each for each in analysis.comparisons if not any(each.endpoint) or each.endpoint[0] == ""]
    chart = verdict_chart("verdicts", "Ratios that the question is about", overview)
    if chart is not None:
        yield chart
    groups: dict[tuple[str, Level | None, str, str], list[Comparison]] = {}
    for each in analysis.comparisons:
        groups.setdefault((each.operation, each.level, each.a, each.b), []).append(each)
    for (operation, level, a, b), group in groups.items():
        place = ", ".join(part for part in (operation, str(level) if level else "") if part)
        title = f"{b} against {a}" + (f", {place}" if place else "")
        name = f"verdicts-{operation}-{level}-{a}-{b}"
        about = {"operation": operation, "level": str(level) if level else "", "variant": b}
        chart = verdict_chart(name, title, group, **about)
        if chart is not None:
            yield chart


def _percentiles_of(study: Study, operation: str, endpoints: Sequence[tuple[str, str]]) -> Iterator[Chart]:
    """A chart for each endpoint. Of a single run, one chart with all of them: their axes would differ."""
    if len(study.trials) != 1 or len(endpoints) == 1:
        for endpoint in endpoints:
            yield from _percentiles(study, operation, endpoint)
        return
    (trial,) = study.trials
    found = {endpoint: measured for endpoint in endpoints if (measured := trial.endpoint(endpoint)) is not None}
    # All of them together first: it always has the same colour.
    slowest = sorted(found, key=lambda key: (key != TOTAL, -found[key].waited_ms))
    curves = [Curves(comparisons.endpoint(key), ((trial.id, found[key]),)) for key in slowest[:MOST_CURVES]]
    title = f"{operation}: percentiles by endpoint" if operation else "Percentiles by endpoint"
    left = len(slowest) - len(curves)
    note = f"{counted(left, 'endpoint')} with less waiting {'is' if left == 1 else 'are'} in the table." if left else ""
    chart = percentile_chart(
        f"percentiles-{operation}", title, curves, what_of(study), operation=operation, endpoint=TOTAL, note=note
    )
    if chart is not None:
        yield chart


def _percentiles(study: Study, operation: str, endpoint: tuple[str, str]) -> Iterator[Chart]:
    """With several variants, a chart for each level; else one, in which the levels have the colours."""
    label = comparisons.endpoint(endpoint)
    of = f"{operation}: {label}" if operation else label
    what = what_of(study)

    def curves(series: str, variant: str, level: Level | None) -> Curves:
        trials = study.cell(CellKey(variant, level, operation))
        counting = [each for each in trials if not each.invalid] or trials
        found = ((each.id, measured) for each in counting if (measured := each.endpoint(endpoint)) is not None)
        return Curves(series, tuple(found))

    about: dict[str, Any] = {"operation": operation, "endpoint": endpoint}
    if len(study.variants) == 1:
        series = [curves(str(level or ""), study.variants[0], level) for level in study.levels]
        shown = [each for each in series if each.runs]
        chart = percentile_chart(f"percentiles-{operation}-{label}", of, shown, what, **about)
        if chart is not None:
            yield chart
        return
    for level in study.levels:
        series = [curves(variant, variant, level) for variant in study.variants]
        at = f" at {level}" if level is not None else ""
        name = f"percentiles-{operation}-{label}-{level or ''}"
        shown = [each for each in series if each.runs]
        chart = percentile_chart(name, f"{of}{at}", shown, what, level=str(level or ""), **about)
        if chart is not None:
            yield chart


def _failures(study: Study, operation: str) -> Iterator[Chart]:
    bars: list[FailureBar] = []
    for level in study.levels:
        for variant in study.variants:
            trials = study.cell(CellKey(variant, level, operation))
            totals = [trial.total for trial in trials if trial.total is not None]
            if totals:
                load = level.value if level is not None else None
                bars.append(FailureBar(cell_label(study, variant, level), totals, variant, load))
    of = f", {operation}" if operation else ""
    chart = failure_chart(f"failures-{operation}", f"Failures by kind{of}", bars, operation=operation)
    if chart is not None:
        yield chart


def _parts(study: Study, operation: str) -> Iterator[Chart]:
    """Response, service and lag of all requests of a study's only cell, or of the last level: where the time went."""
    own = [each for each in study.trials if each.operation == operation]
    trials = [each for each in own if not each.invalid] or own
    if not trials:
        return
    last = max(trials, key=lambda each: (each.level is not None, each.level)).level
    for variant in study.variants:
        cell = [each for each in trials if (each.variant, each.level) == (variant, last)]
        totals = [(each, each.total) for each in cell if each.total is not None and each.total.service is not None]
        if not totals:
            continue
        parts = [
            Curves("response", [(trial.id, total) for trial, total in totals]),
            Curves("service", [(trial.id, _measured_by(total.service)) for trial, total in totals]),
            Curves("lag", [(trial.id, _measured_by(trial.lag)) for trial, _ in totals if trial.lag is not None]),
        ]
        at = f", {operation}" if operation else ""
        label = cell_label(study, variant, last) if len(study.trials) > 1 else ""
        title = f"Where the time went{f': {label}' if label else ''}{at}"
        note = (
            "response = lag + service, and what a request waited for a free user; lag is the generator's doing. "
            "A time of 0 has no place on this axis."
        )
        chart = percentile_chart(
            f"parts-{operation}-{variant}",
            title,
            [each for each in parts if each.runs],
            "time",
            operation=operation,
            variant=variant,
            note=note,
        )
        if chart is not None:
            yield chart


def _measured_by(histogram: Histogram | None) -> Measured:
    return Measured("", "", histogram=histogram)


def _modes(analysis: Analysis) -> Iterator[Chart]:
    """The histogram behind each finding of several modes."""
    study = analysis.study
    for finding in analysis.findings:
        if finding.id != "BIMODAL":
            continue
        where = finding.where
        for trial in study.trials:
            fits = where.variant in (None, trial.variant) and where.level in (None, trial.level)
            fits = fits and where.operation in (None, trial.operation) and where.trial in (None, trial.id)
            measured = trial.endpoint(where.endpoint or TOTAL)
            if fits and measured is not None and measured.histogram is not None:
                title = f"{comparisons.endpoint(measured.key)}, {cell_label(study, trial.variant, trial.level)}"
                chart = histogram_chart(
                    f"histogram-{trial.id}-{measured.label}",
                    f"How long requests took: {title}",
                    measured.histogram,
                    finding.modes_ms if isinstance(finding, TwoModes) else (),
                    what_of(study),
                    operation=trial.operation,
                    variant=trial.variant,
                    trial=trial.id,
                )
                if chart is not None:
                    yield chart
                break


def _courses(study: Study) -> Iterator[Chart]:
    shown = sum(trial.total is not None and trial.total.course is not None for trial in study.trials[:MOST_COURSES])
    for trial in study.trials[:MOST_COURSES]:
        if trial.total is not None and trial.total.course is not None:
            about = {"operation": trial.operation, "variant": trial.variant, "level": str(trial.level or "")}
            beside = Beside(
                trial.warmup,
                trial.users_by_second.tolist() if trial.users_by_second is not None else None,
                trial.generator_course,
                trial.warmup + trial.duration if trial.duration is not None else None,
                trial.model == "open",
                trial.edits,
                about | {"trial": trial.id},
            )
            yield from course_charts(
                f"course-{trial.id}", trial_label(study, trial), trial.total.course, beside, what_of(study), shown
            )


def _target(study: Study) -> Iterator[Chart]:
    for operation in study.operations:
        for level in study.levels:
            trials = [each for each in study.trials if (each.operation, each.level) == (operation, level)]
            place = ", ".join(part for part in (operation, str(level or "")) if part)
            about = {"operation": operation, "level": str(level or "")}
            yield from target_charts(f"target-{operation}-{level or ''}", place, trials, study.variants, **about)


def trial_label(study: Study, trial: Trial) -> str:
    """index at 50 users, repeat 2; nothing for the only run of a report, whose heading says what it is."""
    if len(study.trials) == 1:
        return ""
    label = cell_label(study, trial.variant, trial.level)
    operation = f"{trial.operation}: " if trial.operation else ""
    repeats = len(study.cell(trial))
    return f"{operation}{label}" + (f", repeat {study.number_of(trial)}" if repeats > 1 else "")


def cell_label(study: Study, variant: str, level: Level | None) -> str:
    """index at 50 users; without the variant where there is only one."""
    parts = [variant] if len(study.variants) > 1 or level is None else []
    return " at ".join([*parts, *([str(level)] if level is not None else [])])
