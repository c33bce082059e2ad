"""A target whose small replies grow to very much when they are decompressed, over five protocols."""

import gzip
import socket
import struct
import zlib

from .raw_target import RawTarget, header_lines, read_head, switch_to_websocket

GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
MOST_STREAM = 900_000
"""Bytes on the wire of the replies of a call: within the window that a client gives at first."""
SETTINGS, HEADERS, DATA = 4, 1, 0
END_STREAM, END_HEADERS = 1, 4


def comments(size: int) -> bytes:
    """Lines of server-sent events that are comments."""
    return (b":" + b"x" * 1022 + b"\n") * (size // 1024)


def text_field(size: int) -> bytes:
    """A message of protobuf whose field 7 is a text of that length: below 256 MiB."""
    length = bytes(size >> shift & 127 | 128 for shift in (0, 7, 14)) + bytes([size >> 21])
    return b"\x3a" + length + b"x" * size


class InflatingTarget(RawTarget):
    """A reply has `size` bytes, or up to `count` messages of `size` bytes."""

    def __init__(self, kind: str, size: int, count: int) -> None:
        super().__init__(getattr(self, f"_{kind}"))
        self._count = count
        text = text_field(size) if kind in ("call", "replies") else comments(size)
        self._packed = gzip.compress(text, 9)
        raw = zlib.compressobj(9, zlib.DEFLATED, -15)
        self._raw = (raw.compress(text) + raw.flush(zlib.Z_SYNC_FLUSH))[:-4]

    def _body(self, connection: socket.socket) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(self._packed)}\r\n\r\n"
        while read_head(connection):
            connection.sendall(head.encode() + self._packed)

    def _events(self, connection: socket.socket) -> None:
        read_head(connection)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
        connection.sendall(head + self._packed * self._count)

    def _messages(self, connection: socket.socket) -> None:
        head = read_head(connection)
        deflate = b"permessage-deflate" in header_lines(head).get(b"sec-websocket-extensions", b"")
        more = b"Sec-WebSocket-Extensions: permessage-deflate\r\n" if deflate else b""
        frame = b"\xc2\x7f" + struct.pack(">Q", len(self._raw)) + self._raw
        connection.sendall(switch_to_websocket(head, more) + frame * (self._count if deflate else 0))
        while connection.recv(65536):
            pass

    def _call(self, connection: socket.socket) -> None:
        self._calls(connection, 1)

    def _replies(self, connection: socket.socket) -> None:
        self._calls(connection, max(1, min(self._count, MOST_STREAM // len(self._packed))))

    def _calls(self, connection: socket.socket, count: int) -> None:
        _exactly(connection, len(GREETING))
        connection.sendall(_frame(SETTINGS, 0, 0, b""))
        fields = _field(b"content-type", b"application/grpc") + _field(b"grpc-encoding", b"gzip")
        body = (b"\1" + struct.pack(">I", len(self._packed)) + self._packed) * count
        while True:
            length, kind, stream = _header(connection)
            _exactly(connection, length)
            if kind == HEADERS:
                parts = [_frame(HEADERS, END_HEADERS, stream, b"\x88" + fields)]
                parts += [_frame(DATA, 0, stream, body[at : at + 16384]) for at in range(0, len(body), 16384)]
                parts.append(_frame(HEADERS, END_HEADERS | END_STREAM, stream, _field(b"grpc-status", b"0")))
                connection.sendall(b"".join(parts))


def _header(connection: socket.socket) -> tuple[int, int, int]:
    """Length, kind and stream of the next frame."""
    high, low, kind, _flags, stream = struct.unpack(">BHBBI", _exactly(connection, 9))
    return high << 16 | low, kind, stream


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _field(name: bytes, value: bytes) -> bytes:
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value


def _exactly(connection: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        piece = connection.recv(length - len(found))
        if not piece:
            raise EOFError
        found += piece
    return found
