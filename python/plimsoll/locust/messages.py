"""Messages of user code between the main node and the workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgpack  # type: ignore[import-untyped]

_DATETIME = 1


@dataclass(slots=True)
class Message:
    """The argument of a listener."""

    type: str
    data: Any
    node_id: str
    """The sender's id; on a worker its own id; "local" in a test without other nodes."""


def encode(data: Any) -> bytes:
    """Plain values: None, numbers, strings, bytes, datetimes, lists and dicts of these; a tuple arrives as a list.

    Raises TypeError for anything else, OverflowError for an integer of more than 64 bits.
    """
    encoded: bytes = msgpack.packb(data, default=_encode_other, unicode_errors="surrogatepass")
    return encoded


def decode(encoded: bytes) -> Any:
    """The inverse of `encode`."""
    return msgpack.unpackb(encoded, ext_hook=_decode_other, strict_map_key=False, unicode_errors="surrogatepass")


def _encode_other(value: Any) -> msgpack.ExtType:
    if isinstance(value, datetime):
        return msgpack.ExtType(_DATETIME, value.isoformat().encode())
    raise TypeError(
        f"a message cannot carry a {type(value).__qualname__}; send plain values: numbers, text, lists, dicts"
    )


def _decode_other(code: int, data: bytes) -> Any:
    return datetime.fromisoformat(data.decode()) if code == _DATETIME else msgpack.ExtType(code, data)
