"""Requests prepared by the requests library, sent by the engine."""

from __future__ import annotations

import io
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import TYPE_CHECKING, Any

from requests.models import REDIRECT_STATI

from plimsoll.users.http.headers import completed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from requests import PreparedRequest

    from plimsoll._engine import Reply

# urllib3 sends no Content-Length for an empty body with these.
_BODILESS = ("GET", "HEAD", "DELETE", "TRACE", "OPTIONS", "CONNECT")

_of_call: ContextVar[Chain | None] = ContextVar("_of_call", default=None)

BLOCK = 16384
"""Bytes that urllib3 reads from a file at a time; each block becomes a chunk."""


class Chain:
    """The hops of one exchange: redirects, and requests sent by hooks and authentication in between."""

    __slots__ = ("endpoint", "named", "reply")

    def __init__(self, endpoint: tuple[str, str], reply: Reply | None = None) -> None:
        self.endpoint = endpoint
        """Method and name of the first request."""
        self.named = bool(endpoint[1])
        """The call gave a name."""
        self.reply = reply
        """The last hop, which represents all of them."""

    @contextmanager
    def of_this_call(self) -> Iterator[None]:
        """What this greenlet sends in the block belongs to this exchange."""
        token = _of_call.set(self)
        try:
            yield
        finally:
            _of_call.reset(token)

    @staticmethod
    def of_call() -> Chain | None:
        """The exchange to which a request of this greenlet belongs; None: it is one of its own."""
        return _of_call.get()

    def as_argument(self) -> dict[str, Chain]:
        """The argument `chain` of a method of requests. A script that replaces the method does not know it."""
        return {} if _of_call.get() is self else {"chain": self}

    @property
    def since(self) -> int:
        """Start of the total limit of the next hop: the first request's if the hop is a redirect, else 0."""
        return self.reply.sent if self.reply is not None and self.reply.status in REDIRECT_STATI else 0

    def add(self, reply: Reply) -> None:
        """Make `reply` the last hop."""
        if self.reply is not None:
            reply.after(self.reply)
        self.reply = reply


def lines_and_body(request: PreparedRequest) -> tuple[list[tuple[str, Any]], bytes | None]:
    """Header lines and body as urllib3 would send them."""
    headers = request.headers
    if "Content-Length" in headers:
        return completed(headers), body_bytes(request.body)
    if request.body is not None:
        return completed(headers, ("Transfer-Encoding", "chunked")), chunked(request.body)
    if request.method in _BODILESS:
        return completed(headers), None
    return completed(headers, ("Content-Length", "0")), None


def body_bytes(body: Any) -> bytes | None:
    """A body of known length; reads a file or an iterable to its end."""
    if body is None or isinstance(body, bytes):
        return body
    return _joined(_blocks(body))


def _joined(blocks: Iterable[bytes]) -> bytes:
    """In memory once: `bytes.join` would keep all blocks until it has the whole."""
    whole = io.BytesIO()
    whole.writelines(blocks)
    return whole.getvalue()


def _blocks(body: Any, size: int = BLOCK) -> Iterable[bytes]:
    if isinstance(body, (str, bytes, bytearray, memoryview)):
        yield _encoded(body)
    elif hasattr(body, "read"):
        while block := body.read(size):
            yield _encoded(block)
    else:
        yield from map(_encoded, body)


def _encoded(block: Any) -> bytes:
    return block.encode() if isinstance(block, str) else bytes(block)


def chunked(body: Any, size: int = BLOCK) -> bytes:
    """A body in the chunked transfer coding. size: block size for reading a file."""
    blocks = _blocks(body, size)
    return _joined(chain((b"%x\r\n%b\r\n" % (len(block), block) for block in blocks if block), (b"0\r\n\r\n",)))
