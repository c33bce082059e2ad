"""Steps of a plan that call a method of gRPC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from plimsoll.load.mistakes import BadValueError, at
from plimsoll.load.origins import is_grpc_url, split_grpc_url
from plimsoll.load.protocols import grpc
from plimsoll.load.step_model import StepTable
from plimsoll.load.table import JsonBody

if TYPE_CHECKING:
    from plimsoll.load.origins import Address
    from plimsoll.load.protocols.draft import Draft

_MESSAGE = "the message is in message"


class GrpcStep(StepTable):
    """[[flow.step]] with grpc: a call of gRPC."""

    made_by: ClassVar = ("grpc",)
    called: ClassVar = "a call of gRPC"
    instead: ClassVar = {"json": _MESSAGE, "body": _MESSAGE}
    needs_http2: ClassVar = True

    grpc: str | None = None
    """Calls a method: `"package.Service/Method"`, or a whole URL (`"grpc://…"`, or `"grpcs://…"` over TLS)."""
    message: JsonBody | None = None
    """The message, a table or JSON in a string; empty by default. For a client that streams: a list of messages, which
    are sent at once. Values of variables are escaped inside quotes."""
    compression: bool | None = None
    """`true` sends messages with gzip."""

    @model_validator(mode="after")
    def _check(self) -> GrpcStep:
        if self._is_url:
            at("grpc", split_grpc_url, self._called)
            if self.target is not None:
                raise BadValueError("contradicts grpc, which is a whole URL", "target")
        if any(not isinstance(status, str) for status in self._statuses):
            raise BadValueError('must be names of gRPC, as "OK" or "NOT_FOUND"', "expect.status")
        return self

    @property
    def _called(self) -> str:
        return self.grpc or ""

    @property
    def _is_url(self) -> bool:
        return is_grpc_url(self._called)

    @property
    def _address(self) -> Address | None:
        return split_grpc_url(self._called) if self._is_url else None

    @property
    def _statuses(self) -> list[Any]:
        return (self.expect and self.expect.status) or []

    @property
    def body_field(self) -> str:
        return "body" if self.message is None else "message"

    def definition(self, draft: Draft, path: str) -> dict[str, Any]:
        method = (self._called if self._address is None else self._address.path).removeprefix("/")
        body = None if self.message is None else {"json": self.message}
        common = self.common(draft, body)
        if grpc.DEADLINE_EXCEEDED in self._statuses and common["timeout"] is not None:
            why = (
                f"{grpc.DEADLINE_EXCEEDED} cannot be met with a timeout: this client ends the call when its own "
                "timeout passes, and counts a failure (timeout); leave out this code, or write idle_timeout in place "
                "of timeout"
            )
            draft.complain(f"{path}.expect.status", why)
        return {
            "name": self.name or method,
            "target": draft.http2_target(self, path, self._address),
            "grpc": grpc.definition(method, gzip=bool(self.compression), statuses=self._statuses),
            "headers": self.lines(),
            **common,
        }

    def sources(self, path: str, field: str) -> dict[str, str]:
        own = {f"{field}.grpc": f"{path}.grpc", f"{field}.body.json": f"{path}.message"}
        return super().sources(path, field) | own
