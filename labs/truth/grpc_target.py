"""A server of gRPC with the library h2. What it does follows from the name of the method:

| method | answer |
|---|---|
| `Fixed` | after DELAY |
| `Many` | five messages |
| `Slow` | after it has taken the message slowly: each part is acknowledged ACKNOWLEDGE seconds late |
| `Fail` | the status UNAVAILABLE, without a message |
| `Reset` | RST_STREAM in place of an answer |
| `Half` | RST_STREAM in the middle of a message |
| `Never` | nothing |
| `Leave` | an answer; each tenth of a connection is followed by GOAWAY. Later streams are not read |
"""

from __future__ import annotations

import asyncio

from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived
from hyperframe.frame import GoAwayFrame

from .http2_target import Http2Connection, Http2Target

SERVICE = "truth.Truth"
DELAY = 0.02
FOR_EVER = 3600.0
ACKNOWLEDGE = 0.005
REPLIES = 5
UNTIL_GOAWAY = 10
"""Answers to `Leave` of a connection."""
_MESSAGE = b"\0\0\0\0\x04\x0a\x02ok"
_HEAD = [(":status", "200"), ("content-type", "application/grpc")]
_OK = [("grpc-status", "0")]
_UNAVAILABLE = [("grpc-status", "14"), ("grpc-message", "down")]


class GrpcTarget(Http2Target):
    """kill_after: all connections are aborted once, when so many calls have come, as those of a killed process."""

    def __init__(self, kill_after: int | None = None) -> None:
        super().__init__(speak=GrpcConnection)
        self.kill_after = kill_after
        self.open: set[GrpcConnection] = set()

    def received(self, method: str) -> int:
        """Complete calls of this method."""
        return self.requests[f"POST /{SERVICE}/{method}"]

    def message_bytes(self, method: str) -> int:
        """Bytes of their messages, with the prefixes."""
        return self.bytes[f"POST /{SERVICE}/{method}"]


class GrpcConnection(Http2Connection):
    """One connection."""

    _target: GrpcTarget

    def __init__(self, target: Http2Target) -> None:
        super().__init__(target)
        self._left = 0
        """Answers to `Leave`."""
        self._newest = 0
        """The last stream that was opened."""
        self._last: int | None = None
        """The last stream that is answered, once that is said."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._target.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._target.open.discard(self)

    def _handle(self, event: object) -> None:
        stream = getattr(event, "stream_id", 0) or 0
        if self._last is not None and stream > self._last:
            return
        if isinstance(event, RequestReceived):
            self._newest = stream
        super()._handle(event)
        if self._target.kill_after is not None and self._target.requests.total() >= self._target.kill_after:
            self._target.kill_after = None
            for each in list(self._target.open):
                each._transport.abort()

    def _acknowledge(self, event: DataReceived) -> None:
        if self._requests[event.stream_id][1].endswith("/Slow"):
            asyncio.get_running_loop().call_later(ACKNOWLEDGE, self._acknowledge_late, event)
        else:
            super()._acknowledge(event)

    def _acknowledge_late(self, event: DataReceived) -> None:
        if not self._transport.is_closing():
            super()._acknowledge(event)
            self._flush()

    def _delay(self, path: str) -> float:
        return {"Fixed": DELAY, "Never": FOR_EVER}.get(path.rpartition("/")[2], 0.0)

    def _respond(self, stream: int, method: str, path: str, body: bytearray) -> None:
        name = path.rpartition("/")[2]
        if name == "Reset":
            self._h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
        elif name == "Fail":
            self._h2.send_headers(stream, [*_HEAD, *_UNAVAILABLE], end_stream=True)
        elif name == "Half":
            self._h2.send_headers(stream, _HEAD)
            self._h2.send_data(stream, _MESSAGE[: len(_MESSAGE) // 2])
            self._h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
        else:
            self._h2.send_headers(stream, _HEAD)
            self._waiting[stream] = _MESSAGE * (REPLIES if name == "Many" else 1)
            self._send(stream)
        self._left += name == "Leave"
        if self._left == UNTIL_GOAWAY:
            self._left += 1
            self._last = self._newest
            # Not by the library, which answers nothing after that.
            self._flush()
            self._transport.write(GoAwayFrame(0, last_stream_id=self._last).serialize())
        if self._last is not None and not self._requests and not self._waiting:
            self._flush()
            self._transport.close()

    def _end(self, stream: int) -> None:
        self._h2.send_headers(stream, _OK, end_stream=True)
