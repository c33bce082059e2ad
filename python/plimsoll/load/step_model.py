"""Tables of a plan about user behaviour: flows, steps, extraction, expectations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, PrivateAttr, WithJsonSchema, model_validator

from plimsoll._engine import grpc_codes
from plimsoll.load.bodies import FixedText, HeadersTable, JsonBody, JsonValue, encoded, fixed_text, json_template
from plimsoll.load.durations import parse_duration
from plimsoll.load.mistakes import BadValueError, at, listed, shown
from plimsoll.load.origins import is_grpc_url, is_socket_url, is_url, split_url
from plimsoll.load.protocols import grpc, websocket
from plimsoll.load.protocols.websocket import MessageTable
from plimsoll.load.table import ExistingFile, Length, TomlTable, one_or_more, read_text

if TYPE_CHECKING:
    from pathlib import Path

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
"""Each is a field of a step: get = "/path"."""
_BODIES = ("body", "json", "body_file", "template_file")
_SOURCES = ("json", "jsonpath", "regex", "header", "cookie")
OBJECTIVES = ("first_token", "time_per_token", "time")
_STATUS = re.compile(r"(?P<first>[1-5][0-9]{2})(?:\s*-\s*(?P<last>[1-5][0-9]{2}))?|(?P<class>[1-5])xx", re.IGNORECASE)
_CODES = frozenset(grpc_codes())
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"[A-Za-z_][\w-]*")


def is_method(text: str) -> bool:
    return _METHOD.fullmatch(text) is not None


def _pointer(value: Any) -> str:
    """RFC 6901."""
    if not isinstance(value, str) or (value and not value.startswith("/")):
        raise BadValueError(f'{shown(value)} is not a JSON pointer; it begins with "/", as in "/items/0/id"')
    return fixed_text(value)


def _statuses(value: Any) -> list[list[int] | str]:
    """200, "2xx", "200-204" or a list of these, as inclusive ranges; names of gRPC's codes as they are."""
    ranges: list[list[int] | str] = []
    for each in one_or_more(value):
        if isinstance(each, str) and each in _CODES:
            ranges.append(each)
            continue
        match = None if isinstance(each, bool) else _STATUS.fullmatch(str(each).strip())
        if match is None:
            valid = 'valid are 200, "2xx", "200-204" and lists of these; for gRPC names as "NOT_FOUND"'
            raise BadValueError(f"{shown(each)} is not a status; {valid}")
        if match["class"]:
            first, last = int(match["class"]) * 100, int(match["class"]) * 100 + 99
        else:
            first, last = int(match["first"]), int(match["last"] or match["first"])
        if first > last:
            raise BadValueError(f"{shown(each)} ends before it begins")
        ranges.append([first, last])
    if not ranges:
        raise BadValueError("is empty: no status would do")
    return ranges


_ONE_STATUS: dict[str, Any] = {"type": ["integer", "string"], "examples": [200, "2xx", "200-204", "NOT_FOUND"]}
_STATUS_SCHEMA = {
    "anyOf": [_ONE_STATUS, {"type": "array", "items": _ONE_STATUS, "minItems": 1}], "title": "status or list",
}  # fmt: skip


def _think(value: Any) -> dict[str, Any]:
    """ "1s", "1s..3s" or { exponential = "2s" }, as native users are given it; times in seconds."""
    if isinstance(value, dict):
        if len(value) != 1 or "exponential" not in value:
            raise BadValueError('is not understood; valid are "1s", "1s..3s" and { exponential = "2s" }')
        return {"exponential": parse_duration(value["exponential"])}
    if isinstance(value, str) and ".." in value:
        least, _, most = value.partition("..")
        between = [parse_duration(least), parse_duration(most)]
        if between[0] > between[1]:
            raise BadValueError(f"{shown(value)} ends before it begins")
        return {"between": between}
    return {"constant": parse_duration(value)}


