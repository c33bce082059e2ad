"""A metric over the runs of a series: points, notes, and permanent changes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.errors import FieldError, RefError
from plimsoll.say.numbers import counted, quantity
from plimsoll.server.answers import answer
from plimsoll.server.history.runs import summaries_of
from plimsoll.server.history.series import SeriesOfRuns
from plimsoll.server.messages import ChangePoint, Trend, TrendPoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.report.charts.trend import Point
    from plimsoll.report.run_summary import RunSummary
    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.server.messages import SeriesItem
    from plimsoll.stats.compare.trend import DetectedChange
    from plimsoll.store import Store, StoredRun

MOST_POINTS = 500
"""The latest runs are kept."""
DEFAULT = "p99"
TIMES = ("p50", "p90", "p95", "p99", "p999", "max", "mean")
METRICS = {**dict.fromkeys(TIMES, "ms"), "throughput": "/s", "errors": "%"}
"""The unit of each metric."""
BETTER = ("throughput",)
"""Higher is better."""
CIRCUMSTANCES = ("machine", "processor", "number of processors", "kernel", "Python", "version of plimsoll")
"""May change a number without a change of the target."""

ENDED = ("finished", "stopped")
"""Statuses of runs that ended as intended."""
MOST_NAMED = 3

Measured = tuple["StoredRun", "RunSummary | None"]


class Trends:
    """GET /api/series, GET /api/trend."""

    def __init__(self, place: OpenStore) -> None:
        self._place = place
        self._series = SeriesOfRuns()

    def series(self, _: Request) -> Response:
        store = self._place.get_if_there()
        return answer({"series": self._series.all(store) if store is not None else []})

    def trend(self, request: Request) -> Response:
        key, metric = request.query_params.get("series", ""), request.query_params.get("metric", DEFAULT)
        if metric not in METRICS:
            raise FieldError(f"no metric {metric[:40]!r}; there are {', '.join(METRICS)}", "metric")
        store = self._place.get()
        found = self._series.find(store, key)
        if found is None:
            raise RefError(f"store {store.name} has no series {key[:40]!r}")
        return answer(_trend(store, *found, metric))


def _trend(store: Store, series: SeriesItem, ids: Sequence[str], metric: str) -> Trend:
    # Imported here because they load the statistics of reports, and numpy.
    from plimsoll.report.charts.chart import config
    from plimsoll.report.charts.trend import trend_chart
    from plimsoll.report.document.pictures import chart_spec
    from plimsoll.say.remarks import caveats
    from plimsoll.stats.compare.trend import changes

    runs = [run for run in store.several(ids[:MOST_POINTS]) if run.status != "running"]
    summaries = summaries_of(store, runs)
    measured = [(run, summaries.get(run.id)) for run in runs]
    points = [_point(run, summary, metric) for run, summary in measured]
    fit = [each for each in points if each.is_valid]
    found = changes([each.value for each in fit if each.value is not None], higher_is_worse=metric not in BETTER)
    unit = METRICS[metric]
    # The ticks already have the units ms and %.
    title, what = f"{metric}: {series.label}", f"{metric}, {unit}" if unit == "/s" else metric
    chart = trend_chart(f"trend-{metric}", title, points, found, what=what, unit=unit)
    return Trend(
        series=series,
        metric=metric,
        unit=unit,
        points=tuple(_trend_point(each, unit) for each in points),
        changes=tuple(_change(each, fit[each.index], metric) for each in found.changes),
        chart=chart_spec(chart) if chart is not None else None,
        config=config("page"),
        notes=(*caveats(found), *_notes(measured, metric, len(ids))),
        metrics=tuple(METRICS),
    )


def _point(run: StoredRun, summary: RunSummary | None, metric: str) -> Point:
    from plimsoll.report.charts.trend import Point

    return Point(
        run=run.id,
        started=run.started,
        commit=run.manifest.commit,
        value=None if summary is None else _value(summary, metric),
        is_valid=_is_fit(run, summary, metric),
        name=run.manifest.name,
    )


def _value(summary: RunSummary, metric: str) -> float | None:
    """Shares are fractions of 1."""
    match metric:
        case "throughput":
            return summary.rate
        case "errors":
            return summary.fail_ratio if summary.requests else None
        case _:
            return summary.times[metric]


def _trend_point(point: Point, unit: str) -> TrendPoint:
    value = None if point.value is None else _in(unit, point.value)
    return TrendPoint(point.run, point.started, point.commit, value, point.is_valid, point.name)


def _in(unit: str, value: float) -> float:
    return 100 * value if unit == "%" else value


def _change(change: DetectedChange, first: Point, metric: str) -> ChangePoint:
    unit = METRICS[metric]
    before, after = _in(unit, change.before), _in(unit, change.after)
    ratio = change.change if math.isfinite(change.change) else None
    way = "rose" if after > before else "fell"
    share = f" by {abs(100 * ratio):.3g}%" if ratio is not None else ""
    commit = f", commit {first.commit[:12]}" if first.commit else ""
    values = f"{quantity(before, unit)} → {quantity(after, unit)}"
    return ChangePoint(
        run=first.run,
        before=before,
        after=after,
        change=ratio,
        p=change.p,
        is_worse=change.is_worse,
        text=f"{metric} {way}{share} with run {first.run}{commit}: {values} (p = {change.p:.2g}).",
    )


def _is_fit(run: StoredRun, summary: RunSummary | None, metric: str) -> bool:
    """Whether the run has a valid value."""
    if run.status not in ENDED or summary is None or not summary.is_valid or metric in summary.at_least:
        return False
    return _value(summary, metric) is not None


def _notes(measured: Sequence[Measured], metric: str, runs: int) -> Iterator[str]:
    """Which runs are left out, and what besides the target differs between the others."""
    if runs > MOST_POINTS:
        yield f"These are the latest {MOST_POINTS} of {runs} runs."
    if left_out := list(_left_out(measured, metric)):
        yield f"Not looked at for changes: {'; '.join(left_out)}."
    fit = [run for run, summary in measured if _is_fit(run, summary, metric)]
    yield from _few(measured, metric)
    yield from _circumstances(fit)
    changed = [run.id for before, run in pairwise(fit) if _files(before) != _files(run)]
    if changed:
        yield f"The locustfile or plan was another one than before in run {_shown(changed[::-1])}."
    dirty = [run.id for run in fit if run.manifest.is_dirty]
    if dirty:
        yield f"Files differed from their commit in run {_shown(dirty[::-1])}."


def _left_out(measured: Sequence[Measured], metric: str) -> Iterator[str]:
    over = [(run, summary) for run, summary in measured if summary is not None]
    if unread := len(measured) - len(over):
        yield f"{counted(unread, 'run')} that cannot be read"
    if unended := sum(run.status not in ENDED for run, _ in over):
        yield f"{counted(unended, 'run')} that did not end as planned"
    if invalid := sum(run.status in ENDED and not summary.is_valid for run, summary in over):
        yield f"{counted(invalid, 'invalid run')}, in which the load was not the load asked for"
    if bounds := sum(metric in summary.at_least for _, summary in over):
        yield f"{counted(bounds, 'run')} whose {metric} is only a lower bound, because of timeouts"


def _few(measured: Sequence[Measured], metric: str) -> Iterator[str]:
    """With few requests, the slowest ones decide a percentile."""
    from plimsoll.report.run_summary import QUANTILES
    from plimsoll.stats.latency.ranks import above, least_requests

    q = QUANTILES.get(metric, 1.0)
    if q == 1.0:
        return
    fit = [(summary.requests, run.id) for run, summary in measured if summary and _is_fit(run, summary, metric)]
    few = [each for each in fit if each[0] < least_requests(q)]
    if few:
        requests, run = min(few)
        rest = above(requests, q)
        yield (
            f"Too few requests for a {metric} in {counted(len(few), 'run')}: in {run} it rests on the slowest {rest} "
            f"of {requests}. It takes {least_requests(q)} for an interval around it."
        )


def _circumstances(runs: Sequence[StoredRun]) -> Iterator[str]:
    from plimsoll.experiment.drift import facts_of

    facts = [facts_of(run.manifest) for run in runs]
    for name in CIRCUMSTANCES:
        values = list(dict.fromkeys(each[name] for each in facts if name in each))
        if len(values) > 1:
            yield f"Not all runs had the same {name}: {_shown(values)}. A change may come from there."


def _shown(values: Sequence[str]) -> str:
    others = len(values) - MOST_NAMED
    return ", ".join(values[:MOST_NAMED]) + (f" and {counted(others, 'other')}" if others > 0 else "")


def _files(run: StoredRun) -> list[object]:
    return [file.sha256 for file in run.manifest.scenario.files]
