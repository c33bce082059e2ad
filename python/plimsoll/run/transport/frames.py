"""Orders to a worker, and what it reports, over a stream socket.

A frame is its length (4 bytes, big-endian) and a msgpack array: protocol version, name, arguments. The coordinator
sends `ORDERS`; the process answers `prepared` to `init` and `ready` to `open`, or `refused`, then sends `snapshot` each
second (and `exchanges`, `logged` and `sent`, if these are asked for), `started` at a second 0 that it knew of before,
`begin` when the user's code asks for other users, `quit` when it asks for the end of the run, `complete` when nothing
is left to do, `expired` when it ends its load for want of orders, `refused` when the run must fail, and `done` as its
last. Both sides send `news` of other processes: see `plimsoll.run.coordinator.peers`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import msgpack  # type: ignore[import-untyped]

from plimsoll.errors import LimitError, LocustfileError, PlimsollError, UnknownOptionError, UsageError
from plimsoll.run.transport.messages import REPORTS
from plimsoll.run.transport.orders import ORDERS
from plimsoll.run.transport.report_rules import ProtocolError, check_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.transport.messages import WorkerReport
    from plimsoll.run.transport.orders import Order

    Report = WorkerReport | PlimsollError

VERSION = 1
MAX_FRAME_BYTES = 1 << 30
"""Bytes of one frame of orders and files; more is taken for a damaged stream."""
MAX_REPORT_BYTES = 64 << 20
"""Bytes of one frame that a worker sends. The largest have rows of exchanges: a worker gives up what is more."""

_NAMES = {kind: name for name, kind in REPORTS.items()}
_ORDER_NAMES = {kind: name for name, kind in ORDERS.items()}
_ERRORS = {each.__name__: each for each in (LimitError, LocustfileError, PlimsollError, UnknownOptionError, UsageError)}

_LENGTH = struct.Struct(">I")
# Python's strings may hold lone surrogates (from undecodable file names, say); they must not stop a snapshot.
_SURROGATES = "surrogatepass"


def pack(name: str, *arguments: Any) -> bytes:
    """One frame. Arguments are plain values: numbers, strings, bytes, lists, dicts with strings as keys."""
    body: bytes = msgpack.packb([VERSION, name, list(arguments)], unicode_errors=_SURROGATES)
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Puts the frames of a byte stream together, however it was cut."""

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self.limit = limit
        """Bytes of the longest frame; may change from frame to frame."""
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[str, list[Any]]]:
        """The frames that are complete with `data`. Raises ProtocolError."""
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > self.limit:
                raise ProtocolError(f"a frame of {length} bytes")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            yield _unpack(body)


def _unpack(body: bytes) -> tuple[str, list[Any]]:
    try:
        version, name, arguments = msgpack.unpackb(body, unicode_errors=_SURROGATES)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise ProtocolError("what came is not a frame") from error
    if version != VERSION:
        raise ProtocolError(f"it speaks another version of the protocol; this is {VERSION}")
    if not (isinstance(name, str) and isinstance(arguments, list)):
        raise ProtocolError("a frame has no name, or no arguments")
    return name, arguments


def pack_order(order: Order) -> bytes:
    """An order as one frame."""
    return pack(_ORDER_NAMES[type(order)], *order.to_list())


def pack_report(report: Report) -> bytes:
    """What a worker reports, as one frame."""
    if isinstance(report, PlimsollError):
        return pack("refused", *pack_error(report))
    return pack(_NAMES[type(report)], *report.to_list())


def unpack_report(name: str, arguments: list[Any]) -> Report:
    """The report in a frame. Raises ProtocolError."""
    check_report(name, arguments)
    return unpack_error(arguments) if name == "refused" else REPORTS[name].from_list(arguments)


def pack_error(error: PlimsollError) -> list[Any]:
    """An error of our tree as plain values."""
    return [type(error).__name__, str(error), error.exit_code]


def unpack_error(data: list[Any]) -> PlimsollError:
    """The inverse of `pack_error`; a class that this side does not know becomes the root of the tree."""
    name, message, exit_code = data
    error = _ERRORS.get(name, PlimsollError)(message)
    error.exit_code = exit_code
    return error
