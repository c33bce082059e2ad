"""`stream=True`: responses that are there when their head is, and whose body is read as it comes."""

from __future__ import annotations

from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, cast

import gevent
import requests
from greenlet import GreenletExit, getcurrent
from urllib3.exceptions import DecodeError

from plimsoll.users.failure import cause_in_stream
from plimsoll.users.http.response import RawResponse, ResponseContextManager, lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import TracebackType

    from plimsoll._engine import Reply, Stream
    from plimsoll.users.http.sending import Sender

CHUNK = 64 << 10
"""Bytes per read if the caller gives no number; the engine never gives more."""

STREAK = 16
"""Pieces after which other users get their turn, however fast a body comes."""


class Incoming(RawIOBase):
    """A body without its transfer coding, as a file; what has not come is waited for."""

    def __init__(self, reply: Reply, stream: Stream | None, wait: Callable[[], Any]) -> None:
        """wait: sleep until the engine switches to the greenlet that reads."""
        self._left = memoryview(reply.body)
        """Bytes that have arrived and are not read."""
        self._stream = stream
        """None: nothing more comes."""
        self._wait = wait
        self._streak = 0
        """Pieces since others had their turn."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """What is there, or when nothing is, what comes first. Raises what a socket would, and ProtocolError."""
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
        if not piece:
            self._stream = None
            if stream.error is not None:
                raise cause_in_stream(stream)
        return piece

    def close(self) -> None:
        """Give up what has not come: its connection is closed. One that was read to its end is kept for other
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
        """The body in pieces of at most amt bytes, as they come; None: as large as they come. With a Content-Length
        all but the last have amt bytes, as with urllib3."""
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
                yield from iter(decoding.pull, None)
            decoding.end()
            yield from iter(decoding.pull, None)
        except ValueError as error:
            raise DecodeError(str(error)) from error


def sliced(pieces: Iterator[bytes], size: int, fill: bool) -> Iterator[bytes]:
    """The same bytes in slices of at most `size`. fill: none but the last is shorter."""
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
    """What makes a response of either session a streamed one; mixed in front of its class.

    The end of its with-block, like close(), gives up what has not been read.
    """

    reply: Reply
    session: Sender[Any]

    # As requests keeps it: False until the body has been read as a whole.
    _content: Any = False
    _content_consumed = False

    def __init__(self, reply: Reply, route: Any, body: Any, session: Any, endpoint: tuple[str, str]) -> None:
        # Taken at once, so that the rest of the body goes with the response when nobody reads it.
        stream = None if session._client is None else session._client.stream(reply)
        super().__init__(reply, route, body, session, endpoint)  # type: ignore[call-arg] # of the class behind
        self._incoming = BufferedReader(Incoming(reply, stream, session._hub.wait), CHUNK)

    @lazy
    def raw(self) -> Raw:
        """The body as it comes, to be read like a file; its content coding is not undone."""
        return Raw(self.reply, self._incoming)

    @property
    def content(self) -> bytes:
        """The body, its content coding undone; waits for its end. Raises what iter_content raises."""
        if self._content is False:
            if self._content_consumed:
                raise RuntimeError("The content for this response was already consumed")
            pieces: Iterator[bytes] = requests.Response.iter_content(cast("Any", self), CHUNK)
            self._content = b"".join(pieces)
        self._content_consumed = True
        return cast("bytes", self._content)

    def close(self) -> None:
        """Give up what has not been read of the body, and with it the connection."""
        self._incoming.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        try:
            return cast("bool", super().__exit__(kind, error, traceback))  # type: ignore[misc] # of the class behind
        finally:
            self.close()


class StreamedResponse(Streamed, ResponseContextManager):  # type: ignore[misc] # what is lazy there is read here
    """What HttpSession returns with `stream=True`."""
