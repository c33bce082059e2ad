"""Converts table cells to values in our units, by the meaning of their columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.importers.cells import BYTES, COUNTS, MS
from plimsoll.stats.study import LOCUST, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.importers.cells import TableCell
    from plimsoll.importers.tables.columns import MappedColumn, Meaning

FINE = 4
"""A rate with at least this many decimals determines the length of the run."""
_EXACT = 1e-6
"""Maximum distance of a count from a whole number."""
_CLOCKS = {"k6": "sent", "vegeta": "sent", "jmeter": "sent", "gatling": "sent", "hey": "sent", "wrk2": "due"}


_RATE_UNITS: Mapping[str, float] = {"/s": 1, "rps": 1, "req/s": 1}


@dataclass(slots=True)
class RowValues:
    """The values of one row, by the meaning and quantile of their columns: times in ms, sizes in bytes, shares 0…1."""

    by_measure: dict[tuple[Meaning, float | None], float] = field(default_factory=dict)
    decimals: dict[tuple[Meaning, float | None], int] = field(default_factory=dict)
    rounding: dict[tuple[Meaning, float | None], float] = field(default_factory=dict)
    """Half the step of counts that the table rounds."""
    notes: list[str] = field(default_factory=list)

    def get(self, meaning: Meaning) -> float | None:
        return self.by_measure.get((meaning, None))


def doubt_of(column: MappedColumn, cell: TableCell) -> str:
    """Why the value of a cell is uncertain; "" if it is certain or empty."""
    if cell.kind == "nothing":
        return ""
    if cell.kind != "number":
        return "is no number with a unit that is known here"
    if cell.unit and cell.unit not in _units(column):
        return f"the unit {cell.unit!r} does not belong to this column"
    if column.kind in ("requests", "failures"):
        number = cell.value * COUNTS.get(cell.unit, 1)
        if number < 0 or abs(number - round(number)) > _EXACT:
            return "is no count"
    return "is less than nothing" if cell.value < 0 else ""


def _units(column: MappedColumn) -> Mapping[str, float]:
    """Valid units for a cell of this column."""
    if column.is_time:
        return MS
    if column.kind in ("requests", "failures"):
        return COUNTS
    return BYTES if column.kind == "size" else {"%": 1} if column.kind in ("success", "failed") else _RATE_UNITS


def rounding_of(column: MappedColumn, cell: TableCell) -> float:
    """Half the step of a count that is rounded: 50 for 12.3k and for ~12,300. 0 for an exact one."""
    if column.kind not in ("requests", "failures") or not cell.value:
        return 0.0
    scale = COUNTS.get(cell.unit, 1)
    if scale > 1:
        return 0.5 * scale / 10.0**cell.decimals
    if not cell.is_about:
        return 0.0
    digits = str(int(cell.value))
    return 0.5 * 10.0 ** (len(digits) - len(digits.rstrip("0")))


def converted(
    column: MappedColumn, cell: TableCell, all_cells: Sequence[TableCell], default: str
) -> tuple[float, int, str]:
    """(the value in our units, its decimals, the unit assumed from other cells, or "").

    all_cells: of the column. default: unit of times without one.
    """
    if column.is_time:
        unit, assumed = cell.unit or column.unit, ""
        if not unit:
            units = {each.unit for each in all_cells} & MS.keys()
            unit = next(iter(units)) if len(units) == 1 else default
            assumed = unit if units else ""
        # "1.2 s" is exact to tenths of a second: 2 decimals fewer than its ms would have.
        return cell.value * MS[unit], cell.decimals - round(math.log10(MS[unit])), assumed
    if column.kind in ("requests", "failures"):
        return float(round(cell.value * COUNTS.get(cell.unit, 1))), cell.decimals, ""
    if column.kind == "size":
        return cell.value * BYTES.get(cell.unit or column.unit, 1), cell.decimals, ""
    if column.kind in ("success", "failed") and _in_percent(column, all_cells):
        return round(cell.value / 100, cell.decimals + 2), cell.decimals + 2, ""
    return cell.value, cell.decimals, ""


def _in_percent(column: MappedColumn, all_cells: Sequence[TableCell]) -> bool:
    """Shares are in percent if the title or any cell has the sign, or one of them is above 1."""
    numbers = [each for each in all_cells if each.kind == "number"]
    return column.unit == "%" or any(each.unit == "%" or each.value > 1 for each in numbers)


def precision_of(tool: str, digits: int | None, decimals: int, *, corrected: bool) -> Precision:
    """The precision of a table's times: that of its tool if known, otherwise that of its numbers.

    digits: significant ones; None: all. decimals: the most of a time in ms.
    """
    clock = "corrected" if corrected else _CLOCKS.get(tool, "unknown")
    if tool == "locust" and not corrected:
        return LOCUST
    return Precision(
        tool or "unknown",
        digits=digits,
        floor=10.0**-decimals if decimals > 0 else 1.0,
        clock=clock,  # type: ignore[arg-type]
    )


def measured_of(key: tuple[str, str], values: RowValues, seconds: float | None) -> tuple[Measured, str]:
    """(the measured values, a note on derived ones)."""
    method, name = key
    requests, failures = _whole(values.get("requests")), _whole(values.get("failures"))
    rate, note = _rate(values, requests, seconds)
    quantiles = {q: each for (kind, q), each in values.by_measure.items() if kind == "quantile" and q is not None}
    highest = values.get("max")
    if highest is None:
        highest = quantiles.pop(1.0, None)
    measured = Measured(
        method,
        name,
        requests=requests,
        failures=failures,
        rate=rate,
        mean=values.get("mean"),
        min=values.get("min"),
        max=highest,
        quantiles=quantiles,
        size=values.get("size"),
        rounding=_rounding(values),
    )
    return measured, note


def _rounding(values: RowValues) -> dict[str, float]:
    return {kind: half for kind in ("requests", "failures") if (half := values.rounding.get((kind, None), 0.0))}


def _rate(values: RowValues, requests: int | None, seconds: float | None) -> tuple[float | None, str]:
    """The printed rate; a more exact one if the number of requests and the duration agree with it."""
    printed = values.get("rate")
    if requests is None or not seconds:
        return printed, ""
    exact = requests / seconds
    if printed is None:
        return exact, "rates are requests / duration"
    half = 0.5 * 10.0 ** -values.decimals["rate", None]
    if abs(printed - exact) <= half * 1.001 and printed != exact:
        return exact, "rates are requests / duration: the table rounds them"
    return printed, ""


def seconds_of(rows: list[RowValues]) -> float | None:
    """The length of a run, from its number of requests and an unrounded rate."""
    both = [
        (values.by_measure["requests", None], values.by_measure["rate", None])
        for values in rows
        if values.get("requests") and values.get("rate") and values.decimals["rate", None] >= FINE
    ]
    requests, rate = max(both, default=(0.0, 0.0))
    return requests / rate if rate else None


def shared(
    total: Measured, values: RowValues, offered: float | None, seconds: float | None, facts: dict[str, str | float]
) -> tuple[Measured, str]:
    """(the sums of a run with the success rate of its row, a note). Adds the rate to facts.

    The rate becomes counts if the number of requests follows from the offered rate.
    """
    success, failed = values.get("success"), values.get("failed")
    share = success if success is not None else None if failed is None else 1 - failed
    if share is None:
        return total, ""
    facts["success rate"] = share
    if offered is None or seconds is None or total.requests is not None:
        return total, ""
    requests = round(offered * seconds)
    note = f"requests are the offered rate times {seconds:g} s, failures follow from the success rate"
    failures = round(requests * (1 - share))
    # The share has so many decimals.
    decimals = values.decimals["success" if success is not None else "failed", None]
    rounding = {"failures": 0.5 * requests / 10**decimals} if failures else {}
    return replace(total, requests=requests, failures=failures, rounding={**total.rounding, **rounding}), note


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
