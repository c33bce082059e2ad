"""What was observed of the target, how its times are spread, and what a search for its capacity saw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.chart import Chart, Row, draw, short
from plimsoll.report.charts.thin import thinned, thinning_note
from plimsoll.report.charts.ticks import linear_ticks, log_ticks, ticks_of
from plimsoll.say.numbers import size_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll._engine import Histogram
    from plimsoll.stats.study import Series, Trial

MOST_POINTS = 200
"""Of one run's line: there may be many."""
BINS = 20
"""Of a decade."""
_CALLED = {"rss": "memory (RSS)", "cpu": "CPU", "threads": "threads", "files": "open files"}


def target_charts(name: str, title: str, trials: Sequence[Trial], variants: Sequence[str], **about: Any) -> list[Chart]:
    """One for each thing that was observed in these trials."""
    observed: dict[str, list[tuple[Trial, Series]]] = {}
    for trial in trials:
        for series in trial.observed:
            if len(series.seconds) > 1:
                observed.setdefault(series.name, []).append((trial, series))
    charts = []
    for what, lines in observed.items():
        if _says_nothing([series for _, series in lines]):
            continue
        sources = list(dict.fromkeys(series.source for _, series in lines))
        unit, scale = _unit([series for _, series in lines])
        points: list[Row] = []
        for trial, series in lines:
            rows = thinned(series.seconds.tolist(), (series.values / scale).tolist(), MOST_POINTS)
            points += [
                {"series": trial.variant, "source": series.source, "run": f"{trial.id} {series.source}", **row}
                for row in rows
            ]
        called = _CALLED.get(what, what)
        words = {
            "what": f"{called}, {unit}" if unit else called,
            "zero": what != "rss",
            "scale": scale,
            "series": [each for each in variants if any(trial.variant == each for trial, _ in lines)],
            "sources": sources,
        }
        note = thinning_note(max(len(series.seconds) for _, series in lines), MOST_POINTS)
        heading = f"{called[0].upper()}{called[1:]}, {title}"
        charts.append(draw("target", f"{name}-{what}", heading, {"points": points}, words, note=note, **about))
    return charts


def _says_nothing(lines: Sequence[Series]) -> bool:
    """One value all the time in all runs, such as 0 bytes read or 1 process. The table has it."""
    return len({value for series in lines for value in (series.values.min(), series.values.max())}) <= 1


def _unit(lines: Sequence[Series]) -> tuple[str, float]:
    """What values are shown in, and how many of the unit that they are kept in it has: MiB for bytes, 1048576."""
    unit, per, seconds = lines[0].unit.partition("/")
    if unit != "bytes":
        return lines[0].unit, 1.0
    shown, scale = size_unit(max(float(series.values.max()) for series in lines))
    return f"{shown}{per}{seconds}", scale


def histogram_chart(
    name: str, title: str, histogram: Histogram, modes: Sequence[float] = (), what: str = "response time", **about: Any
) -> Chart | None:
    """How many requests took how long. modes: ms, marked. None when nothing was timed."""
    counts: dict[int, int] = {}
    for micros, count in histogram.buckets():
        place = math.floor(math.log10(max(1, micros) / 1000) * BINS + 1e-9)
        counts[place] = counts.get(place, 0) + count
    if not counts:
        return None
    bars: list[Row] = [
        {"from": short(10 ** (place / BINS)), "to": short(10 ** ((place + 1) / BINS)), "count": count}
        for place, count in sorted(counts.items())
    ]
    marks: list[Row] = [{"ms": short(mode)} for mode in modes]
    words = {"what": what, "ticks": ticks_of([*bars, *marks], "from", "to", "ms")}
    return draw("histogram", name, title, {"bars": bars, "modes": marks}, words, **about)


def capacity_chart(
    name: str,
    title: str,
    points: Sequence[Mapping[str, float | str]],
    *,
    limit: float,
    load: tuple[float | None, float | None, float | None],
    words: Mapping[str, str],
    **about: Any,
) -> Chart:
    """The runs of a search for capacity. points: {"load", "value", "state": "met" | "broken" | "does not count",
    "phase", "run"}, value being that of the criterion with this limit. load: the answer and its range. words: "level"
    and "what", the titles of the axes, and "unit" of the limit."""
    centre, low, high = load
    data: dict[str, list[Row]] = {
        "points": [dict(each) for each in points],
        "range": [{"low": low, "high": high}] if low is not None and high is not None else [],
        "answer": [{"load": short(centre)}] if centre is not None else [],
        "limit": [{"value": limit}],
    }
    values = [float(each["value"]) for each in points]
    # A logarithmic axis has no 0: where nothing failed.
    is_log = min(values, default=limit) > 0
    axis = {
        "scale": "log" if is_log else "linear",
        "ticks": ticks_of([*data["points"], *data["limit"]], "value")
        if is_log
        else linear_ticks(0.0, max(values, default=limit)),
        "loads": log_ticks(float(each["load"]) for each in points),
    }
    return draw("capacity", name, title, data, {**words, **axis}, **about)