_MEAN = {
    "type": "object", "properties": {"exponential": {"type": ["string", "number"], "description": "The mean."}},
    "required": ["exponential"], "additionalProperties": False,
}  # fmt: skip
_TIMES: dict[str, Any] = {"type": ["string", "number"], "examples": ["1s", "1s..3s", 0]}
Think = Annotated[
    dict[str, Any], PlainValidator(_think), WithJsonSchema({"anyOf": [_TIMES, _MEAN], "title": "time or distribution"})
]
"""`"1s"`, `"1s..3s"` (evenly between), `{ exponential = "2s" }` (mean)."""
Pointer = Annotated[
    str, PlainValidator(_pointer), WithJsonSchema({"type": "string", "pattern": "^(/.*)?$", "title": "JSON pointer"})
]
_Texts = Annotated[list[str], BeforeValidator(one_or_more)]
_FixedTexts = Annotated[list[FixedText], BeforeValidator(one_or_more)]
Weight = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class ExtractTable(TomlTable):
    """extract.NAME = { json = "/token" }"""

    json_: Pointer | None = Field(None, alias="json")
    """A JSON pointer, as `"/items/0/id"`."""
    jsonpath: FixedText | None = None
    """A JSONPath, as `"$.session.token"`."""
    regex: FixedText | None = None
    """A regular expression; its first group is the value."""
    header: FixedText | None = None
    """The name of a header of the response."""
    cookie: FixedText | None = None
    """The name of a cookie."""
    default: FixedText | None = None
    """The value where there is none. Without a default, a missing value is a failure."""

    @model_validator(mode="after")
    def _check(self) -> ExtractTable:
        given = self.given(_SOURCES)
        if not given:
            raise BadValueError(f"says not from where; it needs one of {listed(_SOURCES)}")
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; there is one of {listed(_SOURCES)}", given[1])
        return self

    @property
    def source(self) -> str:
        return self.given(_SOURCES)[0]

    def definition(self, into: str) -> dict[str, Any]:
        return {"into": into, "from": self.source, "what": self.value(self.source), "default": self.default}


