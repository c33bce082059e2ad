"""A scenario before it is written down: steps with texts that have variables. Plans and locustfiles are made of it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.redact import is_secret_field
from plimsoll.sources.content.operations import graphql_operation

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from plimsoll.load.step_model import Decoding
    from plimsoll.sources.exchange import Connection, RecordedExchange, RecordedReply

BodyKind = Literal["none", "text", "json", "form", "parts", "bytes", "file"]


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that is not in the file."""

    name: str
    """As Python and a plan may call it: small letters, digits and _."""
    origin: Literal["reply", "secret", "data", "made"]
    """reply: an earlier step extracts it; secret, data: a column of a file; made: `uuid`, `random`, or the time as
    `now`, `unix` or `unix_ms`, a new one each time."""


Text = tuple[str | Variable, ...]
"""A text with variables. Texts of JSON and of forms are encoded already; values of variables are not."""


@dataclass(frozen=True, slots=True)
class ReplyValue:
    """A value that a step takes from its reply."""

    name: str
    """The name of its variable."""
    kind: Literal["json", "jsonpath", "regex", "header", "cookie"]
    """jsonpath: only the proof has it."""
    what: str
    """A JSON pointer, a JSONPath, a regular expression with one group for the body, the name of a header, or that of a
    cookie."""
    comment: str
    """Where the value is sent."""
    part: str = ""
    """Of a header: a regular expression with one group for the part of it; "" for the whole value."""
    decode: tuple[Decoding, ...] = ()
    """How the text becomes the value, the outermost encoding first."""
    within: str = ""
    """A regular expression with one group for the part of the decoded text; "" for all of it."""


@dataclass(frozen=True, slots=True)
class DraftPart:
    """One part of a multipart/form-data body."""

    name: str
    text: Text
    """Empty if `content` is given."""
    content: bytes | None = None
    """The content of a part that is not text."""
    filename: str | None = None
    content_type: str | None = None


@dataclass(slots=True)
class DraftStep:
    """One request."""

    exchange: RecordedExchange
    target: int
    """Index of its target."""
    path: Text
    """Path and query; begins with "/"."""
    headers: list[tuple[str, Text]]
    kind: BodyKind = "none"
    body: Text = ()
    """Of the kinds text, json and form."""
    parts: list[DraftPart] = field(default_factory=list)
    extracts: list[ReplyValue] = field(default_factory=list)
    think: float | None = None
    """Seconds of pause after it; None: no pause."""
    auth: list[tuple[str, Text]] = field(default_factory=list)
    """Fields of the `auth` that its exchange declares."""
    title: str = ""
    """A name in reports that replaces the usual one."""
    contains: list[str] = field(default_factory=list)
    """Texts that its reply must have."""
    lacks: list[str] = field(default_factory=list)
    """Texts that its reply must not have."""
    equals: dict[str, Any] = field(default_factory=dict)
    """Values that its reply must have, by JSON pointer."""
    other_reply: RecordedReply | None = None
    """The reply to the same request in a second recording."""

    def texts(self) -> Iterator[Text]:
        """All texts that may have variables."""
        yield self.path
        yield from (text for _, text in self.headers)
        yield self.body
        yield from (part.text for part in self.parts)

    @property
    def variables(self) -> list[Variable]:
        """The variables that the step sends, without repetition."""
        variables = (piece for text in self.texts() for piece in text if isinstance(piece, Variable))
        return list(dict.fromkeys(variables))

    @property
    def status(self) -> int | None:
        """The recorded status, as it is without a cache; None without a reply, and of a WebSocket."""
        reply = self.exchange.reply
        if self.exchange.expected_status is not None:
            return self.exchange.expected_status
        if self.exchange.socket is not None:
            return None
        return None if reply is None else 200 if reply.status == 304 else reply.status

    @property
    def name(self) -> str:
        """Its name in reports: that of a person, of an operation of GraphQL, or the path without its query."""
        if self.title or self.exchange.name:
            return self.title or self.exchange.name
        operation = graphql_operation(self.exchange)
        if operation is not None and operation.name:
            return operation.name
        return plain(self.path, lambda variable: f"{{{variable.name}}}").partition("?")[0]


@dataclass(frozen=True, slots=True)
class DraftTarget:
    """Where requests go."""

    url: str
    """scheme://host[:port]"""
    connection: Connection


@dataclass(slots=True)
class ScenarioDraft:
    """What users do."""

    sources: tuple[str, ...]
    """Names of the files that it is made of."""
    targets: list[DraftTarget]
    steps: list[DraftStep]
    secrets: dict[str, str] = field(default_factory=dict)
    """Values that are not written into the scenario, by the name of their variable."""
    data: dict[str, list[str]] = field(default_factory=dict)
    """Values that the person chose, by the name of their variable: one of each recording."""
    samples: dict[str, str] = field(default_factory=dict)
    """The recorded value of each variable, by its name."""
    notes: list[str] = field(default_factory=list)
    """What the sources say and the scenario does not do."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many requests of the sources are no steps, by reason."""
    cookies: bool = False
    """Users keep cookies."""
    weights: dict[str, float] = field(default_factory=dict)
    """How often each flow is chosen, by name; empty: all steps are one flow. Steps of a flow follow each other."""

    @property
    def flows(self) -> list[tuple[str, list[DraftStep]]]:
        """Name and steps of each flow; "" is the name of the only one."""
        if not self.weights:
            return [("", self.steps)]
        groups = groupby(self.steps, key=lambda step: step.exchange.flow)
        return [(name, [*steps]) for name, steps in groups]

    @property
    def taken(self) -> int:
        """How many values its steps take from replies."""
        return sum(len(step.extracts) for step in self.steps)

    def credentials_in(self, file: str) -> list[str]:
        """Names of the variables in a file beside the scenario that are credentials."""
        if ".secrets." in file:
            return [*self.secrets]
        return [name for name in self.data if is_secret_field(name)] if ".people." in file else []


def plain(text: Text, name: Callable[[Variable], str]) -> str:
    """The text with something in place of each variable."""
    return "".join(piece if isinstance(piece, str) else name(piece) for piece in text)


def csv_of(columns: Mapping[str, Sequence[str]]) -> bytes:
    """A feeder file with these columns, all of the same length."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def merged(pieces: list[str | Variable]) -> Text:
    """The pieces as a text: no empty strings, no two strings beside each other."""
    text: list[str | Variable] = []
    for piece in pieces:
        if isinstance(piece, str) and text and isinstance(text[-1], str):
            text[-1] += piece
        elif piece:
            text.append(piece)
    return tuple(text)


def unused(name: str, names: Container[str]) -> str:
    """The name, with a number if it is one of these."""
    numbered = (name, *(f"{name}_{number}" for number in range(2, 10_000)))
    return next(candidate for candidate in numbered if candidate not in names)
