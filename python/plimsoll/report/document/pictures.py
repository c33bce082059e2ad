"""The charts of a document: those that some block shows, each once, with what is highlighted in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts import TOTAL
from plimsoll.report.document.blocks import ChartSpec, Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.report.charts import Chart

AXIS, LEGEND = 66, 21
"""px of a chart's height beside its plot."""
_SAID_ELSEWHERE = ("$schema", "title", "description")


class ShownCharts:
    def __init__(self, charts: Sequence[Chart]) -> None:
        """charts: all that could be shown; their names are unique."""
        self.all = charts
        self._shown: dict[str, ChartSpec] = {}

    def block(self, charts: Iterable[Chart], *, wide: bool = False) -> tuple[Figures, ...]:
        """One block with all of them; none if there is no chart."""
        names = tuple(self.plain(each) for each in charts)
        return (Figures(names, wide),) if names else ()

    def plain(self, chart: Chart) -> str:
        """Its name; now it is shown."""
        return self._show(chart_spec(chart))

    def copy(self, chart: Chart, copy: Chart) -> str:
        """The name of a copy in which something is highlighted; it gets one of its own."""
        base = self._shown[self.plain(chart)]
        return self._show(_without_data_of(base, chart_spec(replace(copy, name=self._free(copy.name)))))

    def specs(self) -> tuple[ChartSpec, ...]:
        """Of all that were shown, in the order in which they were."""
        return tuple(self._shown.values())

    def _show(self, spec: ChartSpec) -> str:
        self._shown.setdefault(spec.name, spec)
        return spec.name

    def _free(self, name: str) -> str:
        """The same, with a number behind it if another chart is called that."""
        taken = {each.name for each in self.all} | self._shown.keys()
        number, free = 1, name
        while free in taken:
            number += 1
            free = f"{name}-{number}"
        return free


def chart_spec(chart: Chart) -> ChartSpec:
    """What the page draws of a chart."""
    spec = {key: value for key, value in chart.spec.items() if key not in _SAID_ELSEWHERE}
    description = str(chart.spec.get("description", ""))
    return ChartSpec(chart.name, chart.title, description, spec, _height(chart), chart.note)


def _without_data_of(base: ChartSpec, of: ChartSpec) -> ChartSpec:
    """A copy of a chart without the data that the two share, so that a document has them once."""
    known = base.spec["datasets"]
    own = {name: rows for name, rows in of.spec["datasets"].items() if rows != known.get(name)}
    return replace(of, spec=of.spec | {"datasets": own}, base=base.name)


def _height(chart: Chart) -> int:
    """px that a chart will take, so that the page does not jump when it is drawn."""
    height: Any = chart.spec.get("height", 200)
    if isinstance(height, dict):
        data = chart.spec["datasets"]
        rows = {row.get("row", row.get("cell")) for name in ("rows", "points") for row in data.get(name, [])}
        height = height["step"] * max(1, len(rows))
    return int(height) + AXIS + (LEGEND if _has_legend(chart.spec) else 0)


def _has_legend(spec: dict[str, Any]) -> bool:
    """In the picture: that of charts over time stands above it."""
    if "course" in spec.get("usermeta", {}):
        return False
    encodings = [each.get("encoding", {}) for each in (spec, *spec.get("layer", ()))]
    return any("field" in (each.get("color") or {}) for each in encodings)


def main_ones(charts: Sequence[Chart]) -> tuple[list[Chart], list[Chart]]:
    """Those of all endpoints together, or of an operation's only one; and the others."""
    main = [chart for chart in charts if not any(chart.endpoint or TOTAL) or is_only(chart, charts)]
    return main, [chart for chart in charts if chart not in main]


def is_only(chart: Chart, charts: Sequence[Chart]) -> bool:
    """Whether its endpoint is the only one of the operation that has charts of that kind."""
    own = {each.endpoint for each in charts if each.kind == chart.kind and each.operation == chart.operation}
    return len(own - {None}) == 1
