"""Pieces of protobuf messages, and blocks of snappy.

The messages of remote write have few types of fields and a block may consist of literals alone, so both are written
here, without a library.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.outputs.exponential import ExponentialBuckets
    from plimsoll.outputs.metric_histogram import NativeHistogram

LONGEST_LITERAL = 1 << 16
ZERO_THRESHOLD_S = 1e-7
"""Times up to this count as 0 in native histograms. Recorded times are whole microseconds."""


def encode_native(histogram: NativeHistogram, time_ms: int) -> bytes:
    """The message Histogram of both versions."""
    buckets = histogram.buckets
    spans = encode_buckets(buckets, b"\x5a", b"\x62")
    return b"".join((
        b"\x08", encode_number(histogram.values), b"\x19", struct.pack("<d", histogram.sum_s),
        b"\x20", encode_signed(buckets.scale), b"\x29", struct.pack("<d", ZERO_THRESHOLD_S),
        b"\x30", encode_number(buckets.zeros), spans, b"\x78", encode_number(time_ms),
    ))  # fmt: skip


def encode_buckets(buckets: ExponentialBuckets, span_tag: bytes, counts_tag: bytes) -> bytes:
    """One span of buckets, whose counts are differences from the one before; nothing without buckets."""
    if not buckets.counts:
        return b""
    deltas = (count - before for before, count in pairwise((0, *buckets.counts)))
    # The upper end of a bucket counts here, and its lower end in OpenTelemetry's numbers.
    span = b"\x08" + encode_signed(buckets.offset + 1) + b"\x10" + encode_number(len(buckets.counts))
    return span_tag + with_length(span) + counts_tag + with_length(b"".join(map(encode_signed, deltas)))


def encode_label(name: str, value: str) -> bytes:
    """A message with both as fields 1 and 2."""
    return b"\x0a" + with_length(name.encode()) + b"\x12" + with_length(value.encode("utf-8", "replace"))


@lru_cache(maxsize=1 << 12)  # differences of counts are mostly small
def encode_signed(number: int) -> bytes:
    """A number in zigzag encoding."""
    return encode_number(2 * number if number >= 0 else -2 * number - 1)


def with_length(content: bytes) -> bytes:
    """A text, a message or packed numbers."""
    return encode_number(len(content)) + content


def encode_number(number: int) -> bytes:
    """A varint. number: 0 or more."""
    groups = bytearray()
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def snappy_block(content: bytes) -> bytes:
    """The content as a block of snappy that has literals only."""
    pieces = [encode_number(len(content))]
    for start in range(0, len(content), LONGEST_LITERAL):
        literal = content[start : start + LONGEST_LITERAL]
        # Tag 61: a literal whose length less 1 follows in two bytes.
        pieces += (b"\xf4", struct.pack("<H", len(literal) - 1), literal)
    return b"".join(pieces)
