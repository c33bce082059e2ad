"""The meanings of a table's columns, by their titles."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll.importers.cells import BYTES, MS

if TYPE_CHECKING:
    from collections.abc import Mapping

Meaning = Literal[
    "method", "name", "variant", "users", "offered", "requests", "failures", "success", "failed", "mean", "min", "max",
    "quantile", "size", "rate", "other",
]  # fmt: skip
"""success, failed: a share of the requests. other: known, and not used."""

_TITLES: dict[Meaning, tuple[str, ...]] = {
    "method": ("method", "type", "http method", "verb"),
    "name": (
        "name", "names", "endpoint", "endpoints", "url", "path", "uri", "route", "request", "request name", "label",
        "transaction", "api", "methods", "page", "scenario",
    ),
    "variant": (
        "impl", "implementation", "variant", "version", "framework", "server", "build", "language", "step", "setup",
    ),
    "users": (
        "users", "user count", "# users", "vus", "clients", "no. of clients", "no of clients", "concurrency",
        "concurrent users", "connections", "threads", "virtual users",
    ),
    "offered": ("offered", "offered rate", "target rate", "arrival rate", "attack rate"),
    "requests": (
        "# requests", "requests", "request count", "count", "# reqs", "reqs", "samples", "# samples", "#samples",
        "total requests", "#requests", "hits",
    ),
    "failures": (
        "# fails", "fails", "failures", "failure count", "errors", "# errors", "# failures", "error count", "ko",
        "failed requests", "failed", "#fails",
    ),
    "success": ("success rate", "success ratio", "success", "success %", "success rate %", "ok %"),
    "failed": (
        "error rate", "error ratio", "error %", "errors %", "error rate %", "failure rate", "failure rate %", "% ko",
        "failed %", "fail %", "failures %",
    ),
    "mean": ("average", "avg", "mean"),
    "min": ("min", "minimum", "fastest"),
    "max": ("max", "maximum", "slowest", "worst"),
    "size": (
        "average size", "average content size", "avg size", "content size", "avg. bytes", "average bytes", "mean size",
        "size",
    ),
    "rate": (
        "rps", "req/s", "req/sec", "reqs/s", "reqs/sec", "requests/s", "requests/sec", "requests per second",
        "throughput", "request rate", "queries/s", "qps", "r/s", "tps", "transactions/s", "transactions/sec",
    ),
    "other": (
        "failures/s", "current rps", "current failures/s", "std dev", "stddev", "std. dev", "standard deviation",
        "transfer/sec", "received kb/sec", "sent kb/sec", "kb/sec", "error", "bytes",
    ),
}  # fmt: skip
_KINDS: dict[str, Meaning] = {title: kind for kind, titles in _TITLES.items() for title in titles}
LABELS: frozenset[Meaning] = frozenset({"method", "name", "variant", "users", "offered"})
MEANINGS = (
    "name", "method", "variant", "users", "offered", "requests", "failures", "success rate", "error rate", "average",
    "min", "max", "p50", "p99.9", "size", "rps",
)  # fmt: skip
"""A title for each meaning, for messages and help."""
_TIMES: frozenset[Meaning] = frozenset({"mean", "min", "max", "quantile"})

_QUALIFIER = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*")
_WORDS = re.compile(r"\b(?:response times?|resp\.? times?|latency|latencies|line|time)\b")
_QUANTILE = re.compile(
    r"[pq]\s*(?P<p>\d{1,5}(?:\.\d+)?)%?|percentile\s*(?P<named>\d{1,3}(?:\.\d+)?)%?|"
    r"(?P<suffixed>\d{1,3}(?:\.\d+)?)\s*"
    r"(?:%|%\s*-?t?ile|-?%ile|(?:st|nd|rd|th)(?:\s*(?:%|pct|percentile|%ile))?|\s*percentile)"
)
_ARM_NAME = re.compile(r"old|new|before|after|baseline|current|main|head|base|candidate")
_ARM = re.compile(
    rf"(?P<before>{_ARM_NAME.pattern})[\s:_-]+(?P<a>.+)|(?P<b>.+?)[\s:_-]+(?P<behind>{_ARM_NAME.pattern})"
)
LONGEST_TITLE = 200
"""Characters; longer text is no title. Some of these patterns take quadratic time."""
MOST_WORDS = 5
"""Of a title between single blanks."""
LEAST_SPACED = 3
"""Titles of a line with single blanks between them: fewer may be prose."""
_RATES = frozenset({"req/s", "req/sec", "requests/s", "requests/sec", "rps", "/s"})


@dataclass(frozen=True, slots=True)
class MappedColumn:
    kind: Meaning
    q: float | None = None
    """Of a quantile, 0 < q <= 1: 100 % is the maximum, rounded like percentiles."""
    unit: str = ""
    """The unit in the title."""
    corrected: bool = False
    """The title says that these times were corrected afterwards."""
    arm: str = ""
    """The arm in the title: "old", "new"."""
    place: int = 0
    """The index of its arm among several side by side, from 0."""

    @property
    def measure(self) -> tuple[Meaning, float | None]:
        return self.kind, self.q

    @property
    def is_time(self) -> bool:
        return self.kind in _TIMES


def column(title: str) -> MappedColumn | None:
    """The meaning of a title; None for an unknown title."""
    if len(title) > LONGEST_TITLE:
        return None
    text = re.sub(r"\s+", " ", title.strip().strip("*_`").lower())
    text = re.sub(r"\bp\((\d+(?:\.\d+)?)\)", r"p\1", text)
    unit, corrected, arm, rest = "", False, "", []
    for qualifier in _QUALIFIER.findall(text):
        if qualifier in MS or qualifier in BYTES:
            unit = qualifier
        elif qualifier == "corrected":
            corrected = True
        elif _ARM_NAME.fullmatch(qualifier):
            arm = qualifier
        elif qualifier not in _RATES:
            rest.append(qualifier)  # "latency (avg)", "errors (%)"
    bare = " ".join([_QUALIFIER.sub(" ", text).strip(" .:"), *rest])
    found = _known(bare)
    if found is None and not arm and (named := _ARM.fullmatch(bare)):
        arm = named["before"] or named["behind"]
        found = _known(named["a"] or named["b"])
    if found is None or (unit in BYTES and found.kind != "size" and unit not in MS):
        return None
    if found.kind in ("success", "failed") and "%" in bare:
        unit = "%"
    return replace(found, unit=unit, corrected=corrected, arm=arm)


def _known(bare: str) -> MappedColumn | None:
    return _kind(bare) or _kind(re.sub(r"\s+", " ", _WORDS.sub("", bare)).strip(" .:_-"))


def _kind(bare: str) -> MappedColumn | None:
    if bare in _KINDS:
        return MappedColumn(_KINDS[bare])
    if bare in ("median", "med"):
        return MappedColumn("quantile", 0.5)
    found = _QUANTILE.fullmatch(bare)
    if found is None:
        return None
    digits = found["p"] or found["suffixed"] or found["named"]
    # p999 is p99.9, because there is nothing above 100 %.
    percent = float(f"99.{digits[2:]}" if re.fullmatch(r"999+", digits) else digits)
    return MappedColumn("quantile", round(percent / 100, 12)) if 0 < percent <= 100 else None


_NONE: Mapping[str, MappedColumn] = {}


def columns(titles: list[str], known: Mapping[str, MappedColumn] = _NONE) -> tuple[list[MappedColumn | None], str]:
    """(the meanings of a whole header, why they are uncertain). known: meanings that replace those of the titles.

    If each measure occurs k times, there are k arms."""
    found = [known.get(title) or column(title) for title in titles]
    times: Counter[tuple[Meaning, float | None]] = Counter()
    for index, each in enumerate(found):
        if each is not None and each.kind not in LABELS and each.kind != "other":
            found[index] = replace(each, place=times[each.measure])
            times[each.measure] += 1
    if len(set(times.values())) <= 1:
        return found, ""
    repeated = [title for title, count in Counter(map(str.strip, titles)).items() if count > 1 and title]
    if repeated:
        return found, f"column {repeated[0]!r} is there several times, others are not"
    # The same under two names, like Locust's median and 50 %: the first counts.
    return [MappedColumn("other") if each and each.place else each for each in found], ""


def spaced_titles(line: str, known: Mapping[str, MappedColumn] = _NONE) -> list[str] | None:
    """Titles of a line that has nothing but known titles, with single blanks between them; None for any other line."""
    words = line.split() if len(line) <= LONGEST_TITLE else []
    titles: list[str] = []
    start = 0
    while start < len(words):
        ends = range(min(len(words), start + MOST_WORDS), start, -1)
        texts = (" ".join(words[start:end]) for end in ends)
        title = next((text for text in texts if text in known or column(text) is not None), None)
        if title is None:
            return None
        titles.append(title)
        start += len(title.split())
    return titles if len(titles) >= LEAST_SPACED else None


def looks_like_header(titles: list[str], known: Mapping[str, MappedColumn] = _NONE) -> bool:
    """Whether a line is a header: it names a measured value."""
    found = [each for title in titles if (each := known.get(title) or column(title)) is not None]
    measures = [each for each in found if each.kind not in LABELS and each.kind != "other"]
    return len(measures) >= 2 or (len(measures) == 1 and len(found) >= 2)
