"""The report of a search for capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.document.blocks import (
    Answer,
    Notes,
    ReportDocument,
    Section,
    TableBlock,
    TableColumn,
    TableData,
    TableRow,
)
from plimsoll.report.document.study import written_by
from plimsoll.report.numbers import NONE, counted, quantity
from plimsoll.stats.capacity.estimate import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.charts.chart import Chart
    from plimsoll.stats.capacity.estimate import Capacity, CapacityProbe
    from plimsoll.stats.study import LoadUnit
    from plimsoll.stats.thresholds.grammar import Threshold

_VERDICT = {True: "met", False: "broken"}


def answer(found: Capacity, unit: LoadUnit, slo: Sequence[Threshold]) -> list[str]:
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


def capacity_document(
    found: Capacity, probes: Sequence[CapacityProbe], unit: LoadUnit, slo: Sequence[Threshold], command: str
) -> ReportDocument:
    """The answer, and the runs that it rests on. command: what made it."""
    return ReportDocument(
        "Capacity",
        (),
        (Answer(tuple(f"{line[:1].upper()}{line[1:]}." for line in answer(found, unit, slo))),),
        (
            Section("runs", "Runs", (TableBlock(_table(probes, unit)),)),
            Section("notes", "Notes", (Notes((), (f"Made by: {command}",)),)),
        ),
        (),
        {},
        written_by(),
    )


def chart(found: Capacity, probes: Sequence[CapacityProbe], unit: LoadUnit, slo: Sequence[Threshold]) -> Chart:
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


def _table(probes: Sequence[CapacityProbe], unit: LoadUnit) -> TableData:
    """A row per run, by load."""
    criteria = probes[0].strains if probes else ()
    columns = (
        TableColumn("Users" if unit == "users" else "Rate"),
        TableColumn("Phase", is_text=True),
        *(TableColumn(str(each.criterion.subject)) for each in criteria),
        TableColumn("Objective", is_text=True),
        TableColumn("Run", is_text=True),
    )
    rows = [
        TableRow(
            (
                _load(each.load, unit),
                each.phase,
                *(quantity(one.value, one.criterion.unit, at_least=one.at_least) for one in each.strains),
                "invalid" if each.invalid else _VERDICT[each.passed],
                each.run or NONE,
            )
        )
        for each in sorted(probes, key=lambda each: each.load)
    ]
    return TableData("A run per load", columns, tuple(rows))


def _broken(found: Capacity) -> list[str]:
    return [f"above it breaks: {', '.join(each.text for each in found.failed)}"] if found.failed else []


def _load(load: float | None, unit: LoadUnit) -> str:
    if load is None:
        return NONE
    return counted(round(load), "user") if unit == "users" else f"{load:.4g}/s"
