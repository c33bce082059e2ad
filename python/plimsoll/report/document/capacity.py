"""The answer of a search for capacity, for people, for a wiki, and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.report.numbers import NONE, counted, quantity
from plimsoll.report.render.markdown import escape
from plimsoll.report.render.text_table import TextColumn, render
from plimsoll.stats.capacity import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.charts.chart import Chart
    from plimsoll.stats.capacity import Capacity, Probe
    from plimsoll.stats.study import Unit
    from plimsoll.stats.threshold_grammar import Threshold

SCHEMA = "plimsoll.capacity"
VERSION = 1

_VERDICT = {True: "met", False: "broken"}


def answer(found: Capacity, unit: Unit, slo: Sequence[Threshold]) -> list[str]:
    """Two or three sentences."""
    objective = ", ".join(each.text for each in slo)
    if found.load is None and not found.failed:
        return [f"no answer under {objective}: {found.why}"]
    if found.load is None:
        least = f"not even met at {_load(found.high, unit)}" if found.high is not None else "not met"
        return [f"no capacity under {objective}: it is {least}", f"found by: {found.why}"]
    if found.high is None:
        return [f"capacity at least {_load(found.load, unit)} under {objective}", f"no upper end: {found.why}"]
    if found.crossing is None:
        head = f"capacity between {_load(found.low, unit)} and {_load(found.high, unit)} under {objective}"
        return [head, *_broken(found), f"found by: {found.why}; such a bracket has no confidence level"]
    crossing = found.crossing
    return [
        f"capacity {_load(found.load, unit)}, {100 * CONFIDENCE:g} % interval [{found.low:.4g}, {found.high:.4g}], "
        f"under {objective}",
        *_broken(found),
        f"found by: {found.why}",
        f"elasticity {crossing.elasticity:.3g}: 1 % more load makes {crossing.criterion.subject} about "
        f"{crossing.elasticity:.2g} % more; runs at one load lie {100 * crossing.spread:.2g} % apart",
    ]


def table(probes: Sequence[Probe], unit: Unit, width: int) -> list[str]:
    """A line per run, by load."""
    columns, rows = _rows(probes, unit)
    return render(
        [TextColumn(title, right=place not in (1, len(columns) - 1)) for place, title in enumerate(columns)],
        rows,
        width,
    )


def markdown(found: Capacity, probes: Sequence[Probe], unit: Unit, slo: Sequence[Threshold], command: str) -> str:
    head, *rest = answer(found, unit, slo)
    columns, rows = _rows(probes, unit)
    lines = ["| " + " | ".join(escape(each) for each in row) + " |" for row in [columns, *rows]]
    lines.insert(
        1,
        "|" + "|".join(" --- " if place in (1, len(columns) - 1) else " ---: " for place in range(len(columns))) + "|",
    )
    return "\n".join(
        [
            f"**{escape(head[:1].upper() + head[1:])}.**",
            "",
            *(f"- {escape(each)}" for each in rest),
            "",
            *lines,
            "",
            f"Made by `{command}`.",
            "",
        ]
    )


def chart(found: Capacity, probes: Sequence[Probe], unit: Unit, slo: Sequence[Threshold]) -> Chart:
    """The runs by load, and the value of the criterion that decided."""
    from plimsoll.report.charts.target import capacity_chart

    decided = found.crossing.criterion if found.crossing else (found.failed or tuple(slo))[0]
    points: list[dict[str, float | str]] = [
        {
            "load": each.load,
            "value": one.value,
            "state": "invalid" if each.invalid else "met the objective" if each.passed else "broke it",
            "phase": each.phase,
            "run": each.run,
        }
        for each in probes
        for one in each.strains
        if one.criterion == decided and one.value is not None
    ]
    what = f"{decided.subject} of {decided.endpoint}" if decided.endpoint else str(decided.subject)
    level = "users" if unit == "users" else "arrivals per second"
    return capacity_chart(
        "capacity",
        answer(found, unit, slo)[0],
        points,
        limit=decided.limit,
        load=(found.load, found.low, found.high),
        words={"level": level, "what": f"{what} ({decided.unit})" if decided.unit else what, "unit": decided.unit},
        elasticity=found.crossing.elasticity if found.crossing else None,
    )


def document(
    found: Capacity, probes: Sequence[Probe], unit: Unit, slo: Sequence[Threshold], command: str
) -> dict[str, Any]:
    """JSON. Its fields are in docs/formats.md."""
    crossing = found.crossing
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "command": command,
        "slo": [each.text for each in slo],
        "unit": unit,
        "capacity": found.load,
        "low": found.low,
        "high": found.high,
        "interval": crossing is not None,
        "confidence": CONFIDENCE if crossing else None,
        "why": found.why,
        "broken": [each.text for each in found.failed],
        "crossing": None
        if crossing is None
        else {
            "criterion": crossing.criterion.text,
            "elasticity": crossing.elasticity,
            "spread": crossing.spread,
            "runs": crossing.runs,
        },
        "runs": [_probe(each) for each in probes],
    }


def _probe(probe: Probe) -> dict[str, Any]:
    return {
        "run": probe.run,
        "phase": probe.phase,
        "load": probe.load,
        "seconds": probe.seconds,
        "passed": probe.passed,
        "invalid": list(probe.invalid),
        "criteria": [
            {
                "text": each.criterion.text,
                "value": each.value,
                "unit": each.criterion.unit,
                "at_least": each.at_least,
                "held": each.held,
                "strain": each.strain,
            }
            for each in probe.strains
        ],
    }


def _rows(probes: Sequence[Probe], unit: Unit) -> tuple[list[str], list[list[str]]]:
    criteria = probes[0].strains if probes else ()
    columns = [
        "Users" if unit == "users" else "Rate",
        "Phase",
        *(str(each.criterion.subject) for each in criteria),
        "Objective",
        "Run",
    ]
    rows = [
        [
            _load(each.load, unit),
            each.phase,
            *(f"{'≥' if one.at_least else ''}{quantity(one.value, one.criterion.unit)}" for one in each.strains),
            "invalid" if each.invalid else _VERDICT[each.passed],
            each.run or NONE,
        ]
        for each in sorted(probes, key=lambda each: each.load)
    ]
    return columns, rows


def _broken(found: Capacity) -> list[str]:
    return [f"above it breaks: {', '.join(each.text for each in found.failed)}"] if found.failed else []


def _load(load: float | None, unit: Unit) -> str:
    if load is None:
        return NONE
    return counted(round(load), "user") if unit == "users" else f"{load:.4g}/s"
