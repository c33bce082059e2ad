"""What the steps of all protocols have: where they go, how long they may take, what they extract and expect.

Each protocol has its own step in a file of `protocols/`; `flows.py` has the list of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from plimsoll._engine import grpc_codes
from plimsoll.load.auth.table import AuthTable, check_auth, with_auth
from plimsoll.load.bodies import fixed_text, header_lines
from plimsoll.load.durations import parse_duration
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.table import (
    FixedText,
    HeadersTable,
    JsonValue,
    Length,
    SeveralTexts,
    TomlTable,
    one_or_more,
)
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from plimsoll.load.protocols.draft import Draft

_SOURCES = ("json", "jsonpath", "regex", "css", "header", "cookie")
_STATUS = re.compile(r"(?P<first>[1-5][0-9]{2})(?:\s*-\s*(?P<last>[1-5][0-9]{2}))?|(?P<class>[1-5])xx", re.IGNORECASE)
_CODES = frozenset(grpc_codes())
_VARIABLE = re.compile(r"[A-Za-z_][\w-]*")


def _pointer(value: Any) -> str:
    """A JSON pointer (RFC 6901)."""
    if not isinstance(value, str) or (value and not value.startswith("/")):
        raise BadValueError(f'{shown(value)} is not a JSON pointer; it begins with "/", as in "/items/0/id"')
    return fixed_text(value)


def _statuses(value: Any) -> list[list[int] | str]:
    """200, "2xx", "200-204" or a list of these, as inclusive ranges; names of gRPC's codes as they are."""
    ranges: list[list[int] | str] = []
    for status in one_or_more(value):
        if isinstance(status, str) and status in _CODES:
            ranges.append(status)
            continue
        match = None if isinstance(status, bool) else _STATUS.fullmatch(str(status).strip())
        if match is None:
            valid = 'valid are 200, "2xx", "200-204" and lists of these; for gRPC names as "NOT_FOUND"'
            raise BadValueError(f"{shown(status)} is not a status; {valid}")
        if match["class"]:
            first, last = int(match["class"]) * 100, int(match["class"]) * 100 + 99
        else:
            first, last = int(match["first"]), int(match["last"] or match["first"])
        if first > last:
            raise BadValueError(f"{shown(status)} ends before it begins")
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
Decoding = Literal["html", "url", "json", "base64", "jwt", "lower", "upper"]
Repetitions = Annotated[int, Field(ge=1, le=1_000_000)]
Weight = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class ExtractTable(TomlTable):
    """extract.NAME = { json = "/token" }"""

    json_: Pointer | None = Field(None, alias="json")
    """A JSON pointer, as `"/items/0/id"`."""
    jsonpath: FixedText | None = None
    """A JSONPath, as `"$.session.token"`."""
    regex: FixedText | None = None
    """A regular expression for the body, or with `header` for that header; its first group is the value."""
    css: FixedText | None = None
    """A CSS selector, as `"input[name=csrf_token]"`: the text of the first element that it finds, without blanks around
    it, or one of its attributes. Entities (`&amp;`) are decoded."""
    attribute: Annotated[str, Field(min_length=1), AfterValidator(fixed_text)] | None = None
    """With `css`: the name of an attribute, as `"value"`."""
    header: FixedText | None = None
    """The name of a header of the response; with `regex` a part of its value: `{ header = "Location", regex =
    "code=([^&]+)" }`."""
    cookie: FixedText | None = None
    """The name of a cookie."""
    decode: Annotated[list[Decoding], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """Encodings of the value, the outermost first: `"html"` (entities), `"url"` (`%2F`), `"json"` (escapes of a
    string), `"base64"`, `"jwt"` (its claims, as JSON); `"lower"` and `"upper"` change the case of letters."""
    within: FixedText | None = None
    """A regular expression for the decoded value; its first group is the value: `{ json = "/token", decode = "jwt",
    within = '"sub":"([^"]+)"' }`."""
    default: FixedText | None = None
    """The value where there is none. Without a default, a missing value is a failure."""

    @model_validator(mode="after")
    def _check(self) -> ExtractTable:
        given = self.given(_SOURCES)
        if not given:
            raise BadValueError(f"says not from where; it needs one of {listed(_SOURCES, 'or')}")
        if len(given) > 1 and not self._has_part:
            raise BadValueError(f"contradicts {given[0]}; there is one of {listed(_SOURCES, 'or')}", given[1])
        if self.attribute is not None and self.css is None:
            raise BadValueError("belongs with css", "attribute")
        return self

    @property
    def _has_part(self) -> bool:
        return self.given(_SOURCES) == ["regex", "header"]

    @property
    def source(self) -> str:
        return "header" if self._has_part else self.given(_SOURCES)[0]

    def definition(self, into: str) -> dict[str, Any]:
        what = {"into": into, "from": self.source, "what": self.value(self.source), "default": self.default}
        what |= {"part": self.regex} if self._has_part else {}
        what |= {} if self.attribute is None else {"attribute": self.attribute}
        return what | ({"decode": self.decode, "within": self.within} if self.decode or self.within else {})


class ExpectTable(TomlTable):
    """expect = { status = 200, max_time = "300ms" }"""

    status: Annotated[list[list[int] | str], PlainValidator(_statuses), WithJsonSchema(_STATUS_SCHEMA)] | None = None
    """One or more; by default any status below 400. Of gRPC the names of codes: `"NOT_FOUND"`; by default `"OK"`."""
    contains: SeveralTexts | None = None
    """Text that must be in the body or message. It may have variables, as a body: `"id=${iteration}"`."""
    lacks: SeveralTexts | None = None
    """Text that must not be in it."""
    json_: dict[Pointer, JsonValue] | None = Field(None, alias="json")
    """JSON pointers and the values that they must have: `{ "/ok" = true, "/id" = "${iteration}" }`. A text with
    variables also equals a number that is written so."""
    absent: Annotated[list[Pointer], BeforeValidator(one_or_more)] | None = None
    """JSON pointers that must find nothing, null or an empty list: `"/errors"`."""
    max_time: Length | None = None
    """Longest response time."""

    def definition(self) -> dict[str, Any]:
        """In the format for native users, without unset expectations and those of gRPC's codes."""
        values = {
            "status": [status for status in self.status or () if not isinstance(status, str)] or None,
            "contains": self.contains, "lacks": self.lacks, "max_time": self.max_time,
            "json": None if self.json_ is None else [[pointer, value] for pointer, value in self.json_.items()],
            "absent": self.absent,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}


class RepeatTable(TomlTable):
    """repeat = { until = "${job} == done", at_most = 20, pause = "1s" }: how often a step is done."""

    times: Repetitions | None = None
    """So often; `repeat = 3` is short for it."""
    while_: str | None = Field(None, alias="while")
    """Again, as long as this condition holds after the step: `"${next}"` (it has a value), `"${more} == true"`,
    `"${job} != done"`."""
    until: str | None = None
    """Again, until this condition holds after the step."""
    at_most: Repetitions | None = None
    """With `while` or `until`: no more often. If it should be done again then, the step fails as `assertion`."""
    pause: Think | None = None
    """Before it is done again, in place of `think`."""
    from_: str | None = Field(None, alias="from")
    """The name of an earlier step of the flow: all steps from there to this one are repeated together."""

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        return {"times": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _check(self) -> RepeatTable:
        kinds = ("times", "while", "until")
        given = self.given(kinds)
        if not given:
            raise BadValueError(f"needs one of {listed(kinds, 'or')}")
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; there is one of {listed(kinds, 'or')}", given[1])
        if self.times is not None and self.at_most is not None:
            raise BadValueError("contradicts times", "at_most")
        if self.times is None and self.at_most is None:
            raise BadValueError(f"{given[0]} needs at_most, as in at_most = 20: then the step fails")
        return self

    def definition(self) -> dict[str, int | str | Think]:
        """In the format for native users, but for the name of a step in `from`."""
        what = {
            "most": self.times or self.at_most, "while": self.while_, "until": self.until, "pause": self.pause,
            "from": self.from_,
        }  # fmt: skip
        return {name: value for name, value in what.items() if value is not None}


def variable_name(name: Any) -> Any:
    """Raises BadValueError for a name that no variable can have."""
    if isinstance(name, str) and not _VARIABLE.fullmatch(name):
        raise BadValueError(f"{shown(name)} cannot be the name of a variable; valid is token or order_id")
    return name


class StepTable(TomlTable):
    """The fields that the steps of all protocols have."""

    made_by: ClassVar[tuple[str, ...]] = ()
    """The fields that make a table a step of this protocol. Without them it is a request."""
    called: ClassVar[str]
    """What a step of this protocol is, in messages: "a request"."""
    instead: ClassVar[dict[str, str]] = {}
    """What to write in place of a field of another protocol, by the name of that field."""
    needs_http2: ClassVar[bool] = False

    name: Annotated[str, Field(min_length=1)] | None = None
    """Its name in reports; by default the path as written in the plan."""
    target: str | None = None
    """The name of a target; by default the first one."""
    headers: HeadersTable = Field(default_factory=dict)
    """Added to those of the plan, or replacing them."""
    auth: AuthTable | None = None
    """Who sends it, in place of the plan's: `{ bearer = "${token}" }`."""
    timeout: Length | None = None
    """In place of the plan's."""
    idle_timeout: Length | None = None
    """In place of the plan's."""
    think: Think | None = None
    """Pause after it. In the open model there is no pause after the last step."""
    if_: str | None = Field(None, alias="if")
    """Leaves the step out unless this condition holds: `"${token}"` (it has a value), `"${kind} == admin"`,
    `"${kind} != admin"`. The first step of a flow has none."""
    repeat: RepeatTable | None = None
    """Does the step several times: `3`, or until something is so. Each time is a request of its row; `${repetition}` is
    0, 1, …, and `${repetition:1}` begins with 1. Not for steps of a WebSocket."""
    extract: dict[Annotated[str, BeforeValidator(variable_name)], ExtractTable] = Field(default_factory=dict)
    """Values of the response for later steps of the iteration, by the name of their variable."""
    expect: ExpectTable | None = None
    """What the response must be. One with another status fails as `http`; one that breaks another expectation, or
    lacks a value to extract, fails as `assertion`."""

    @model_validator(mode="after")
    def _check_auth(self) -> StepTable:
        check_auth(self.auth, self.headers)
        return self

    @property
    def maker(self) -> str:
        """The field that says what the step does."""
        return self.given(self.made_by)[0]

    @property
    def body_field(self) -> str:
        """The field with the body; "body" without one."""
        return "body"

    def definition(self, draft: Draft, path: str) -> dict[str, Any]:
        """The step in the format for native users. path: of the step in the plan."""
        raise NotImplementedError

    def lines(self) -> list[list[str]]:
        """Its headers in the format for native users."""
        return header_lines(with_auth(self.headers, self.auth))

    def common(self, draft: Draft, body: dict[str, Any] | None) -> dict[str, Any]:
        """What the definitions of all protocols have."""
        return {
            "body": body,
            "timeout": draft.timeout if self.timeout is None else self.timeout,
            "idle_timeout": draft.idle_timeout if self.idle_timeout is None else self.idle_timeout,
            "think": draft.think if self.think is None else self.think,
            **({} if self.if_ is None else {"if": self.if_}),
            **({} if self.repeat is None else {"repeat": self.repeat.definition()}),
            "extract": [table.definition(name) for name, table in self.extract.items()],
            "expect": {} if self.expect is None else self.expect.definition(),
        }

    def sources(self, path: str, field: str) -> dict[str, str]:
        """The plan's field for each field of the definition. path, field: those of the step in plan and scenario."""
        fields = {
            field: path, f"{field}.method": f"{path}.{self.maker}", f"{field}.path": f"{path}.{self.maker}",
            f"{field}.body": f"{path}.{self.body_field}",
        }  # fmt: skip
        names = (
            "name", "target", "headers", "timeout", "idle_timeout", "stream", "slo", "think", "if", "repeat",
            "repeat.while", "repeat.until", "repeat.from", "repeat.pause", "extract", "expect",
        )  # fmt: skip
        fields |= {f"{field}.{name}": f"{path}.{name}" for name in names}
        for index, name in enumerate(name for name, values in self.headers.items() for _ in values):
            fields[f"{field}.headers[{index}]"] = f"{path}.headers.{name}"
        if self.auth is not None and self.auth.scheme is None:
            fields[f"{field}.headers[{sum(map(len, self.headers.values()))}]"] = f"{path}.auth"
        for index, (name, table) in enumerate(self.extract.items()):
            fields[f"{field}.extract[{index}]"] = f"{path}.extract.{name}"
            fields[f"{field}.extract[{index}].what"] = f"{path}.extract.{name}.{table.source}"
            fields[f"{field}.extract[{index}].within"] = f"{path}.extract.{name}.within"
        for name in {} if self.expect is None else self.expect.definition():
            fields[f"{field}.expect.{name}"] = f"{path}.expect.{name}"
        return fields
