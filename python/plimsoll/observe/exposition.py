"""The text that Prometheus scrapes: its own format 0.0.4, and OpenMetrics 1.0.

Formats: https://prometheus.io/docs/instrumenting/exposition_formats/ and
https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCEPT = "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4"

# Parses only the value: a scrape has thousands of lines, and their labels are the same each time.
_SAMPLE = re.compile(
    r"^[ \t]*([a-zA-Z_:][\w:.]*(?:[ \t]*\{(?:[^\"}]|\"(?:\\.|[^\"\\])*+\")*+\})?)[ \t]+([^\s{]+)", re.MULTILINE
)
_TYPE = re.compile(r"^#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)[ \t]*$", re.MULTILINE)
_LABEL = re.compile(r"([^\s\",={}]+)[ \t]*=[ \t]*\"((?:\\.|[^\"\\])*+)\"")
_UNITS = {"seconds": "s", "milliseconds": "ms", "bytes": "bytes", "ratio": "", "celsius": "°C", "percent": "%"}


def samples(text: str) -> Iterator[tuple[str, float]]:
    """For each line with a number: its name and labels as in the text, and the number."""
    for series, value in _SAMPLE.findall(text):
        try:
            yield series, float(value)
        except ValueError:
            continue


def types(text: str) -> dict[str, str]:
    """counter, gauge, histogram, …, by family."""
    return dict(_TYPE.findall(text))


def name_of(series: str) -> str:
    return series.partition("{")[0].strip()


def labels_of(series: str) -> dict[str, str]:
    _, _, rest = series.partition("{")
    return {name: re.sub(r"\\(.)", _unescaped, value) for name, value in _LABEL.findall(rest)}


def unit_of(name: str) -> str:
    """The unit in the suffix of a name: `_seconds`, `_bytes`; "" for none."""
    last = name.removesuffix("_total").rpartition("_")[2]
    return _UNITS.get(last, "")


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
