"""What a source of scenarios says: requests in order, with their replies if the source has them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from plimsoll.sources.json_values import document_of, leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterable

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
"""Those that plans and clients of users have a word for."""
_WORD = re.compile(r"[A-Za-z0-9]{4,}")
_DISPOSITION = re.compile(rb'\b(name|filename)="((?:[^"\\]|\\.)*)"')
_TYPE = re.compile(rb"^content-type:\s*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[nrtbf]")
Headers = tuple[tuple[str, str], ...]
"""Names and values, in the order in which they were sent."""


@dataclass(frozen=True, slots=True)
class FormPart:
    """One part of a multipart/form-data body."""

    name: str
    content: bytes
    filename: str | None = None
    """None: the part is a plain field."""
    content_type: str | None = None
    """None: the part has no Content-Type."""


@dataclass(frozen=True)
class RecordedReply:
    """The reply to a recorded request. What is read of its body is read once."""

    status: int
    """100 to 599."""
    headers: Headers = ()
    body: bytes | None = None
    """Without content coding; None: the recording does not have it."""

    def header(self, name: str) -> str:
        """The first value of this header, in any case of its letters; "" without one."""
        return first_value(self.headers, name)

    @property
    def content_type(self) -> str:
        """The media type without parameters, in small letters; "" if there is none."""
        return media_type(self.header("content-type"))

    @cached_property
    def text(self) -> str:
        """The body as text; "" if the recording does not have it."""
        return (self.body or b"").decode("utf-8", "replace")

    @cached_property
    def document(self) -> Any:
        """The body as JSON, if it is a list or an object; else None."""
        return document_of(self.body)

    @cached_property
    def leaves(self) -> dict[str, list[str]]:
        """The pointers of each text and number of a reply in JSON, by value."""
        return leaves_of(self.document)

    @cached_property
    def words(self) -> frozenset[str]:
        """Letters and digits that stand together in headers and body, at least four of them."""
        return frozenset((*_WORD.findall(self.searched), *_WORD.findall(_ESCAPE.sub(" ", self.searched))))

    @cached_property
    def searched(self) -> str:
        """Body and headers as one text."""
        return "\n".join((self.text, *(value for _, value in self.headers)))


@dataclass(frozen=True, slots=True)
class Connection:
    """How a request reaches its host."""

    verify: bool | str = True
    """Whether certificates are checked, or the PEM file to check them against."""
    certificate: str | None = None
    """The PEM file of the client's own certificate."""
    key: str | None = None
    """The PEM file of its key; None: the certificate's file has it."""
    proxy: str | None = None
    """The URL of an HTTP proxy."""
    http2: bool = False
    """Requests are HTTP/2."""


@dataclass(frozen=True, slots=True)
class DeclaredValue:
    """A value that a source itself takes from a reply, under a name by which later requests send it: {{name}}."""

    name: str
    kind: Literal["json", "regex", "header", "cookie"]
    what: str
    """A JSON pointer, a regular expression with one group for the body, or the name of a header or of a cookie."""


@dataclass(frozen=True, slots=True)
class DeclaredAuth:
    """How a source says who sends a request, if plans do it anew for each: a field of their `auth`."""

    kind: Literal["oauth2", "aws_sigv4", "digest"]
    fields: tuple[tuple[str, str], ...]
    """Names, as plans have them, and values; of digest the user and the password."""


