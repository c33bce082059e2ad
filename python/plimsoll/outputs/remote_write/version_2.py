"""The message of remote write 2.0: `io.prometheus.write.v2.Request`.

https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from plimsoll.outputs.remote_write.encoding import encode_native, encode_number, with_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.outputs.metric_histogram import Exemplar, Labels, MetricSample
    from plimsoll.outputs.metrics import MetricType, OutputMetric

_TYPES: dict[MetricType, bytes] = {"counter": b"\x01", "gauge": b"\x02", "histogram": b"\x03"}
"""Of Metadata."""


class SymbolTable:
    """Texts of one message by their numbers. The first is the empty text."""

    def __init__(self) -> None:
        self._numbers: dict[str, bytes] = {"": b"\x00"}
        self._encoded: list[bytes] = [b"\x22\x00"]

    def number(self, text: str) -> bytes:
        """The encoded number of a text."""
        if (number := self._numbers.get(text)) is None:
            number = self._numbers[text] = encode_number(len(self._numbers))
            self._encoded.append(b"\x22" + with_length(text.encode("utf-8", "replace")))
        return number

    def encode(self) -> bytes:
        """Field 4 of a Request."""
        return b"".join(self._encoded)


class Requests:
    """Makes the messages of a run."""

    def __init__(self, started_ms: int) -> None:
        """started_ms: Unix time at which all counters and histograms begin."""
        self._known: dict[tuple[str, Labels], tuple[str, ...]] = {}
        """Names and values of labels in their order."""
        self._started_ms = encode_number(started_ms)

    def message(self, families: Iterable[tuple[OutputMetric, Sequence[MetricSample]]], time_ms: int) -> bytes:
        """Request with one sample for each series."""
        symbols = SymbolTable()
        time = b"\x10" + encode_number(time_ms)
        pieces: list[bytes] = []
        for metric, samples in families:
            about = b"\x2a" + with_length(_metadata(symbols, metric))
            start = b"" if metric.type == "gauge" else self._started_ms
            for sample in samples:
                numbers = map(symbols.number, self._labels(metric.name + sample.suffix, sample.labels))
                series = b"".join((
                    b"\x0a" + with_length(b"".join(numbers)),
                    _value(sample, time, time_ms, start),
                    b"" if sample.exemplar is None else b"\x22" + with_length(_exemplar(symbols, sample.exemplar)),
                    about,
                ))  # fmt: skip
                pieces += (b"\x2a", encode_number(len(series)), series)
        return b"".join((symbols.encode(), *pieces))

    def _labels(self, name: str, labels: Labels) -> tuple[str, ...]:
        """Names and values, sorted by name as receivers demand; a label without a value is left out."""
        if (known := self._known.get((name, labels))) is None:
            pairs = [pair for pair in sorted((("__name__", name), *labels)) if pair[1]]
            known = self._known[name, labels] = tuple(text for pair in pairs for text in pair)
        return known


def _metadata(symbols: SymbolTable, metric: OutputMetric) -> bytes:
    help, unit = symbols.number(metric.help), symbols.number(metric.unit)
    return b"\x08" + _TYPES[metric.type] + b"\x18" + help + b"\x20" + unit


def _value(sample: MetricSample, time: bytes, time_ms: int, start: bytes) -> bytes:
    """Field 2 or 3 of a TimeSeries. start: when it began to count; b"" for what does not."""
    if sample.native is not None:
        return b"\x1a" + with_length(encode_native(sample.native, time_ms) + b"\x88\x01" + start)
    value = b"\x09" + struct.pack("<d", sample.value) + time
    return b"\x12" + with_length(value + b"\x18" + start if start else value)


def _exemplar(symbols: SymbolTable, exemplar: Exemplar) -> bytes:
    label = with_length(symbols.number("trace_id") + symbols.number(exemplar.trace))
    time = b"\x18" + encode_number(round(exemplar.time * 1000))
    return b"\x0a" + label + b"\x11" + struct.pack("<d", exemplar.value_s) + time