class ExpectTable(TomlTable):
    """expect = { status = 200, max_time = "300ms" }"""

    status: Annotated[list[list[int] | str], PlainValidator(_statuses), WithJsonSchema(_STATUS_SCHEMA)] | None = None
    """One or more; by default any status below 400. Of gRPC the names of codes: `"NOT_FOUND"`; by default `"OK"`."""
    contains: _Texts | None = None
    """Text that must be in the body or message. It may have variables, as a body: `"id=${iteration}"`."""
    lacks: _Texts | None = None
    """Text that must not be in it."""
    json_: dict[Pointer, JsonValue] | None = Field(None, alias="json")
    """JSON pointers and the values that they must have: `{ "/ok" = true, "/id" = "${iteration}" }`. A text with
    variables also equals a number that is written so."""
    max_time: Length | None = None
    """Longest response time."""

    def definition(self) -> dict[str, Any]:
        """In the format for native users, without unset expectations and those of gRPC's codes."""
        values = {
            "status": [each for each in self.status or () if not isinstance(each, str)] or None,
            "contains": self.contains, "lacks": self.lacks, "max_time": self.max_time,
            "json": None if self.json_ is None else [[pointer, value] for pointer, value in self.json_.items()],
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


class SloTable(TomlTable):
    """slo = { first_token = "500ms", time_per_token = "50ms" }"""

    first_token: Length | None = None
    """Longest time to the first token."""
    time_per_token: Length | None = None
    """Longest time per token after the first one."""
    time: Length | None = None
    """Longest time of the whole request."""

    @model_validator(mode="after")
    def _check(self) -> SloTable:
        if not self.definition():
            raise BadValueError(f"needs at least one of {listed(OBJECTIVES)}")
        return self

    def definition(self) -> dict[str, float]:
        """In the format for native users."""
        return {name: self.value(name) for name in self.given(OBJECTIVES)}


def _close_code(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1000 <= value <= 4999:
        raise BadValueError(f"{shown(value)} is not a close code; the usual one is 1000")
    return value


CloseCode = Annotated[
    int, PlainValidator(_close_code), WithJsonSchema({"type": "integer", "minimum": 1000, "maximum": 4999})
]


def _template(file: Path) -> dict[str, str]:
    text = read_text(file)
    return {"json": json_template(text)} if file.suffix == ".json" else {"text": text}


def _variable_name(name: Any) -> Any:
    if isinstance(name, str) and not _VARIABLE.fullmatch(name):
        raise BadValueError(f"{shown(name)} cannot be the name of a variable; valid is token or order_id")
    return name


class StepTable(TomlTable):
    """[[flow.step]]"""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Its name in reports; by default the path as written in the plan."""
    get: str | None = None
    """The path, or a whole URL. A step has one of `get`, `post`, …, or `method` and `path`."""
    post: str | None = None
    """The same with POST."""
    put: str | None = None
    """The same with PUT."""
    patch: str | None = None
    """The same with PATCH."""
    delete: str | None = None
    """The same with DELETE."""
    head: str | None = None
    """The same with HEAD."""
    options: str | None = None
    """The same with OPTIONS."""
    method: str | None = None
    """Another method, with `path`: `"PURGE"`."""
    path: str | None = None
    """The path, or a whole URL, of `method`."""
    connect: str | None = None
    """Opens a WebSocket: the path, or a whole URL (`"ws://…"` or `"wss://…"`). A user has at most one. If it is open
    already, the step does nothing."""
    protocols: _FixedTexts | None = None
    """With `connect`: the subprotocols to offer, the preferred one first."""
    compression: bool | None = None
    """With `connect`: `true` offers permessage-deflate. With `grpc`: `true` sends messages with gzip."""
    send: MessageTable | None = None
    """Sends a message on the WebSocket: text, or `{ json = … }`, `{ base64 = "…" }` or `{ file = "…" }`."""
    receive: Literal["reply", "next"] | None = None
    """Waits for a message that meets `expect`, and skips others. `"reply"`: one that comes after the last `send`, where
    its time begins. `"next"`: the first one that no step has taken; its time begins at the step."""
    wait: Length | None = None
    """Lets messages come for this time."""
    close: CloseCode | None = None
    """Closes the WebSocket with this code, and waits for the answer."""
    grpc: str | None = None
    """Calls a method: `"package.Service/Method"`, or a whole URL (`"grpc://…"`, or `"grpcs://…"` over TLS)."""
    message: JsonBody | None = None
    """With `grpc`: the message, a table or JSON in a string; empty by default. For a client that streams: a list of
    messages, which are sent at once. Values of variables are escaped inside quotes."""
    target: str | None = None
    """The name of a target; by default the first one."""
    headers: HeadersTable = Field(default_factory=dict)
    """Added to those of the plan, or replacing them."""
    body: str | None = None
    """Text."""
    json_: JsonBody | None = Field(None, alias="json")
    """A table, or JSON in a string. Values of variables are escaped inside quotes. The default Content-Type is
    `application/json`."""
    body_file: ExistingFile | None = None
    """A file that is sent unchanged."""
    template_file: ExistingFile | None = None
    """A file with variables; like `json` if its name ends in `.json`, else like `body`."""
    timeout: Length | None = None
    """In place of the plan's."""
    idle_timeout: Length | None = None
    """In place of the plan's."""
    stream: Literal["sse", "lines", "llm"] | None = None
    """The response is a stream of events: `"sse"` (server-sent events), `"lines"` (each line that is not empty, as
    NDJSON) or `"llm"` (a chat completion in OpenAI's format, as server-sent events). The step ends with the body; rows
    beside that of the request count what comes before. `expect` and `extract` cannot read the body."""
    slo: SloTable | None = None
    """With `stream = "llm"`: what a request must keep to be in the row `good request`."""
    think: Think | None = None
    """Pause after it. In the open model there is no pause after the last step."""
    extract: dict[Annotated[str, BeforeValidator(_variable_name)], ExtractTable] = Field(default_factory=dict)
    """Values of the response for later steps of the iteration, by the name of their variable."""
    expect: ExpectTable | None = None
    """What the response must be. One with another status fails as `http`; one that breaks another expectation, or
    lacks a value to extract, fails as `assertion`."""

    _body: dict[str, str] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _check(self) -> StepTable:
        if self.action is not None:
            websocket.check(self, self.action)
            self._body = None if self.send is None else at("send", MessageTable.body, self.send)
            return self
        if self.grpc is not None:
            grpc.check(self)
            self._body = None if self.message is None else {"json": self.message}
            return self
        websocket.check_none(self)
        grpc.check_none(self)
        self._check_method()
        self._check_path()
        given = self.given(_BODIES)
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a request has one of {listed(_BODIES)}", given[1])
        if self.slo is not None and self.stream != "llm":
            raise BadValueError('belongs with stream = "llm"', "slo")
        self._body = self._read_body()
        return self

    def _check_method(self) -> None:
        given = self.given((*METHODS, "path"))
        if not given:
            needs = 'get = "/path" (or post, put, …), or method and path, connect or grpc'
            why = f"says not what to request; it needs {needs}"
            raise BadValueError(why, "" if self.method is None else "method")
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a step is one request", given[1])
        if self.path is not None and self.method is None:
            raise BadValueError('belongs with a method, as in method = "PURGE"', "path")
        if self.path is None and self.method is not None:
            raise BadValueError(f"belongs with path; {given[0]} is a method already", "method")
        if self.method is not None and not is_method(self.method):
            raise BadValueError(f"{shown(self.method)} cannot be a method", "method")

    def _check_path(self) -> None:
        if is_url(self.where) or is_socket_url(self.where) or is_grpc_url(self.where):
            if self.target is not None:
                raise BadValueError(f"contradicts {self.where_field}, which is a whole URL", "target")
            at(self.where_field, split_url, self.where)
        elif not self.where.startswith("/") and (self.where_field, self.where) != ("options", "*"):
            raise BadValueError(f'{shown(self.where)} must begin with "/", or be a whole URL', self.where_field)

    def _read_body(self) -> dict[str, str] | None:
        if self.body is not None:
            return {"text": self.body}
        if self.json_ is not None:
            return {"json": self.json_}
        if self.body_file is not None:
            try:
                return encoded(self.body_file.read_bytes())
            except OSError as error:
                raise BadValueError(f"cannot read {self.body_file}: {error.strerror}", "body_file") from error
        return None if self.template_file is None else at("template_file", _template, self.template_file)

    @property
    def action(self) -> str | None:
        """What it does with a WebSocket; None: it is a request."""
        return websocket.action_of(self)

    @property
    def verb(self) -> str:
        """The method as sent."""
        return self.method or self.where_field.upper()

    @property
    def where_field(self) -> str:
        return self.given((*METHODS, "path", "connect", "grpc"))[0]

    @property
    def where(self) -> str:
        """The path, or the whole URL."""
        return str(self.value(self.where_field))

    @property
    def body_field(self) -> str:
        """The field with the body; "body" without one."""
        return next(iter(self.given((*_BODIES, "send", "message"))), "body")

    @property
    def expected(self) -> dict[str, Any]:
        """In the format for native users."""
        return {} if self.expect is None else self.expect.definition()

    @property
    def content(self) -> dict[str, str] | None:
        """The body in the format for native users."""
        return self._body


class RequestTable(StepTable):
    """[[request]]: a flow of one step. It has all fields of a step, and a weight."""

    weight: Weight = 1.0
    """How often it is chosen, compared with other flows."""


class FlowTable(TomlTable):
    """[[flow]]"""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Its name."""
    weight: Weight = 1.0
    """How often it is chosen, compared with other flows."""
    think: Think | None = None
    """Pause after each of its steps, in place of the plan's."""
    step: Annotated[list[StepTable], Field(min_length=1), BeforeValidator(one_or_more)]
    """Its requests, in order. One pass is an iteration."""
