"""Puts templates, style sheet, script, charts and data into one file that needs nothing else."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.chart import colours, config
from plimsoll.report.render import VERSION as VEGA_LITE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

    from plimsoll.report.charts import Chart

BESIDE_PLOT = 90
"""px of a chart's height that are not its plot: legend and axis."""

_FOLDER = files("plimsoll.report.page")


def written(template: str, page: Any, charts: Mapping[str, Chart]) -> str:
    """The page as text. charts: those that the template shows, by name."""
    from markupsafe import Markup

    bundle, libraries = _bundle()
    script = _file("page.js")
    texts = {
        "style": f"{_palette()}\n{_file('page.css')}",
        "data": safe_json({"config": config("page"), "charts": {name: _lean(each) for name, each in charts.items()}}),
        "bundle": bundle,
        "script": script,
    }
    return (
        _environment()
        .get_template(template)
        .render(
            page=page,
            policy=_policy(bundle, script),
            version=version("plimsoll"),
            libraries=libraries,
            **{name: Markup(text) for name, text in texts.items()},
        )
    )


def safe_json(value: Any) -> str:
    """JSON that ends neither the element that it stands in nor a line of JavaScript, whatever a target sent."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _lean(chart: Chart) -> dict[str, Any]:
    """Without what the page says itself."""
    return {key: value for key, value in chart.spec.items() if key not in ("$schema", "title", "description")}


def _policy(*scripts: str) -> str:
    """Nothing may be fetched, sent or framed, and no script may run but these two."""
    hashes = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _palette() -> str:
    """The colours of the charts as variables, for light and for dark."""
    light = "".join(f"--{name}:{value};" for name, value in colours("light").items())
    dark = "".join(f"--{name}:{value};" for name, value in colours("dark").items())
    return (
        f":root{{{light}}}\n"
        f'@media (prefers-color-scheme: dark){{:root:not([data-theme="light"]){{color-scheme:dark;{dark}}}}}\n'
        f':root[data-theme="dark"]{{color-scheme:dark;{dark}}}\n'
        f"@media print{{:root:root:root{{color-scheme:light;{light}}}}}"
    )


def _height(chart: Chart) -> int:
    """px that a chart will take, so that the page does not jump when it is drawn."""
    height = chart.spec.get("height", 200)
    if isinstance(height, dict):
        data = chart.spec["datasets"]
        rows = {row.get("row", row.get("cell")) for name in ("rows", "points") for row in data.get(name, [])}
        height = height["step"] * max(1, len(rows))
    return int(height) + BESIDE_PLOT


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals["height_of"] = _height
    return made


@functools.cache
def _bundle() -> tuple[str, str]:
    """Vega-Embed with what it needs, as one script, and what that is."""
    import vl_convert

    text = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    # A browser reads a page's script up to its end tag, and hashes it with line ends of its own.
    text = text.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")
    libraries = (
        f"Vega {vl_convert.get_vega_version()}, Vega-Lite {VEGA_LITE}, Vega-Embed {vl_convert.get_vega_embed_version()}"
    )
    return text, libraries


@functools.cache
def _file(name: str) -> str:
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")
