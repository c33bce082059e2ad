"""Requests prepared by the requests library, sent by the engine."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from requests.models import REDIRECT_STATI

from plimsoll.users.http.headers import completed
from plimsoll.users.http.upload import Upload

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def lines_and_body(request: PreparedRequest) -> tuple[list[tuple[str, Any]], bytes | Upload | None]:
    """Header lines and body as urllib3 would send them."""
    headers, body = request.headers, request.body
    if "Content-Length" in headers:
        return completed(headers), sent_body(body, str(headers["Content-Length"]))
    if body is not None:
        return completed(headers, ("Transfer-Encoding", "chunked")), Upload(partial(blocks, body), None)
    if request.method in _BODILESS:
        return completed(headers), None
    return completed(headers, ("Content-Length", "0")), None


def sent_body(body: Any, length: str) -> bytes | Upload | None:
    """A body whose head announces this length: bytes, or what is read from a file or an iterable while it is sent."""
    if body is None or isinstance(body, (str, bytes, bytearray, memoryview)):
        return None if body is None else _encoded(body)
    return Upload(partial(blocks, body), int(length) if length.isdecimal() else None, body)


def blocks(body: Any, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes of a body in parts. size: of those that are read from a file."""
    if isinstance(body, (str, bytes, bytearray, memoryview)):
        yield _encoded(body)
    elif hasattr(body, "read"):
        while block := body.read(size):
            yield _encoded(block)
    else:
        yield from map(_encoded, body)


def _encoded(block: Any) -> bytes:
    """Raises TypeError for what is neither text nor bytes."""
    if isinstance(block, str):
        return block.encode()
    return block if isinstance(block, bytes) else bytes(memoryview(block))
