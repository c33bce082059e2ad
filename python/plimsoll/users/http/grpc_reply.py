"""How a call of gRPC ended, and its replies."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll._engine import grpc_codes, grpc_read
from plimsoll.load.protocols.grpc import HTTP2_HINT
from plimsoll.users.exceptions import GrpcError
from plimsoll.users.http.catch_response import CatchResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll._engine import Reply
    from plimsoll.users.http.sending import Sender

CODES = grpc_codes()
OK = CODES[0]


class GrpcReply(CatchResponse):
    """How a call ended. True if its status is OK."""

    status: str = ""
    """The name of the status code: "OK", "NOT_FOUND"; "" without one, of which `error` says why."""
    details: str = ""
    """What the server says about the status."""

    def __init__(self, reply: Reply, session: Sender[Any], url: str, endpoint: tuple[str, str], call: Call) -> None:
        self.reply: Reply = reply
        self.session = session
        self.endpoint = endpoint
        self.status_code = reply.status
        """That of HTTP; 0 without a response."""
        self.content: list[bytes] = []
        """The replies as received."""
        self._url = url
        self._call = call
        self.error: Exception | None = self._fault_of_head() or self._read()
        """None if the status is OK."""

    def _fault_of_head(self) -> GrpcError | None:
        if self.reply.error is not None:
            # A call has no other protocol.
            return GrpcError(self.reply.error.removesuffix(HTTP2_HINT), self.reply.outcome)
        return None if self.status_code == 200 else GrpcError(f"status {self.status_code}", "http")

    def _read(self) -> GrpcError | None:
        """Take status and replies; why the call is a failure."""
        try:
            code, self.details, self.content = grpc_read(self.reply)
        except ValueError as error:
            return GrpcError(str(error), "protocol")
        count = len(self.content)
        fault = self._fault_of_status(code)
        if fault is None and self._call.has_one_reply and count != 1:
            return GrpcError(f"the response has {count} messages, not one", "protocol")
        return fault

    def _fault_of_status(self, code: int) -> GrpcError | None:
        self.status = CODES[code]
        if self.status == OK:
            return None
        outcome = "timeout" if self.status == "DEADLINE_EXCEEDED" else "http"
        return GrpcError(f"grpc {self.status}{': ' * bool(self.details)}{self.details}", outcome)

    def __bool__(self) -> bool:
        return self.error is None

    @cached_property
    def messages(self) -> list[Any]:
        """All replies, as `message`. Raises ValueError for bytes that are no such message."""
        return [self._call.decode(each) for each in self.content]

    @property
    def message(self) -> Any:
        """The reply: a dict with the names of the .proto file, or bytes without a schema; None if there is none."""
        return self.messages[0] if self.content else None

    @property
    def metadata(self) -> list[tuple[str, str]]:
        """Headers and trailers of the response."""
        return [*self.reply.headers, *self.reply.trailers]

    def fault(self) -> Exception | None:
        return self.error

    def first_url(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"<GrpcReply {self.status or self.error}>"


class Call(NamedTuple):
    """What is known of a method."""

    name: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    has_one_reply: bool
    """The server does not stream."""
