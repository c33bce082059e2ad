"""Charts as pictures, without a browser or a network: specifications carry their data, fonts are this machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from plimsoll.report.charts.chart import colours, config

if TYPE_CHECKING:
    from plimsoll.report.charts.chart import Chart
    from plimsoll.report.document.blocks import ChartSpec

SCALE = 2.0
"""Pixels of a PNG for each of the specification."""
VERSION = "6.4"
"""Of Vega-Lite: the newest that vl-convert brings, and that of the page."""


def svg(chart: Chart | ChartSpec, mode: Literal["light", "dark"] = "light") -> str:
    """Stands by itself; text is text."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_with_paper(chart, mode), config=config(mode), **_OFFLINE))


def png(chart: Chart | ChartSpec, mode: Literal["light", "dark"] = "light", scale: float = SCALE) -> bytes:
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_with_paper(chart, mode), config=config(mode), scale=scale, **_OFFLINE))


_OFFLINE: dict[str, Any] = {"vl_version": VERSION, "allowed_base_urls": []}


def _with_paper(chart: Chart | ChartSpec, mode: Literal["light", "dark"]) -> dict[str, Any]:
    """A picture lies on whatever page it is put in, so it brings its own background."""
    subtitle = {"subtitle": chart.note} if chart.note else {}
    return {
        **chart.spec,
        "title": {"text": chart.title, **subtitle},
        "background": colours(mode)["paper"],
        "padding": 16,
    }
