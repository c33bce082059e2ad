"""A chart in which the evidence of a finding is highlighted: what it was seen in, with a label in words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.chart import Row, fragment, identifier, rows_by_name, short
from plimsoll.say.numbers import amount, observed
from plimsoll.stats.findings.saturation import NotSaturated
from plimsoll.stats.findings.scaling_law import NoScalingLaw
from plimsoll.stats.findings.target.leaks import MemoryGrowth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.report.charts.chart import Chart
    from plimsoll.stats.findings.finding import Finding

    Marked = tuple[str, dict[str, list[Row]], dict[str, Any]]
    """Which part of highlight.json, its data, and its words."""

SECONDS = {
    "STALL": "stalled",
    "COLD": "not warmed up",
    "NONSTATIONARY": "never settles",
    "CRASH": "nothing succeeds any more",
}
"""Findings that are about some seconds of a run."""
RUNGS = {
    "SAT": "the knee lies here",
    "PRE-KNEE": "begins beyond saturation",
    "RETRO": "throughput falls",
    "SERIAL": "one serves all: constant throughput",
    "ELAST": "p99 grows out of proportion",
    "USL": "the law was fitted here",
    "CAP": "a limit may be the cause",
    "LITTLE": "users × time does not add up",
    "GEN": "the generator was the limit",
}
"""Findings that are about some levels of a ladder."""
_AROUND = 0.025
"""Of the axis: half the width of a band that stands for one level."""


def highlighted(chart: Chart, finding: Finding) -> Chart | None:
    """A copy of the chart with more in it; its own data are the same objects, what is added is in data sets of its own.
    None when this chart does not show what the finding rests on."""
    by_kind: dict[str, Callable[[Chart, Finding], Marked | None]] = {
        "ladder_throughput": _rungs,
        "ladder_latency": _rungs,
        "percentiles": _times,
        "histogram": _modes,
        "target": _line,
        "failures": _bars,
    }
    find = _seconds if chart.kind.startswith("course_") else by_kind.get(chart.kind)
    marked = find(chart, finding) if find is not None else None
    if marked is None:
        return None
    part, data, words = marked
    layers = fragment("highlight.json", part, {**words, "rule": finding.id})
    spec = _layered(chart.spec)
    spec["layer"] = [*spec["layer"], *layers]
    spec["datasets"] = {**spec["datasets"], **rows_by_name(data)}
    return replace(chart, name=f"{chart.name}-{identifier(finding.id)}", spec=spec)


def _layered(spec: dict[str, Any]) -> dict[str, Any]:
    """One mark becomes the first of several; what they share stays outside."""
    if "layer" in spec:
        return dict(spec)
    own = {key: spec[key] for key in ("mark", "encoding", "data") if key in spec}
    return {**{key: value for key, value in spec.items() if key not in own}, "layer": [own]}


def _seconds(chart: Chart, finding: Finding) -> Marked | None:
    evidence, label = finding.evidence, SECONDS.get(finding.id)
    run = evidence.get("run", finding.where.trial)
    if label is None or run != chart.trial:
        return None
    end = next(float(each["value"]) for each in chart.spec["params"] if each["name"] == "until")
    if finding.id == "STALL":
        spans = [(at, at + 1) for at in _numbers(evidence.get("at_s"))]
    elif finding.id == "CRASH":
        spans = [(at, end) for at in _numbers(evidence.get("at_s"))]
    else:
        between = _numbers(evidence.get("between_s"))
        spans = [(between[0], between[1])] if len(between) == 2 else []
    return _bands([(low, min(high, end)) for low, high in spans if low < end], label, (0.0, end), is_log=False)


def _rungs(chart: Chart, finding: Finding) -> Marked | None:
    label, where = RUNGS.get(finding.id), finding.where
    loads = _loads(finding)
    levels = [float(each) for each in chart.spec["encoding"]["x"]["axis"]["values"]]
    known = [each for each in loads if levels[0] <= each <= levels[-1]]
    if label is None or not known:
        return None
    if isinstance(finding, NoScalingLaw):
        label = "highest throughput"
    elif isinstance(finding, NotSaturated):
        label = "no knee up to here"
    series = chart.spec["encoding"]["color"]["scale"]["domain"]
    if where.variant is not None and len(series) > 1:
        label = f"{where.variant}: {label}"
    is_log = chart.spec["encoding"]["x"]["scale"]["type"] == "log"
    return _bands([_span(min(known), max(known), levels, is_log)], label, (levels[0], levels[-1]), is_log=is_log)


def _loads(finding: Finding) -> Sequence[float]:
    """The levels that it is about, as far as it tells them."""
    evidence = finding.evidence
    for name in ("bracket", "loads", "first_users", "last", "peak"):
        if name in evidence:
            return _numbers(evidence[name])
    return [finding.where.level.value] if finding.where.level is not None else []


def _span(low: float, high: float, levels: Sequence[float], is_log: bool) -> tuple[float, float]:
    """One level becomes a band that can be seen."""
    if low < high:
        return low, high
    if is_log:
        factor = (levels[-1] / levels[0]) ** _AROUND
        return low / factor, low * factor
    half = (levels[-1] - levels[0]) * _AROUND
    return low - half, low + half


def _bands(
    spans: Sequence[tuple[float, float]], label: str, ends: tuple[float, float], *, is_log: bool
) -> Marked | None:
    """The first one has the label, on the side where there is room for it."""
    if not spans:
        return None
    low, high = spans[0]
    begin, end = (_place(each, ends, is_log=is_log) for each in spans[0])
    is_left = begin < 0.5
    rows: list[Row] = [{"from": short(a, 6), "to": short(b, 6), "label": label} for a, b in spans]
    at: Row = {"at": short(low if is_left else high, 6), "label": label}
    room = short(1 - begin if is_left else end, 3)
    words = {"align": "left" if is_left else "right", "dx": 5 if is_left else -5, "room": room}
    return "bands", {"highlight": rows, "highlight-label": [at]}, words


def _place(value: float, ends: tuple[float, float], *, is_log: bool) -> float:
    """0…1 from one end of the axis to the other."""
    if is_log:
        return math.log(value / ends[0]) / math.log(ends[1] / ends[0])
    return (value - ends[0]) / (ends[1] - ends[0])


def _times(chart: Chart, finding: Finding) -> Marked | None:
    """Where percentile curves end at a limit, or rise from one mode to the other."""
    where = finding.where
    if where.level is not None and chart.level not in ("", str(where.level)):
        return None
    if finding.id == "BIMODAL":
        rows = [_at(ms, _time(ms)) for ms in _numbers(finding.evidence.get("modes_ms"))]
    elif finding.id == "CAP":
        ms = _numbers(finding.evidence.get("limit_ms", finding.evidence.get("p99_ms")))
        rows = [_at(each, f"{_time(each)}: a limit?") for each in ms]
    else:
        return None
    return ("times", {"highlight": rows}, {}) if rows else None


def _modes(chart: Chart, finding: Finding) -> Marked | None:
    modes = _numbers(finding.evidence.get("modes_ms")) if finding.id == "BIMODAL" else ()
    rows = [_at(ms, _time(ms)) for ms in modes]
    return ("modes", {"highlight": rows}, {}) if rows else None


def _line(chart: Chart, finding: Finding) -> Marked | None:
    """How memory grew."""
    runs = {str(row["run"]).split(" ", 1)[0] for row in chart.spec["datasets"].get("points", ())}
    is_memory = chart.name.endswith(("-rss", "-memory"))
    if not isinstance(finding, MemoryGrowth) or not is_memory or finding.where.trial not in runs:
        return None
    label = f"+{observed(finding.slope_per_h, finding.unit)}/h" if finding.is_steady else ""
    scale, ends = float(chart.spec["usermeta"]["scale"]), zip(finding.between_s, finding.line, strict=True)
    rows: list[Row] = [{"second": short(at), "value": short(value / scale), "label": label} for at, value in ends]
    return "line", {"highlight": rows, "highlight-label": rows[-1:]}, {}


def _bars(chart: Chart, finding: Finding) -> Marked | None:
    """The cells in which requests failed."""
    if finding.id != "ERR":
        return None
    where, onset = finding.where, _numbers(finding.evidence.get("bracket"))
    shares: dict[str, float] = {}
    for row in chart.spec["datasets"]["points"]:
        load, cell = row["load"], str(row["cell"])
        is_meant = row["variant"] in (where.variant, where.against) or where.variant is None
        is_meant = is_meant and (where.level is None or load == where.level.value)
        if is_meant and (len(onset) < 2 or load is None or load >= onset[1]):
            shares[cell] = shares.get(cell, 0.0) + float(row["share"])
    rows: list[Row] = [
        {"cell": cell, "share": short(share), "label": f"{100 * share:.3g} % failed"}
        for cell, share in shares.items()
        if share > 0
    ]
    return ("bars", {"highlight": rows}, {}) if rows else None


def _at(ms: float, label: str) -> Row:
    return {"ms": short(ms), "label": label}


def _time(ms: float) -> str:
    return f"{amount(ms / 1000)} s" if ms >= 1000 else f"{amount(ms)} ms"


def _numbers(value: float | str | tuple[float, ...] | None) -> tuple[float, ...]:
    if value is None or isinstance(value, str):
        return ()
    return value if isinstance(value, tuple) else (value,)
