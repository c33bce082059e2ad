"""A target of event streams, WebSockets, HTTP/2 and gRPC with faults of its own, in a process that may be killed at any
time.

`python -m labs.robustness.journal_target PROTOCOL FAULT FOLDER` prints its place. Before it answers, it writes down
when each request or message was there: eight bytes with the time on the monotonic clock, appended to a file of the
folder. What a file has does not depend on how the process ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
import sys
import time
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import ConnectionState, H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset
from hyperframe.frame import GoAwayFrame
from websockets.asyncio.server import ServerConnection, serve

EVENTS = 5
"""Of each stream."""
EVERY = 7
"""With the fault "reset", the connection of each seventh request or message is reset."""
MOST = 10
"""With the fault "goaway", a connection takes this many requests."""
PAUSE_S = 0.005
"""Before an answer, and with the fault "slow" before each read of at most `PIECE` bytes."""
PIECE = 8192
EMPTY_MESSAGE = bytes(5)
"""Of gRPC."""


class Journal:
    """What has come and what was sent."""

    def __init__(self, folder: Path, fault: str) -> None:
        self.fault = fault
        self._files = {
            name: os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for name in ("received", "events")
        }
        self._received = 0

    def received(self) -> bool:
        """Notes a request or message; whether its connection is to be reset."""
        self._note("received")
        self._received += 1
        return self.fault == "reset" and self._received % EVERY == 0

    def event(self) -> None:
        """Notes an event that is sent next."""
        self._note("events")

    def _note(self, name: str) -> None:
        os.write(self._files[name], struct.pack("<q", time.monotonic_ns()))


def times(folder: Path, name: str) -> list[float]:
    """When each was there, s on the monotonic clock, ascending."""
    data = (folder / name).read_bytes() if (folder / name).exists() else b""
    return [each / 1e9 for (each,) in struct.iter_unpack("<q", data)]


def reset(transport: asyncio.BaseTransport) -> None:
    """Ends a connection with RST."""
    own = transport.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()  # type: ignore[attr-defined]


class EventStreams:
    """Answers each request with events, by HTTP/1.1."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        left = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0] or b"0")
        while left:
            if self._journal.fault == "slow":
                await asyncio.sleep(PAUSE_S)
            left -= len(await reader.readexactly(min(left, PIECE)))
        is_reset = self._journal.received()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(EVENTS):
            await asyncio.sleep(PAUSE_S)
            if is_reset and number == 2:
                reset(writer.transport)
                return
            self._journal.event()
            writer.write(b"9\r\ndata: x\n\n\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")


class Messages:
    """Returns each message of a WebSocket."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def __call__(self, connection: ServerConnection) -> None:
        async for message in connection:
            if self._journal.fault == "slow":
                await asyncio.sleep(PAUSE_S * len(message) / PIECE)
            if self._journal.received():
                reset(connection.transport)
                return
            await asyncio.sleep(PAUSE_S)
            await connection.send("answer")


class Http2(asyncio.Protocol):
    """Answers each request by HTTP/2."""

    def __init__(self, journal: Journal, is_grpc: bool) -> None:
        self._journal = journal
        self._is_grpc = is_grpc
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._seen = 0
        self._last = 0
        """The last stream that is answered, after GOAWAY."""
        self._cancelled: set[int] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._h2.initiate_connection()
        self._transport.write(self._h2.data_to_send())

    def data_received(self, data: bytes) -> None:
        for event in self._h2.receive_data(data):
            if isinstance(event, RequestReceived) and self._journal.fault == "goaway":
                self._count(event.stream_id)
            elif isinstance(event, StreamReset):
                self._cancelled.add(event.stream_id)
            elif isinstance(event, DataReceived):
                # The peer may send more of the body only then.
                wait = PAUSE_S if self._journal.fault == "slow" else 0.0
                asyncio.get_running_loop().call_later(wait, self._more, event.flow_controlled_length, event.stream_id)
            elif isinstance(event, StreamEnded) and (not self._last or event.stream_id <= self._last):
                if self._journal.received():
                    reset(self._transport)
                    return
                asyncio.get_running_loop().call_later(PAUSE_S, self._answer, event.stream_id)
        self._transport.write(self._h2.data_to_send())

    def _count(self, stream: int) -> None:
        """After the last request that the connection takes, tells the peer; later ones are ignored."""
        self._seen += 1
        if self._seen == MOST:
            self._last = stream
            self._transport.write(GoAwayFrame(0, last_stream_id=stream).serialize())

    def _more(self, length: int, stream: int) -> None:
        if self._is_open():
            self._h2.acknowledge_received_data(length, stream)
            self._transport.write(self._h2.data_to_send())

    def _is_open(self) -> bool:
        """A peer that said goodbye waits for nothing."""
        return not self._transport.is_closing() and self._h2.state_machine.state is not ConnectionState.CLOSED

    def _answer(self, stream: int) -> None:
        if not self._is_open() or stream in self._cancelled:
            return
        if self._is_grpc:
            self._h2.send_headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
            self._h2.send_data(stream, EMPTY_MESSAGE)
            self._h2.send_headers(stream, [("grpc-status", "0")], end_stream=True)
        else:
            self._h2.send_headers(stream, [(":status", "200")])
            self._h2.send_data(stream, b"answer", end_stream=True)
        self._transport.write(self._h2.data_to_send())


async def _serve(protocol: str, journal: Journal) -> None:
    loop = asyncio.get_running_loop()
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    if journal.fault == "slow":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
    if protocol == "sse":
        await asyncio.start_server(EventStreams(journal), sock=listener, limit=PIECE)
    elif protocol == "ws":
        quiet = logging.getLogger("quiet")
        quiet.disabled = True
        await serve(Messages(journal), sock=listener, max_queue=1, compression=None, logger=quiet)
    else:
        await loop.create_server(lambda: Http2(journal, protocol == "grpc"), sock=listener)
    print(f"127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], Journal(Path(sys.argv[3]), sys.argv[2])))
