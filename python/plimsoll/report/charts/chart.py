"""A chart: a Vega-Lite specification from a file of this folder, with its data filled in.

The files say how a chart looks; they have placeholders, `{{name}}`, for data alone: rows (as named data sets), the
words of an axis, the order of a legend. What a colour or a line style is called in them is said in `theme.json`, once
for light and once for dark.
"""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.plain_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Row = dict[str, "str | float | int | None"]
Mode = Literal["light", "dark", "page"]
"""page: colours are the variables of the page's style sheet, so that a chart follows when the page changes."""

KINDS = (
    "percentiles",
    "ladder_throughput",
    "ladder_latency",
    "verdicts",
    "course_rate",
    "course_times",
    "course_users",
    "course_generator",
    "course_heat",
    "failures",
    "target",
    "histogram",
    "capacity",
    "trend",
)
"""Stems of the files."""
BACKSLASH = "\u29f5"
"""What stands for a backslash in a title: it looks like one."""
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', 'DejaVu Sans', sans-serif"

_FOLDER = files("plimsoll.report.charts")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """One picture; complete without anything else."""

    name: str
    """Unique among the charts of an analysis; letters, digits and hyphens: a file's name, an element's id."""
    title: str
    spec: dict[str, Any]
    """Vega-Lite, with the data in it. Colours come from `config`."""
    kind: str = ""
    """The file that it was made from."""
    note: str = ""
    """What must be known to read it: what was left out, what was thinned."""
    operation: str = ""
    endpoint: tuple[str, str] | None = None
    variant: str = ""
    level: str = ""
    trial: str = ""
    """What it shows, where a report sorts charts by that."""


def draw(
    kind: str,
    name: str,
    title: str,
    data: Mapping[str, Sequence[Row]],
    words: Mapping[str, Any] | None = None,
    *,
    grows: bool = False,
    **about: Any,
) -> Chart:
    """kind: one of KINDS. data: rows by the names that the file gives them. words: what its other placeholders stand
    for. grows: rows are added while it is looked at, to data that has none yet, too. about: further fields of the
    chart. Raises KeyError for a placeholder that nobody filled."""
    spec = _quoted(filled(_file(f"{kind}.vl.json"), words or {}))
    title = printable(title)
    spec["title"] = {"text": title}
    spec["datasets"] = rows_by_name({key: rows for key, rows in data.items() if rows or grows})
    if "layer" in spec:
        # What has no rows is not drawn: it would only make the renderer wonder how far its axis should reach.
        spec["layer"] = [layer for layer in spec["layer"] if layer["data"]["name"] in spec["datasets"]]
    return Chart(identifier(name), title, spec, kind, **about)


def fragment(file: str, part: str, words: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Layers from a file of such, filled in like a specification."""
    layers: list[dict[str, Any]] = _quoted(filled(_file(file)[part], words))
    return layers


def rows_by_name(data: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
    """Data sets as a specification has them."""
    return {name: [{key: _shown(each) for key, each in row.items()} for row in rows] for name, rows in data.items()}


def config(mode: Mode) -> dict[str, Any]:
    """What all charts have in common, as Vega-Lite's `config`."""
    names = {name: f"var(--{name})" for name in colours("light")} if mode == "page" else dict(colours(mode))
    return dict(filled(_file("theme.json")["config"], {**names, "font": FONT}))


def colours(mode: Literal["light", "dark"]) -> Mapping[str, str]:
    """By their names in theme.json."""
    return dict(_file("theme.json")["colours"][mode])


def filled(node: Any, words: Mapping[str, Any]) -> Any:
    """A copy in which `{{name}}` is what words say: a text that is nothing else becomes any value, within a text it
    becomes text."""
    if isinstance(node, dict):
        return {key: filled(value, words) for key, value in node.items()}
    if isinstance(node, list):
        return [filled(value, words) for value in node]
    if not isinstance(node, str):
        return node
    whole = _PLACE.fullmatch(node)
    return words[whole[1]] if whole else _PLACE.sub(lambda found: str(words[found[1]]), node)


def _quoted(node: Any, key: str = "") -> Any:
    """A copy whose titles break no expression of Vega. For tooltips and for screen readers Vega-Lite puts the titles of
    axes and fields between double quotes. It escapes double quotes, but no backslashes and no ends of lines."""
    if isinstance(node, dict):
        return {name: _quoted(each, name) for name, each in node.items()}
    if isinstance(node, list):
        return [_quoted(each) for each in node]
    if not isinstance(node, str):
        return node
    return printable(node).replace("\\", BACKSLASH) if key == "title" else printable(node)


def identifier(name: str) -> str:
    """Letters, digits and hyphens. Two names that differ elsewhere only get a number in them."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "chart"


def unique(charts: Iterable[Chart]) -> list[Chart]:
    """The same; a name that was there before gets a number."""
    seen: dict[str, int] = {}
    named = []
    for chart in charts:
        seen[chart.name] = seen.get(chart.name, 0) + 1
        number = seen[chart.name]
        named.append(chart if number == 1 else replace(chart, name=f"{chart.name}-{number}"))
    return named


def short(value: float, digits: int = 5) -> float:
    """Rounded to what a screen can show, so that a page stays small; tables have the number itself."""
    return float(f"{value:.{digits}g}")


def _shown(value: str | float | int | None) -> str | float | int | None:
    """JSON has no NaN, and a picture no control characters."""
    if isinstance(value, str):
        return printable(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


@functools.cache
def _file(name: str) -> Any:
    return json.loads(_FOLDER.joinpath(name).read_text(encoding="utf-8"))
