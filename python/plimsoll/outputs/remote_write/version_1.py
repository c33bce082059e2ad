"""The message of remote write 1.0: `prometheus.WriteRequest`."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from plimsoll.outputs.remote_write.encoding import encode_label, encode_native, encode_number, with_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.outputs.metric_histogram import Exemplar, Labels, MetricSample
    from plimsoll.outputs.metrics import OutputMetric

_SAMPLE = b"\x12\x10\x09"
"""Field 2 of a TimeSeries: a sample of 16 bytes, which are a tag and a float, and a tag and a time in ms. Such a time
has 6 bytes until the year 2109."""


class WriteRequests:
    """Makes the messages of a run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Labels], bytes] = {}
        """Encoded labels, which are the same in every message."""

    def message(self, families: Iterable[tuple[OutputMetric, Sequence[MetricSample]]], time_ms: int) -> bytes:
        """WriteRequest with one sample for each series."""
        time = b"\x10" + encode_number(time_ms)
        pieces: list[bytes] = []
        for metric, samples in families:
            for sample in samples:
                key = metric.name + sample.suffix, sample.labels
                if (labels := self._known.get(key)) is None:
                    labels = self._known[key] = _encoded(*key)
                if sample.native is None:
                    series = labels + _SAMPLE + struct.pack("<d", sample.value) + time
                else:
                    series = labels + b"\x22" + with_length(encode_native(sample.native, time_ms))
                if sample.exemplar is not None:
                    series += b"\x1a" + with_length(_exemplar(sample.exemplar))
                pieces += (b"\x0a", encode_number(len(series)), series)
        return b"".join(pieces)


def _encoded(name: str, labels: Labels) -> bytes:
    """The labels of a TimeSeries, sorted by name as receivers demand; a label without a value is left out."""
    return b"".join(
        b"\x0a" + with_length(encode_label(label, value))
        for label, value in sorted((("__name__", name), *labels))
        if value
    )


def _exemplar(exemplar: Exemplar) -> bytes:
    time = b"\x18" + encode_number(round(exemplar.time * 1000))
    label = with_length(encode_label("trace_id", exemplar.trace))
    return b"\x0a" + label + b"\x11" + struct.pack("<d", exemplar.value_s) + time
