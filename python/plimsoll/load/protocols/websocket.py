"""Steps of a plan that open a WebSocket, send and receive messages on it, and close it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from plimsoll.load.bodies import JsonBody, encoded
from plimsoll.load.mistakes import BadValueError, at, listed
from plimsoll.load.origins import split_socket_url
from plimsoll.load.table import ExistingFile, TomlTable

if TYPE_CHECKING:
    from plimsoll.load.step_model import StepTable

ACTIONS = ("connect", "send", "receive", "wait", "close")
"""Fields of a step: each makes it one of a WebSocket."""
_OPTIONS = ("protocols", "compression")
_ALWAYS = frozenset(("name", "think", "weight"))
_FIELDS = {
    "connect": frozenset(("target", "headers", "timeout", "idle_timeout", "extract", "expect", *_OPTIONS)),
    "send": frozenset(("timeout",)),
    "receive": frozenset(("timeout", "extract", "expect")),
    "wait": frozenset[str](),
    "close": frozenset(("timeout",)),
}
"""What else a step of each kind may have."""


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
            raise BadValueError(f"needs one of {listed(kinds)}")
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


def action_of(step: StepTable) -> str | None:
    """The field that says what the step does with a WebSocket; None: it is a request."""
    return next(iter(step.given(ACTIONS)), None)


def check(step: StepTable, action: str) -> None:
    """Raises BadValueError for fields that do not go with the action."""
    names = (name.removesuffix("_") for name in type(step).model_fields if name in step.model_fields_set)
    for name in names:
        if name == action or name in _ALWAYS | _FIELDS[action]:
            continue
        if name in ACTIONS:
            raise BadValueError(f"contradicts {action}; a step does one thing", name)
        raise BadValueError(f"does not go with {action}", name)
    if step.connect is not None and not step.connect.startswith("/"):
        at("connect", split_socket_url, step.connect)
        if step.target is not None:
            raise BadValueError("contradicts connect, which is a whole URL", "target")


def check_none(step: StepTable) -> None:
    """Raises BadValueError for fields that only a step of a WebSocket has."""
    for name in step.given(_OPTIONS):
        raise BadValueError("belongs with connect or grpc" if name == "compression" else "belongs with connect", name)


def definition(step: StepTable) -> dict[str, Any]:
    """What the step does, in the format for native users."""
    match action_of(step):
        case "connect":
            return {"connect": {"protocols": step.protocols or [], "deflate": bool(step.compression)}}
        case "send":
            return {"send": {}}
        case "receive":
            return {"receive": {"reply": step.receive == "reply"}}
        case "wait":
            return {"wait": step.wait}
        case _:
            return {"close": step.close}
