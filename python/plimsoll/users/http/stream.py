"""`stream=True`: responses that return with their head; the body is read as it arrives."""

from __future__ import annotations

from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, cast

import gevent
import requests
from greenlet import GreenletExit, getcurrent
from urllib3.exceptions import DecodeError

from plimsoll.users.exceptions import ResponseError
from plimsoll.users.failure import cause_in_stream
from plimsoll.users.http.response import RawResponse, ResponseContextManager, lazy
from plimsoll.users.http.stream_events import events_of
from plimsoll.users.recording import report
from plimsoll.users.state import noted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import TracebackType

    from plimsoll._engine import Decoding, Reply, Stream
    from plimsoll.users.http.catch_response import CatchResponse
    from plimsoll.users.http.sending import Sender
    from plimsoll.users.http.stream_events import EventFormat, StreamEvent

CHUNK = 64 << 10
"""Default bytes per read; the engine never returns more."""

STREAK = 16
"""Pieces read before other users run, however fast a body arrives."""


class Incoming(RawIOBase):
    """A body without its transfer coding, as a file; reading waits for data."""

    def __init__(self, reply: Reply, stream: Stream | None, wait: Callable[[], Any]) -> None:
        """wait: sleep until the engine switches to the reading greenlet."""
        self._left = memoryview(reply.body)
        """Bytes received but not read."""
        self._stream = stream
        """None: no more data will come."""
        self._wait = wait
        self._streak = 0
        """Pieces since other users ran."""
        self.arrival = reply.arrival
        """Stamp of the bytes that were received last, ns."""
        self.broken: str | None = None
        """The outcome of a body that ended too early or cannot be decoded, once a read has raised its error."""
        self.cause: Exception | None = None
        """That error."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """The available bytes, or else the next that arrive. Raises the errors of a socket, and ProtocolError."""
        if not self._left:
            self._left = memoryview(self._next())
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def _next(self) -> bytes:
        stream = self._stream
        if stream is None:
            return b""
        self._streak += 1
        if self._streak >= STREAK:
            self._streak = 0
            gevent.sleep(0)
        while (piece := stream.read(getcurrent())) is None:
            self._streak = 0
            try:
                self._wait()
            except GreenletExit:
                # The user is stopped: nothing reads the rest of the response.
                stream.close()
                raise
            except BaseException:
                stream.stop_reading()
                raise
        self.arrival = stream.arrival
        if not piece:
            self._stream = None
            if stream.error is not None:
                self.broken, self.cause = stream.outcome, cause_in_stream(stream)
                raise self.cause
        return piece

    def take_stream(self) -> Stream | None:
        """What will come, for another reader."""
        stream, self._stream = self._stream, None
        return stream

    def close(self) -> None:
        """Discard the rest by closing the connection. After a complete body the connection is kept for other
        requests."""
        if self._stream is not None:
            self._stream.close()
        self._stream, self._left = None, memoryview(b"")
        super().close()


class Raw(RawResponse):
    """`response.raw` of a streamed response."""

    def __init__(self, reply: Reply, file: BufferedReader[Incoming]) -> None:
        super().__init__(reply, file)
        self._file = file
        self._reply = reply

    def stream(self, amt: int | None = CHUNK, decode_content: bool | None = None) -> Generator[bytes]:
        """The body in pieces of at most amt bytes, as they arrive; None: of any size. With a Content-Length all but the
        last have amt bytes, as with urllib3."""
        decode = self.decode_content if decode_content is None else decode_content
        pieces = self._decoded() if decode else self._pieces()
        with self._error_catcher():
            yield from (
                pieces if amt is None else sliced(pieces, amt, fill=self._reply.header("content-length") is not None)
            )

    def _pieces(self) -> Iterator[bytes]:
        while not self._file.closed and (piece := self._file.read1(CHUNK)):
            yield piece

    def _decoded(self) -> Iterator[bytes]:
        decoding = self._reply.decoding()
        if decoding is None:
            yield from self._pieces()
            return
        try:
            for piece in self._pieces():
                decoding.push(piece)
                yield from _pulled(decoding)
            decoding.end()
            yield from _pulled(decoding)
        except ValueError as error:
            incoming = self._file.raw
            incoming.broken, incoming.cause = "protocol", DecodeError(str(error))
            raise incoming.cause from error


def _pulled(decoding: Decoding) -> Iterator[bytes]:
    """What the bytes so far become. Other users run now and then: a small body may become a large one."""
    for piece in iter(decoding.pull, None):
        if piece:
            yield piece
        else:
            gevent.sleep(0)


def sliced(pieces: Iterator[bytes], size: int, fill: bool) -> Iterator[bytes]:
    """The same bytes in slices of at most `size`. fill: only the last may be shorter."""
    held = b""
    for piece in pieces:
        held = held + piece if held else piece
        end = len(held) - len(held) % size if fill else len(held)
        for start in range(0, end, size):
            yield held[start : min(start + size, end)]
        held = held[end:]
    if held:
        yield held


class Streamed:
    """Makes a response of either session a streamed one; mixed in before its class.

    The end of its with-block discards the unread rest, like close().
    """

    reply: Reply
    session: Sender[Any]
    broken: str | None
    _manual_result: Any

    # As in requests: False until the whole body has been read.
    _content: Any = False
    _content_consumed = False

    def __init__(self, reply: Reply, route: Any, body: Any, session: Any, endpoint: tuple[str, str]) -> None:
        # Taken at once, so that the rest of the body is freed with the response if nobody reads it.
        stream = None if session._client is None else session._client.stream(reply)
        super().__init__(reply, route, body, session, endpoint)  # type: ignore[call-arg] # of the class behind
        self._source = Incoming(reply, stream, noted(session._pacer, session._hub.wait))
        self._incoming = BufferedReader(self._source, CHUNK)

    @lazy
    def raw(self) -> Raw:
        """The body as it arrives, as a file, with its content coding."""
        return Raw(self.reply, self._incoming)

    def events(self, format: EventFormat = "sse") -> Iterator[StreamEvent]:
        """The events of a response with `stream=True`, as they arrive; each has `name`, `data`, `id` and `retry`.

        format: "sse" for server-sent events, "lines" for lines that are not empty, "llm" for the chunks of a chat
        completion. The report has them in rows of their own; those of "llm" are `first token`, `each token` and more.

        An error response has no events. Raises the errors of `iter_content`, and, after the last chunk, ResponseError
        for an "llm" stream that reports an error, has no content or is no completion.
        """
        return events_of(self, format)

    @property
    def arrival(self) -> int:
        """Stamp of the bytes that were received last, ns."""
        return self._source.arrival

    def upgraded(self) -> Stream | None:
        """The connection of a response that switches protocols; nothing else can be read then."""
        return self._source.take_stream()

    @property
    def content(self) -> bytes:
        """The decoded body; waits for its end. Raises the errors of iter_content."""
        if self._content is False:
            if self._content_consumed:
                raise RuntimeError("The content for this response was already consumed")
            pieces: Iterator[bytes] = requests.Response.iter_content(cast("Any", self), CHUNK)
            self._content = b"".join(pieces)
        self._content_consumed = True
        return cast("bytes", self._content)

    def close(self) -> None:
        """Discard the unread rest of the body, and its connection."""
        self._incoming.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        try:
            if self._source.broken and self._manual_result is None and isinstance(error, Exception | None):
                # The server has received the request: it counts, whatever leaves the block, and also if its code has
                # caught the error.
                self.broken = self._source.broken
                report(cast("CatchResponse", self), error or self._source.cause)
                return isinstance(error, ResponseError)
            return cast("bool", super().__exit__(kind, error, traceback))  # type: ignore[misc] # of the class behind
        finally:
            self.close()


class StreamedResponse(Streamed, ResponseContextManager):  # type: ignore[misc] # what is lazy there is read here
    """The response of HttpSession with `stream=True`."""
