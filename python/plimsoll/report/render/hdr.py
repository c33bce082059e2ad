"""HdrHistogram's own formats: its log (version 1.3 of the format, V2 payloads) and its percentile table.

Both as HdrHistogram's tools read them. Values in the log's payload are whole microseconds.
"""

from __future__ import annotations

import base64
import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.plain_text import one_line
from plimsoll.record import TIMES_OF
from plimsoll.say.validity import check_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.record import Interval
    from plimsoll.report.sources import Described, OutputRequest, RunSource

TICKS = 5
"""Lines per halving of the distance to 100 %, as HdrHistogram's tools have it."""

_LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
_NOT_IN_TAGS = re.compile(r"[^!-$&-+\--~]")
"""A tag ends at a comma and may hold no blanks; "%" is what others are escaped with."""


def hgrm(source: RunSource, request: OutputRequest) -> str:
    """All response times together."""
    total, timed = Histogram(), TIMES_OF[source.stored.manifest.times_of]
    for interval in source.measured():
        if interval.outcome in timed and interval.timed:
            total.add(interval.response)
    return percentile_table(total, check_texts(source.assessment.validity.failed))


def hlog(source: RunSource, request: OutputRequest) -> Iterator[str]:
    lines = log_lines(source.stored, source.measured(), check_texts(source.assessment.validity.failed))
    return (f"{line}\n" for line in lines)


def log_lines(run: Described, intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> Iterator[str]:
    """A tagged line of response times per second and endpoint, without line ends.

    intervals: second by second. invalid: reasons to doubt the run, for the head of the file.
    """
    yield _comment(f"Logged with plimsoll {run.manifest.version}, run {run.id}; values in microseconds")
    for reason in invalid:
        yield _comment(f"INVALID: {reason}")
    started = datetime.fromtimestamp(run.started, UTC).isoformat(timespec="milliseconds")
    yield f"#[StartTime: {run.started:.3f} (seconds since epoch), {started}]"
    yield f"#[BaseTime: {run.started:.3f} (seconds since epoch)]"
    yield "#[Histogram log format version 1.3]"
    yield _LEGEND
    timed = TIMES_OF[run.manifest.times_of]
    second = -1
    open_second: dict[tuple[str, str], Histogram] = {}
    for interval in intervals:
        if interval.second != second:
            yield from _second_lines(second, open_second)
            second, open_second = interval.second, {}
        if interval.outcome in timed and interval.timed:
            open_second.setdefault((interval.name, interval.method), Histogram()).add(interval.response)
    yield from _second_lines(second, open_second)


def _second_lines(second: int, histograms: dict[tuple[str, str], Histogram]) -> Iterator[str]:
    for (name, method), histogram in sorted(histograms.items()):
        payload = base64.b64encode(histogram.encode()).decode()
        yield f"Tag={tag(method, name)},{second:.3f},1.000,{histogram.max / 1000:.3f},{payload}"


def tag(method: str, name: str) -> str:
    """An endpoint as a tag: what a tag may not hold is percent-encoded, as in GET%20/todos/."""
    return _NOT_IN_TAGS.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")),
        f"{method} {name}".strip(),
    )


def _comment(text: str) -> str:
    """A line that tools leave out."""
    return f"#[{one_line(text)}]"


def percentile_table(histogram: Histogram, invalid: Iterable[str] = ()) -> str:
    """The table that `.hgrm` files hold, in ms."""
    lines = [_comment(f"INVALID: {reason}") for reason in invalid]
    lines += [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    for quantile, micros, seen in _percentiles(histogram):
        inverse = f"{1 / (1 - quantile):14.2f}" if quantile < 1 else f"{'inf':>14}"
        lines.append(f"{micros / 1000:12.3f} {quantile:14.12f} {seen:10d} {inverse}")
    mean, deviation = _moments(histogram)
    lines += [
        f"#[Mean    = {mean:12.3f}, StdDeviation   = {deviation:12.3f}]",
        f"#[Max     = {histogram.max / 1000:12.3f}, Total count    = {histogram.count:12d}]",
    ]
    return "\n".join(lines) + "\n"


def _percentiles(histogram: Histogram) -> Iterator[tuple[float, int, int]]:
    """(quantile, µs, how many are not above) up to the first that is the maximum, and for 1."""
    if not histogram.count:
        return
    for quantile in _quantiles():
        micros = histogram.value_at(max(quantile, 0.5 / histogram.count))  # the first rank is 1
        seen = histogram.count - histogram.counts_above([micros])[0]
        yield quantile, micros, seen
        if seen == histogram.count:
            break
    yield 1.0, histogram.value_at(1), histogram.count


def _quantiles() -> Iterator[float]:
    """From 0, in steps that halve with the distance to 1."""
    halves = 1
    while True:
        for tick in range(TICKS):
            # 1 - 1/halves and some ticks more, rounded once: sums of steps would miss the rank they are meant for.
            yield (2 * TICKS * (halves - 1) + tick) / (2 * TICKS * halves)
        halves *= 2


def _moments(histogram: Histogram) -> tuple[float, float]:
    """Mean and standard deviation in ms, as HdrHistogram has them: each value counts as the middle of its bucket."""
    buckets = [(_middle(value), number) for value, number in histogram.buckets()]
    count = sum(number for _, number in buckets)
    if not count:
        return 0.0, 0.0
    mean = sum(value * number for value, number in buckets) / count
    variance = sum((value - mean) ** 2 * number for value, number in buckets) / count
    return mean / 1000, math.sqrt(variance) / 1000


def _middle(highest: int) -> int:
    """Of the bucket whose highest value this is: 1 wide below 2048, then 2, 4, …, for 3 significant digits."""
    width = 1 << max(0, highest.bit_length() - 11)
    return highest - width + 1 + width // 2
