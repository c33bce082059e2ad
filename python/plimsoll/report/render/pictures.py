"""Charts as pictures, without a browser or a network: specifications carry their data, fonts are this machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError
from plimsoll.report.charts.chart import colours, config

if TYPE_CHECKING:
    from types import ModuleType

    from plimsoll.report.charts.chart import Chart
    from plimsoll.report.document.blocks import ChartSpec

SCALE = 2.0
"""Pixels of a PNG for each of the specification."""
VERSION = "6.4"
"""Of Vega-Lite: the newest that vl-convert brings, and that of the page."""


def converter() -> ModuleType:
    """The library that draws. Raises UsageError when it is not installed."""
    try:
        import vl_convert
    except ImportError as error:
        raise UsageError(
            f"SVG and PNG need vl-convert: {pip_install('pictures')}. HTML, the page, and Markdown in one file "
            "do without it"
        ) from error
    module: ModuleType = vl_convert
    return module


def svg(chart: Chart | ChartSpec, mode: Literal["light", "dark"] = "light") -> str:
    """Stands by itself; text is text. Raises UsageError as `converter` does."""
    return str(converter().vegalite_to_svg(_with_paper(chart, mode), config=config(mode), **_OFFLINE))


def png(chart: Chart | ChartSpec, mode: Literal["light", "dark"] = "light", scale: float = SCALE) -> bytes:
    """Raises UsageError as `converter` does."""
    return bytes(converter().vegalite_to_png(_with_paper(chart, mode), config=config(mode), scale=scale, **_OFFLINE))


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
