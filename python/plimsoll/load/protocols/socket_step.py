"""Steps of a plan that open a WebSocket, send and receive messages on it, and close it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainValidator, PrivateAttr, WithJsonSchema, model_validator

from plimsoll.load.bodies import encoded
from plimsoll.load.mistakes import BadValueError, at, shown
from plimsoll.load.origins import split_socket_url
from plimsoll.load.step_model import StepTable
from plimsoll.load.table import ExistingFile, FixedText, JsonBody, Length, TomlTable, one_or_more
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from plimsoll.load.protocols.draft import Draft

_ALWAYS = frozenset(("name", "think", "if", "weight"))
_FIELDS = {
    "connect": frozenset((
        "target", "headers", "auth", "timeout", "idle_timeout", "extract", "expect", "protocols", "compression",
    )),
    "send": frozenset(("timeout",)),
    "receive": frozenset(("timeout", "extract", "expect")),
    "wait": frozenset[str](),
    "close": frozenset(("timeout",)),
}  # fmt: skip
"""What else a step may have, by what it does."""


class MessageTable(TomlTable):
    """send = { json = { id = 1 } }"""

    text: str | None = None
    """A text message; `send = "…"` is short for it."""
    json_: JsonBody | None = Field(None, alias="json")
    """A table, or JSON in a string: a text message. Values of variables are escaped inside quotes."""
    base64: str | None = None
    """A binary message, in base64."""
    file: ExistingFile | None = None
    """A file with a binary message."""

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> MessageTable:
        kinds = ("text", "json", "base64", "file")
        if len(self.given(kinds)) != 1:
            raise BadValueError(f"needs one of {listed(kinds, 'or')}")
        return self

    def body(self) -> dict[str, str]:
        """In the format for native users."""
        if self.file is not None:
            try:
                return encoded(self.file.read_bytes())
            except OSError as error:
                raise BadValueError(f"cannot read {self.file}: {error.strerror}", "file") from error
        (kind,) = self.given(("text", "json", "base64"))
        return {kind: self.value(kind)}


def _close_code(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1000 <= value <= 4999:
        raise BadValueError(f"{shown(value)} is not a close code; the usual one is 1000")
    return value


CloseCode = Annotated[
    int, PlainValidator(_close_code), WithJsonSchema({"type": "integer", "minimum": 1000, "maximum": 4999})
]


class SocketStep(StepTable):
    """[[flow.step]] with connect, send, receive, wait or close: a step of a WebSocket."""

    made_by: ClassVar = ("connect", "send", "receive", "wait", "close")
    called: ClassVar = "a WebSocket"

    connect: str | None = None
    """Opens a WebSocket: the path, or a whole URL (`"ws://…"` or `"wss://…"`). A user has at most one. If it is open
    already, the step does nothing."""
    protocols: Annotated[list[FixedText], BeforeValidator(one_or_more)] | None = None
    """With `connect`: the subprotocols to offer, the preferred one first."""
    compression: bool | None = None
    """With `connect`: `true` offers permessage-deflate."""
    send: MessageTable | None = None
    """Sends a message on the WebSocket: text, or `{ json = … }`, `{ base64 = "…" }` or `{ file = "…" }`."""
    receive: Literal["reply", "next"] | None = None
    """Waits for a message that meets `expect`, and skips others. `"reply"`: one that comes after the last `send`, where
    its time begins. `"next"`: the first one that no step has taken; its time begins at the step."""
    wait: Length | None = None
    """Lets messages come for this time."""
    close: CloseCode | None = None
    """Closes the WebSocket with this code, and waits for the answer."""

    _body: dict[str, str] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _check(self) -> SocketStep:
        action = self.maker
        for name in (name.removesuffix("_") for name in type(self).model_fields if name in self.model_fields_set):
            if name == action or name in _ALWAYS | _FIELDS[action]:
                continue
            if name in self.made_by:
                raise BadValueError(f"contradicts {action}; a step does one thing", name)
            raise BadValueError(f"does not go with {action}", name)
        if self.connect is not None and not self.connect.startswith("/"):
            at("connect", split_socket_url, self.connect)
            if self.target is not None:
                raise BadValueError("contradicts connect, which is a whole URL", "target")
        self._body = None if self.send is None else at("send", MessageTable.body, self.send)
        return self

    @property
    def body_field(self) -> str:
        return "body" if self.send is None else "send"

    def definition(self, draft: Draft, path: str) -> dict[str, Any]:
        if self.connect is not None:
            draft.connection = self.name or self.connect
        made = {"websocket": self._action(), **self.common(draft, self._body)}
        if self.receive is None:
            # The plan's pause follows a message that was received.
            made["think"] = self.think
        if self.connect is not None:
            address = None if self.connect.startswith("/") else split_socket_url(self.connect)
            # A WebSocket is opened with HTTP/1.1.
            made["target"], made["path"] = draft.locate(self, self.connect, path, address, http2=False)
            made["headers"] = self.lines()
        made["name"] = self.name or draft.connection
        return made

    def sources(self, path: str, field: str) -> dict[str, str]:
        return super().sources(path, field) | {f"{field}.websocket": f"{path}.{self.maker}"}

    def _action(self) -> dict[str, Any]:
        """What the step does, in the format for native users."""
        match self.maker:
            case "connect":
                return {"connect": {"protocols": self.protocols or [], "deflate": bool(self.compression)}}
            case "send":
                return {"send": {}}
            case "receive":
                return {"receive": {"reply": self.receive == "reply"}}
            case "wait":
                return {"wait": self.wait}
            case _:
                return {"close": self.close}
