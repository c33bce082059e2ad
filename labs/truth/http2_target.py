"""A server of HTTP/2 with the library h2, which counts what it receives.

`/fixed?ms=5` is answered after 5 ms, `/echo` with the body of the request, and every other path at once. The body of
an answer is the method and the path, but for `/echo`.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections import Counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes


class Http2Target:
    """Serves in a thread of its own, on a free port of 127.0.0.1, from the first byte on or by TLS."""

    def __init__(
        self,
        tls: ssl.SSLContext | None = None,
        streams: int = 100,
        speak: type[Http2Connection] | None = None,
    ) -> None:
        """streams: most of one connection at a time. speak: what answers."""
        self.connections = 0
        self.requests: Counter[str] = Counter()
        """Complete ones, by method and path with query."""
        self.bytes: Counter[str] = Counter()
        """Of their bodies."""
        self.seconds: list[float] = []
        """From each complete request to the start of its answer: the wait that was asked for, and how late it was."""
        self.most_streams = 0
        """Most requests of one connection at a time."""
        self.failures: list[str] = []
        """What the library refused to read."""
        self.streams = streams
        if tls is not None:
            tls.set_alpn_protocols(["h2"])
        self._loop = asyncio.new_event_loop()
        made = Http2Connection if speak is None else speak
        serving = self._loop.create_server(lambda: made(self), "127.0.0.1", 0, ssl=tls)
        self._server = self._loop.run_until_complete(serving)
        self.place = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._server.close()
        self._loop.close()


class Http2Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, target: Http2Target) -> None:
        self._target = target
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._requests: dict[int, tuple[str, str, bytearray]] = {}
        """Method, path and body of each open stream."""
        self._waiting: dict[int, bytes] = {}
        """Bodies that wait for the window of the peer."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._target.connections += 1
        self._h2.initiate_connection()
        self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: self._target.streams})
        self._flush()

    def data_received(self, data: bytes) -> None:
        try:
            events = self._h2.receive_data(data)
        except ProtocolError as error:
            self._target.failures.append(repr(error))
            self._flush()
            self._transport.close()
            return
        for event in events:
            self._handle(event)
        for stream in list(self._waiting):
            self._send(stream)
        self._flush()

    def _handle(self, event: object) -> None:
        if isinstance(event, RequestReceived):
            headers = dict(event.headers)
            self._requests[event.stream_id] = (headers[":method"], headers[":path"], bytearray())
            self._target.most_streams = max(self._target.most_streams, len(self._requests))
        elif isinstance(event, DataReceived):
            self._acknowledge(event)
            self._requests[event.stream_id][2].extend(event.data)
        elif isinstance(event, StreamEnded):
            method, path, body = self._requests[event.stream_id]
            self._target.requests[f"{method} {path}"] += 1
            self._target.bytes[f"{method} {path}"] += len(body)
            loop = asyncio.get_running_loop()
            loop.call_later(self._delay(path), self._answer, event.stream_id, loop.time())
        elif isinstance(event, StreamReset):
            self._requests.pop(event.stream_id, None)
            self._waiting.pop(event.stream_id, None)

    def _answer(self, stream: int, since: float) -> None:
        """since: when the request was complete, by the clock of the loop."""
        self._target.seconds.append(asyncio.get_running_loop().time() - since)
        if stream not in self._requests or self._transport.is_closing():
            return
        self._respond(stream, *self._requests.pop(stream))
        self._flush()

    def _acknowledge(self, event: DataReceived) -> None:
        """Let the peer send as much again."""
        self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def _delay(self, path: str) -> float:
        """Seconds from a complete request to its answer."""
        return float(parse_qs(urlsplit(path).query).get("ms", ["0"])[0]) / 1e3

    def _respond(self, stream: int, method: str, path: str, body: bytearray) -> None:
        text = bytes(body) if path == "/echo" else f"{method} {path}".encode()
        self._h2.send_headers(stream, [(":status", "200"), ("content-length", str(len(text)))])
        self._waiting[stream] = text
        self._send(stream)

    def _end(self, stream: int) -> None:
        """End a response after its body."""
        self._h2.end_stream(stream)

    def _send(self, stream: int) -> None:
        """Send what the windows allow."""
        body = self._waiting[stream]
        while body and (room := min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size)) > 0:
            self._h2.send_data(stream, body[:room])
            body = body[room:]
        self._waiting[stream] = body
        if not body:
            del self._waiting[stream]
            self._end(stream)

    def _flush(self) -> None:
        self._transport.write(self._h2.data_to_send())