SocketAction = Literal["connect", "send", "receive", "close"]


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request, as it was sent or as it would be sent, and its reply if there was one."""

    method: str
    url: str
    """With scheme and host, without fragment and without user and password."""
    headers: Headers = ()
    body: bytes | None = None
    """None: the request has none, or its body is in `parts` or `body_file`."""
    parts: tuple[FormPart, ...] = ()
    """Of a multipart/form-data body."""
    body_file: str | None = None
    """The path of a file that is the body."""
    reply: RecordedReply | None = None
    """None: the source has no replies, or none came."""
    start: float | None = None
    """Seconds since the first request of the source; None: unknown."""
    sent_at: float | None = None
    """The time of day when it was sent, Unix seconds; None: unknown."""
    duration: float | None = None
    """Seconds from the request to the end of its reply; None: unknown."""
    page: str = ""
    """The page that caused the request; "" if that is unknown."""
    kind: str = ""
    """What a browser requested it as: document, xhr, image, …; "" if that is unknown."""
    name: str = ""
    """The name that a person gave to it; "" without one."""
    extracts: tuple[DeclaredValue, ...] = ()
    """What the source says that later requests need of its reply."""
    credentials: frozenset[str] = frozenset()
    """Names of headers and of parameters whose values are credentials, as the source says."""
    auth: DeclaredAuth | None = None
    """None: its headers say who sends it, or nothing does."""
    expected_status: int | None = None
    """The status that the source itself expects; None: it does not say."""
    expected_texts: tuple[str, ...] = ()
    """Texts of its reply that the source itself expects."""
    think: float | None = None
    """Seconds of pause after it, as the source says; None: it does not say."""
    timeout: float | None = None
    """Seconds that the whole request may take; None: no limit."""
    connection: Connection = Connection()
    socket: SocketAction | None = None
    """What it does with a WebSocket; None: it is a request of HTTP."""
    receives: Literal["reply", "next"] = "next"
    """Whether a message that is received answers the last one that was sent."""
    protocols: tuple[str, ...] = ()
    """Subprotocols that it offers when it opens a WebSocket."""
    flow: str = ""
    """The name of the flow that it is a step of; "" if the source has one flow."""
    where: str = ""
    """Its place in the source: file:line, or file and number."""

    def header(self, name: str) -> str:
        """The first value of this header, in any case of its letters; "" without one."""
        return first_value(self.headers, name)


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything that one source has."""

    name: str
    """The name of its file."""
    exchanges: tuple[RecordedExchange, ...]
    notes: tuple[str, ...] = ()
    """What the source says and Plimsoll does not do, each with its place."""
    of_browser: bool = False
    """A browser sent these requests, so some of their headers are the browser's own."""
    has_placeholders: bool = False
    """{{name}} in its texts is a variable that an earlier reply gives."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many requests are left out, by reason."""
    has_cookies: bool = False
    """The source says that users keep cookies."""
    data: dict[str, list[str]] = field(default_factory=dict)
    """Values of variables in rows, by name: each iteration takes a row."""
    weights: dict[str, float] = field(default_factory=dict)
    """How often each flow is chosen, by name, in their order; empty if the source has one flow."""


def first_value(headers: Iterable[tuple[str, str]], name: str) -> str:
    """The first value of a header; "" without one."""
    return next((value for key, value in headers if key.lower() == name.lower()), "")


def longest_word(text: str) -> str:
    """The longest of its words, as `RecordedReply.words` has them; "" without one."""
    return max(_WORD.findall(text), key=len, default="")


def media_type(content_type: str) -> str:
    """The type of a Content-Type, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def url_parts(reference: str, base: str = "") -> SplitResult:
    """The parts of a URL. reference: as in Location, relative to `base`; all parts of a broken one are empty."""
    try:
        return urlsplit(urljoin(base, reference))
    except ValueError:
        return SplitResult("", "", "", "", "")


def percent_encoded(text: str) -> str:
    """The text as a part of a path, a query or a form: everything but letters, digits and -._~ is encoded."""
    return quote(text, safe="", errors="replace")


def parts_of(body: bytes, content_type: str) -> tuple[FormPart, ...]:
    """The parts of a body with this Content-Type; none if it is not multipart/form-data."""
    match = re.search(r'boundary="?([^";,\s]+)', content_type)
    if match is None or "form-data" not in content_type:
        return ()
    parts = []
    for piece in body.split(b"--" + match[1].encode())[1:-1]:
        head, _, content = piece.lstrip(b"\r\n").partition(b"\r\n\r\n")
        names = {name.decode(): value.decode("utf-8", "replace") for name, value in _DISPOSITION.findall(head)}
        kind = _TYPE.search(head)
        parts.append(
            FormPart(
                names.get("name", ""), content.removesuffix(b"\r\n"), names.get("filename"),
                kind[1].decode("latin-1").strip() if kind else None,
            )
        )  # fmt: skip
    return tuple(parts)
