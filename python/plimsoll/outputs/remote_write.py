"""Prometheus's remote write, version 1.0: a protobuf message of time series in a block of snappy.

The message has five types of fields and the block may consist of literals alone, so both are written here, without a
library.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from plimsoll.errors import UsageError
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.metrics import RunMetrics
from plimsoll.outputs.transports import HttpTransport, http_headers, interval_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.metric_histogram import Exemplar, Labels, MetricSample, NativeHistogram
    from plimsoll.outputs.metrics import OutputMetric
    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond, Undelivered

HEADERS = {"Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}
PATH = "/api/v1/write"
"""Of a URL without one."""
LONGEST_LITERAL = 1 << 16
ZERO_THRESHOLD_S = 1e-7
"""Times up to this count as 0 in native histograms. Recorded times are whole microseconds."""
_SAMPLE = b"\x12\x10\x09"
"""Field 2 of a TimeSeries: a sample of 16 bytes, which are a tag and a float, and a tag and a time in ms. Such a time
has 6 bytes until the year 2109."""


class RemoteWrite(DeliveredOutput):
    def __init__(self, target: OutputTarget) -> None:
        """Settings: `interval`, whole seconds, `histograms`, and `header`. Raises UsageError."""
        self._interval = interval_of(target.settings)
        histograms = target.settings.get("histograms", "classic")
        if histograms not in ("classic", "native"):
            raise UsageError(f"histograms are classic or native, not {histograms}")
        self._is_native = histograms == "native"
        parts = urlsplit(target.url)
        url = urlunsplit(parts._replace(path=PATH)) if parts.path in ("", "/") else target.url
        transport = HttpTransport(url, "application/x-protobuf", {**HEADERS, **http_headers(target.settings)})
        super().__init__(Delivery(target.name, transport, is_of_lines=False))
        self._known: dict[tuple[str, Labels], bytes] = {}
        """Encoded labels, which are the same in every message."""
        self._unsent = 0
        """Seconds and events since the last message."""
        self._time = 0.0
        """Of the samples of the next message: the end of the last second. An event after it adds a series only, so the
        other series get the same sample again, which receivers accept."""

    def open(self, run: OutputRun) -> None:
        self._metrics, self._time = RunMetrics(run, is_native=self._is_native), run.started
        super().open(run)

    def second(self, second: OutputSecond) -> None:
        self._metrics.add(second)
        self._unsent, self._time = self._unsent + 1, second.time
        if self._unsent >= self._interval:
            self._send()

    def event(self, event: OutputEvent) -> None:
        self._metrics.add_event(event)
        self._unsent += 1

    def _send(self) -> None:
        if self._unsent:
            message = write_request(self._metrics.families(), round(self._time * 1000), self._known)
            self._delivery.put(snappy_block(message), self._unsent)
            self._unsent = 0

    def flush(self, timeout_s: float) -> Undelivered | None:
        self._send()
        return super().flush(timeout_s)


def write_request(
    families: Iterable[tuple[OutputMetric, Sequence[MetricSample]]],
    time_ms: int,
    known: dict[tuple[str, Labels], bytes],
) -> bytes:
    """The message WriteRequest, with one sample for each series. known: encoded labels of earlier messages; it gets
    those of this one."""
    time = b"\x10" + _varint(time_ms)
    pieces: list[bytes] = []
    for metric, samples in families:
        for sample in samples:
            key = metric.name + sample.suffix, sample.labels
            if (labels := known.get(key)) is None:
                labels = known[key] = _encoded(*key)
            if sample.native is None:
                series = labels + _SAMPLE + struct.pack("<d", sample.value) + time
            else:
                series = labels + b"\x22" + _text(_native(sample.native, time_ms))
            if sample.exemplar is not None:
                series += b"\x1a" + _text(_exemplar(sample.exemplar))
            pieces += (b"\x0a", _varint(len(series)), series)
    return b"".join(pieces)


def _encoded(name: str, labels: Labels) -> bytes:
    """The labels of a TimeSeries, sorted by name as receivers demand; a label without a value is left out."""
    return b"".join(
        b"\x0a" + _text(b"\x0a" + _text(label.encode()) + b"\x12" + _text(value.encode("utf-8", "replace")))
        for label, value in sorted((("__name__", name), *labels))
        if value
    )


def _exemplar(exemplar: Exemplar) -> bytes:
    label = b"\x0a" + _text(b"trace_id") + b"\x12" + _text(exemplar.trace.encode())
    time = b"\x18" + _varint(round(exemplar.time * 1000))
    return b"\x0a" + _text(label) + b"\x11" + struct.pack("<d", exemplar.value_s) + time


def _native(histogram: NativeHistogram, time_ms: int) -> bytes:
    """The message Histogram, with one span of buckets, whose counts are differences from the one before."""
    buckets = histogram.buckets
    deltas = (count - before for before, count in pairwise((0, *buckets.counts)))
    # The upper end of a bucket counts here, and its lower end in OpenTelemetry's numbers.
    span = b"\x08" + _signed(buckets.offset + 1) + b"\x10" + _varint(len(buckets.counts))
    spans = b"\x5a" + _text(span) + b"\x62" + _text(b"".join(map(_signed, deltas))) if buckets.counts else b""
    return b"".join((
        b"\x08", _varint(histogram.values), b"\x19", struct.pack("<d", histogram.sum_s),
        b"\x20", _signed(buckets.scale), b"\x29", struct.pack("<d", ZERO_THRESHOLD_S), b"\x30", _varint(buckets.zeros),
        spans, b"\x78", _varint(time_ms),
    ))  # fmt: skip


def _signed(number: int) -> bytes:
    """A number in zigzag encoding."""
    return _varint(2 * number if number >= 0 else -2 * number - 1)


def _text(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def snappy_block(content: bytes) -> bytes:
    """The content as a block of snappy that has literals only."""
    pieces = [_varint(len(content))]
    for start in range(0, len(content), LONGEST_LITERAL):
        literal = content[start : start + LONGEST_LITERAL]
        # Tag 61: a literal whose length less 1 follows in two bytes.
        pieces += (b"\xf4", struct.pack("<H", len(literal) - 1), literal)
    return b"".join(pieces)
