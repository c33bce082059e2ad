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

LONGEST_LINE = 4096
"""Characters. A pattern may look at a damaged line from each of its characters, and no other thread runs meanwhile."""
# Parses only the value: a scrape has thousands of lines, and their labels are the same each time.
_SAMPLE = re.compile(r"[ \t]*([a-zA-Z_:][\w:.]*(?:[ \t]*\{(?:[^\"}]|\"(?:\\.|[^\"\\])*+\")*+\})?)[ \t]+([^\s{]+)")
_TYPE = re.compile(r"#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)[ \t]*\r?$")
_LABEL = re.compile(r"([^\s\",={}]+)[ \t]*=[ \t]*\"((?:\\.|[^\"\\])*+)\"")
_UNITS = {"seconds": "s", "milliseconds": "ms", "bytes": "bytes", "ratio": "", "celsius": "°C", "percent": "%"}


def samples(text: str) -> Iterator[tuple[str, float]]:
    """For each line with a number that is not too long: its name and labels as in the text, and the number."""
    for line in text.split("\n"):
        if len(line) > LONGEST_LINE or (found := _SAMPLE.match(line)) is None:
            continue
        try:
            yield found[1], float(found[2])
        except ValueError:
            continue


def too_long(text: str) -> int:
    """The number of lines that `samples` leaves out for their length."""
    if len(text) <= LONGEST_LINE:
        return 0
    return sum(len(line) > LONGEST_LINE and line[0] != "#" for line in text.split("\n"))


def types(text: str) -> dict[str, str]:
    """counter, gauge, histogram, …, by family."""
    found = (_TYPE.match(line) for line in text.split("\n") if line.startswith("#") and len(line) <= LONGEST_LINE)
    return {each[1]: each[2] for each in found if each is not None}


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
