"""HdrHistogram's files: logs of histograms (.hlog) and tables of percentiles (.hgrm).

A log's histograms can be merged without loss. A table is a curve: the values of some percentiles only.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.importers.cells import MS
from plimsoll.importers.one_result import OneHeader
from plimsoll.importers.samples import BUCKET, MOST_SECONDS
from plimsoll.importers.single import number, study_of_run, whole
from plimsoll.stats.study import PLIMSOLL, Course, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_V2, _V2_PACKED = 0x1C849303, 0x1C849304
_LONGEST_PAYLOAD = 64 * 1024 * 1024
_HEAD = struct.Struct(">iiiiqqd")
_METHOD = re.compile(r"([A-Z]{3,10}) (.+)", re.DOTALL)
_FOOTER = re.compile(r"#\[(Mean|Max|Buckets)\s*=\s*([\d.]+),\s*(StdDeviation|Total count|SubBuckets)\s*=\s*([\d.]+)\]")
_HGRM = re.compile(r'(?:\s*#[^\n]*\n)*\s*"?Value(?:\(ms\))?"?[\s,]+"?Percentile"?[\s,]+"?TotalCount')
_LONGEST_HEADER = 200
"""Characters."""
_CLOSE = 0.01
"""Relative difference below which two times of a curve count as equal."""
SHOWN = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
_UNITS = {1.0: "ms", 1e3: "us", 1e6: "ns"}

_Interval = tuple[float, float, Histogram]
"""Start and length in seconds, histogram in µs."""


def is_hlog(source: ResultFile) -> bool:
    head = source.beginning
    return "Histogram log format version" in head[:2000] or '"Interval_Compressed_Histogram"' in head[:4000]


def is_hgrm(source: ResultFile) -> bool:
    return bool(_HGRM.match(source.beginning))


def read_hlog(source: ResultFile, options: ImportOptions) -> Study:
    by_tag: dict[str, list[_Interval]] = defaultdict(list)
    ours = "Logged with plimsoll" in source.beginning
    warnings = []
    log = OneHeader(source, "HdrHistogram")
    for line, text in source.lines():
        if text.startswith("#[Histogram log format version"):
            log.seen(line)
        if text.startswith("#[INVALID"):
            warnings.append(text[2:-1])
        if text and not text.startswith(("#", '"')):
            tag, interval = _interval(source, line, text, options)
            by_tag[tag].append(interval)
    if not by_tag:
        raise source.error(None, "holds no histograms")
    rows = [row for each in by_tag.values() for row in each]
    first = min(start for start, _, _ in rows)
    span = max(start + length for start, length, _ in rows) - first
    if span > MOST_SECONDS:
        raise source.error(None, f"its intervals lie {span / 86_400:.0f} days apart: a time in it is wrong")
    seconds = options.duration or span or None
    endpoints = [_endpoint(tag, each, first, span, seconds) for tag, each in sorted(by_tag.items())]
    total = endpoints[0] if len(by_tag) == 1 and "" in by_tag else _endpoint(None, rows, first, span, seconds)
    return study_of_run(
        source,
        options,
        seconds=seconds,
        endpoints=() if total is endpoints[0] else tuple(endpoints),
        total=total,
        precision=PLIMSOLL
        if ours
        else Precision("hdrhistogram", digits=3, floor=1e-3, mergeable=True, relative=BUCKET),
        notes=("an .hlog does not record failures",),
        warnings=tuple(warnings),
    )


def _interval(source: ResultFile, line: int, text: str, options: ImportOptions) -> tuple[str, _Interval]:
    """(tag, the interval)."""
    tag = ""
    if text.startswith("Tag="):
        tag, _, text = text[4:].partition(",")
    cells = text.split(",")
    if len(cells) != 4:
        raise source.error(line, f"{len(cells)} columns where a histogram log has 4")
    start, length, highest = (number(source, line, cell, "interval") for cell in cells[:3])
    try:
        values = list(_counts(base64.b64decode(cells[3], validate=True)))
    except (ValueError, struct.error, zlib.error, IndexError) as error:
        raise source.error(line, f"its histogram is damaged: {error}") from None
    unit = options.unit or _unit(max((value for value, _ in values), default=0), highest)
    if not unit:
        raise source.error(line, "the unit of its histogram is not certain; give it with --unit (ns, us or ms)")
    histogram = Histogram()
    for value, count in values:
        histogram.record(max(1, round(value * MS[unit] * 1000)), count)
    return unquote(tag), (start, length, histogram)


def _unit(highest: int, stated: float) -> str:
    """Logs have the maximum of each interval in ms next to the histogram in its own unit."""
    if not highest or not stated:
        return "us"
    return next((unit for ratio, unit in _UNITS.items() if abs(highest / ratio / stated - 1) <= _CLOSE), "")


def _counts(payload: bytes) -> Iterator[tuple[int, int]]:
    """(highest value equivalent, count) of a V2 payload. Raises ValueError, struct.error, zlib.error, IndexError."""
    cookie, length = struct.unpack_from(">ii", payload)
    if cookie & ~0xF0 == _V2_PACKED:
        unpacker = zlib.decompressobj()
        payload = unpacker.decompress(payload[8 : 8 + length], _LONGEST_PAYLOAD)
        (cookie,) = struct.unpack_from(">i", payload)
    if cookie & ~0xF0 != _V2:
        raise ValueError("only HdrHistogram's V2 encoding is read")
    _, length, offset, digits, lowest, _, _ = _HEAD.unpack_from(payload)
    if offset or not 0 <= digits <= 5 or lowest < 1 or not 0 <= length <= len(payload) - _HEAD.size:
        raise ValueError("its head makes no sense")
    unit = lowest.bit_length() - 1
    half = max(0, (2 * 10**digits - 1).bit_length() - 1)  # log2 of half the number of sub-buckets
    index, at = 0, _HEAD.size
    end = at + length
    while at < end:
        count, at = _zigzag(payload, at)
        if count < 0:
            index -= count
            continue
        if count:
            bucket, sub = (index >> half) - 1, (index & ((1 << half) - 1)) + (1 << half)
            if bucket < 0:
                bucket, sub = 0, sub - (1 << half)
            yield ((sub + 1) << (bucket + unit)) - 1, count
        index += 1


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    """(a number in LEB128 with its sign in the last bit; the index after it): up to nine bytes, the last one whole."""
    value = shift = 0
    for index in range(9):
        byte = data[at]
        at += 1
        if index == 8:
            value |= byte << shift
            break
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    return (value >> 1) ^ -(value & 1), at


def _endpoint(tag: str | None, rows: list[_Interval], first: float, span: float, seconds: float | None) -> Measured:
    """tag None: the sum of all."""
    whole_run = Histogram()
    by_second: dict[int, Histogram] = {}
    for start, _, histogram in rows:
        whole_run.add(histogram)
        by_second.setdefault(int(start - first + 1e-6), Histogram()).add(histogram)
    split = _METHOD.fullmatch(tag or "")
    method, name = (split[1], split[2]) if split else ("", tag if tag else "Aggregated")
    return Measured(
        method,
        name,
        requests=whole_run.count,
        rate=whole_run.count / seconds if seconds else None,
        mean=whole_run.mean / 1000 if whole_run.count else None,
        min=whole_run.min / 1000 if whole_run.count else None,
        max=whole_run.max / 1000 if whole_run.count else None,
        histogram=whole_run,
        course=_course(by_second, max(1, round(span))) if all(length <= 1.5 for _, length, _ in rows) else None,
    )


def _course(by_second: dict[int, Histogram], length: int) -> Course:
    requests = np.zeros(length, dtype=np.int64)
    means, maxima = np.full(length, np.nan), np.full(length, np.nan)
    histograms: list[Histogram | None] = [None] * length
    for second, histogram in by_second.items():
        if second < length and histogram.count:
            requests[second] = histogram.count
            means[second], maxima[second] = histogram.mean / 1000, histogram.max / 1000
            histograms[second] = histogram.packed()
    return Course(requests, np.zeros(length, dtype=np.int64), means, maxima, np.full(length, np.nan), histograms)


def read_hgrm(source: ResultFile, options: ImportOptions) -> Study:
    scale = MS[options.unit or "ms"]
    curve: list[tuple[float, float]] = []
    count = 0
    facts: dict[str, float] = {}
    table = OneHeader(source, "HdrHistogram")
    for line, text in source.lines():
        if _HGRM.match(f"{text[:_LONGEST_HEADER]}"):
            table.seen(line)
            continue
        cells = [cell.strip('"') for cell in re.split(r"[\s,]+", text.strip())]
        if match := _FOOTER.match(text):
            facts |= {
                name: number(source, line, value, name) for name, value in ((match[1], match[2]), (match[3], match[4]))
            }
        elif len(cells) >= 3 and cells[0][:1].isdigit():
            value = number(source, line, cells[0], "Value") * scale
            quantile = number(source, line, cells[1], "Percentile")
            if curve and (quantile < curve[-1][0] or value < curve[-1][1]):
                raise source.error(line, "values and percentiles must not fall")
            curve.append((quantile, value))
            count = whole(source, line, cells[2], "TotalCount")
    if not curve:
        raise source.error(None, "holds no percentiles")
    is_vegeta = "Value(ms)" in source.beginning
    total = Measured(
        "",
        "Aggregated",
        requests=int(facts.get("Total count", count)),
        mean=facts["Mean"] * scale if "Mean" in facts else None,
        max=facts["Max"] * scale if "Max" in facts else curve[-1][1],
        quantiles=_quantiles(curve),
    )
    precision = Precision("vegeta" if is_vegeta else "hdrhistogram", digits=3, floor=1e-3 * scale)
    notes = ["a curve of percentiles: those that it does not give are not known"]
    if is_vegeta:
        notes.append("vegeta's curve comes from a t-digest, whose error has no bound")
    return study_of_run(source, options, seconds=None, total=total, precision=precision, notes=tuple(notes))


def _quantiles(curve: list[tuple[float, float]]) -> dict[float, float]:
    """Those of the curve; and for the usual ones between two nearly equal values, the higher value."""
    found = {round(q, 12): value for q, value in curve if 0 < q < 1}
    for wanted in SHOWN:
        below = max(((q, value) for q, value in curve if q <= wanted), default=None)
        above = min(((q, value) for q, value in curve if q >= wanted), default=None)
        if wanted not in found and below and above and above[1] - below[1] <= _CLOSE * above[1]:
            found[wanted] = above[1]
    return dict(sorted(found.items()))
