"""The messages of remote write, decoded by protobuf's own library from the numbers of their fields."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_NUMBERS = {
    "double": 1, "int64": 3, "uint64": 4, "string": 9, "message": 11, "uint32": 13, "sint32": 17, "sint64": 18,
}  # fmt: skip
"""Types of fields, as descriptors have them."""
_HISTOGRAM = {
    "count_int": (1, "uint64"), "sum": (3, "double"), "schema": (4, "sint32"), "zero_threshold": (5, "double"),
    "zero_count_int": (6, "uint64"), "positive_spans": (11, "*BucketSpan"), "positive_deltas": (12, "*sint64"),
    "timestamp": (15, "int64"), "start_timestamp": (17, "int64"),
}  # fmt: skip
_SPAN = {"offset": (1, "sint32"), "length": (2, "uint32")}
MESSAGES: dict[str, dict[str, dict[str, tuple[int, str]]]] = {
    "prometheus": {
        "WriteRequest": {"timeseries": (1, "*TimeSeries")},
        "TimeSeries": {
            "labels": (1, "*Label"), "samples": (2, "*Sample"), "exemplars": (3, "*Exemplar"),
            "histograms": (4, "*Histogram"),
        },
        "Label": {"name": (1, "string"), "value": (2, "string")},
        "Sample": {"value": (1, "double"), "timestamp": (2, "int64")},
        "Exemplar": {"labels": (1, "*Label"), "value": (2, "double"), "timestamp": (3, "int64")},
        "Histogram": _HISTOGRAM,
        "BucketSpan": _SPAN,
    },
    "io.prometheus.write.v2": {
        "Request": {"symbols": (4, "*string"), "timeseries": (5, "*TimeSeries")},
        "TimeSeries": {
            "labels_refs": (1, "*uint32"), "samples": (2, "*Sample"), "histograms": (3, "*Histogram"),
            "exemplars": (4, "*Exemplar"), "metadata": (5, "Metadata"),
        },
        "Sample": {"value": (1, "double"), "timestamp": (2, "int64"), "start_timestamp": (3, "int64")},
        "Exemplar": {"labels_refs": (1, "*uint32"), "value": (2, "double"), "timestamp": (3, "int64")},
        "Metadata": {"type": (1, "uint32"), "help_ref": (3, "uint32"), "unit_ref": (4, "uint32")},
        "Histogram": _HISTOGRAM,
        "BucketSpan": _SPAN,
    },
}  # fmt: skip
"""By package and message: the number and the type of each field; a star stands for several."""


def _classes() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for package, messages in MESSAGES.items():
        file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
        for name, fields in messages.items():
            message = file.message_type.add(name=name)
            for field, (number, kind) in fields.items():
                is_several, kind = kind.startswith("*"), kind.removeprefix("*")
                added = message.field.add(name=field, number=number, label=3 if is_several else 1)
                added.type = _NUMBERS.get(kind, _NUMBERS["message"])  # type: ignore[assignment]
                if kind not in _NUMBERS:
                    added.type_name = f".{package}.{kind}"
        pool.Add(file)  # type: ignore[no-untyped-call]
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))  # type: ignore[no-untyped-call]
        for name in ("prometheus.WriteRequest", "io.prometheus.write.v2.Request")
    }


_CLASSES = _classes()


def unpacked(block: bytes) -> bytes:
    """The content of a block of snappy that has literals only."""
    size, start = 0, 0
    while True:
        byte = block[start]
        size |= (byte & 0x7F) << 7 * start
        start += 1
        if byte < 0x80:
            break
    content = b""
    while start < len(block):
        assert block[start] == 0xF4
        length = int.from_bytes(block[start + 1 : start + 3], "little") + 1
        content += block[start + 3 : start + 3 + length]
        start += 3 + length
    assert len(content) == size
    return content


def request_1(message: bytes) -> dict[tuple[tuple[str, str], ...], Any]:
    """Series of version 1.0 by their labels."""
    return {
        tuple((label.name, label.value) for label in series.labels): series
        for series in _CLASSES["prometheus.WriteRequest"].FromString(message).timeseries
    }


def request_2(message: bytes) -> tuple[list[str], dict[tuple[tuple[str, str], ...], Any]]:
    """Symbols, and series of version 2.0 by their labels."""
    request = _CLASSES["io.prometheus.write.v2.Request"].FromString(message)
    symbols = list(request.symbols)
    found = {}
    for series in request.timeseries:
        texts = [symbols[number] for number in series.labels_refs]
        found[tuple(zip(texts[::2], texts[1::2], strict=True))] = series
    return symbols, found
