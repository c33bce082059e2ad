"""Metrics in the format in which Prometheus scrapes native histograms: messages `io.prometheus.client.MetricFamily`.

https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from plimsoll.outputs.metric_histogram import BOUND_TEXTS
from plimsoll.outputs.remote_write.encoding import (
    ZERO_THRESHOLD_S,
    encode_buckets,
    encode_label,
    encode_number,
    encode_signed,
    with_length,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.outputs.metric_histogram import Exemplar, Labels, MetricSample, NativeHistogram
    from plimsoll.outputs.metrics import MetricType, OutputMetric

PROTOBUF = "application/vnd.google.protobuf"
PARAMETERS = ("proto=io.prometheus.client.metricfamily", "encoding=delimited")
"""Of the content type, in lower case."""
_TYPES: dict[MetricType, bytes] = {"counter": b"\x00", "gauge": b"\x01", "histogram": b"\x04"}
_VALUES = {"counter": b"\x1a", "gauge": b"\x12"}
"""Tags of the fields of a Metric that have one number."""
_SAMPLES_OF_HISTOGRAM = len(BOUND_TEXTS) + 2
"""Its buckets, sum and count."""


def protobuf_exposition(
    classic: Iterable[tuple[OutputMetric, Sequence[MetricSample]]],
    native: Iterable[tuple[OutputMetric, Sequence[MetricSample]]],
) -> bytes:
    """Each family after its length. classic, native: the same metrics; histograms get the buckets of both, and a server
    takes those that it knows."""
    known = {(metric.name, sample.labels): sample for metric, samples in native for sample in samples if sample.native}
    return b"".join(with_length(_family(metric, samples, known)) for metric, samples in classic)


def _family(
    metric: OutputMetric, samples: Sequence[MetricSample], native: dict[tuple[str, Labels], MetricSample]
) -> bytes:
    parts = [
        b"\x0a" + with_length(metric.name.encode()),
        b"\x12" + with_length(metric.help.encode()),
        b"\x18" + _TYPES[metric.type],
    ]
    if metric.type == "histogram":
        parts += _histograms(metric.name, samples, native)
    else:
        tag = _VALUES[metric.type]
        parts += (_metric(sample.labels, tag, b"\x09" + struct.pack("<d", sample.value)) for sample in samples)
    return b"".join(parts)


def _metric(labels: Labels, tag: bytes, value: bytes) -> bytes:
    pairs = b"".join(b"\x0a" + with_length(encode_label(name, text)) for name, text in labels)
    return b"\x22" + with_length(pairs + tag + with_length(value))


def _histograms(
    name: str, samples: Sequence[MetricSample], native: dict[tuple[str, Labels], MetricSample]
) -> Iterator[bytes]:
    for start in range(0, len(samples), _SAMPLES_OF_HISTOGRAM):
        *buckets, total, count = samples[start : start + _SAMPLES_OF_HISTOGRAM]
        parts = [b"\x08" + encode_number(round(count.value)), b"\x11" + struct.pack("<d", total.value)]
        parts += (b"\x1a" + with_length(_bucket(bucket)) for bucket in buckets)
        if (fine := native.get((name, total.labels))) is not None and fine.native is not None:
            parts.append(_native(fine.native))
        yield _metric(total.labels, b"\x3a", b"".join(parts))


def _bucket(sample: MetricSample) -> bytes:
    bound = float(sample.labels[-1][1])
    exemplar = b"" if sample.exemplar is None else b"\x1a" + with_length(_exemplar(sample.exemplar))
    return b"\x08" + encode_number(round(sample.value)) + b"\x11" + struct.pack("<d", bound) + exemplar


def _exemplar(exemplar: Exemplar) -> bytes:
    seconds = int(exemplar.time)
    nanos = round((exemplar.time - seconds) * 1e9)
    time = b"\x08" + encode_number(seconds) + b"\x10" + encode_number(nanos)
    label = with_length(encode_label("trace_id", exemplar.trace))
    return b"\x0a" + label + b"\x11" + struct.pack("<d", exemplar.value_s) + b"\x1a" + with_length(time)


def _native(histogram: NativeHistogram) -> bytes:
    buckets = histogram.buckets
    return b"".join((
        b"\x28", encode_signed(buckets.scale), b"\x31", struct.pack("<d", ZERO_THRESHOLD_S),
        b"\x38", encode_number(buckets.zeros), encode_buckets(buckets, b"\x62", b"\x6a"),
    ))  # fmt: skip
