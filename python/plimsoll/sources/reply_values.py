"""Where a value stands in a reply: a place from which a plan or a locustfile can take it again."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll.sources.content.encodings import claims_in, encoded_in, undone
from plimsoll.sources.json_values import pointer_key, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.load.step_model import Decoding
    from plimsoll.sources.exchange import RecordedReply

PlaceKind = Literal["json", "regex", "header", "cookie"]
MOST_OCCURRENCES = 40
"""Places of one value in one text that are looked at."""
_SHORTEST_CONTEXT, _LONGEST_CONTEXT = 4, 60
"""Characters before a value by which it is found."""
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')""")
_NAMING = ("name", "id", "property", "data-name", "rel", "class")
"""Attributes that say which element it is, the best first."""
_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//[^/?#]*", re.IGNORECASE)
"""The beginning of an absolute URL: scheme and host."""
_NO_ORIGIN = frozenset((
    "set-cookie", "date", "expires", "last-modified", "content-length", "content-type", "server", "connection",
    "cache-control", "vary", "content-encoding", "transfer-encoding", "location", "keep-alive", "age",
))  # fmt: skip
"""Headers of replies from which no request takes a value."""


@dataclass(frozen=True, slots=True)
class ReplyPlace:
    """A place in a reply."""

    kind: PlaceKind
    what: str
    """As in `ReplyValue`."""
    label: str
    """What the value is called there: a key, a field, a header, a cookie."""
    part: str = ""
    """Of a header: a regular expression with one group for the part of it; "" for the whole value."""
    decode: tuple[Decoding, ...] = ()
    """How the text there becomes the value, the outermost encoding first."""
    within: str = ""
    """A regular expression with one group for the part of the decoded text; "" for all of it."""

    @property
    def is_redirect(self) -> bool:
        """Whether it is a part of the URL that a reply leads to."""
        return self.kind == "header" and self.what.lower() == "location"

    @property
    def is_in_list(self) -> bool:
        """Whether it is at a position of a list in JSON."""
        return self.kind == "json" and any(part.isdigit() for part in self.what.split("/"))

    @property
    def owner(self) -> str:
        """The key of the object in JSON that has the value; "" without one."""
        keys = [part for part in self.what.split("/")[1:-1] if not part.isdigit()]
        return pointer_key(keys[-1]) if self.kind == "json" and keys else ""


def places_of(reply: RecordedReply, value: str) -> Iterator[ReplyPlace]:
    """The places at which a reply has exactly this value as it is, the most robust ones first."""
    yield from _json_places(reply, value)
    for name, text in reply.headers:
        if text == value and name.lower() not in _NO_ORIGIN:
            yield ReplyPlace("header", name, name)
    for name, text in cookies_of(reply):
        if text == value:
            yield ReplyPlace("cookie", name, name)
    yield from _header_parts(reply, value)
    for pattern, label in _patterns(reply.text, value):
        yield ReplyPlace("regex", pattern, label)


def encoded_places_of(reply: RecordedReply, value: str) -> Iterator[ReplyPlace]:
    """The places at which a reply has this value in an encoding. The texts there have the value once they are
    decoded."""
    for name, text in cookies_of(reply):
        for raw, decoding in encoded_in(text, value):
            if raw == text:
                yield ReplyPlace("cookie", name, name, decode=(decoding,))
    for raw, decoding in encoded_in(reply.searched, value):
        yield from (replace(place, decode=(decoding,)) for place in places_of(reply, raw))
    for token, within, name in claims_in(reply.searched, value):
        for place in places_of(reply, token):
            yield replace(place, decode=("jwt",), within=within, label=name)


def _header_parts(reply: RecordedReply, value: str) -> Iterator[ReplyPlace]:
    """Parts of the URL that a reply leads to, and of other headers, such as Link."""
    for name, text in reply.headers:
        lower = name.lower()
        if lower == "location":
            authority = _AUTHORITY.match(text)
            for pattern, label in _patterns(text, value, authority.end() if authority else 0):
                yield ReplyPlace("header", "Location", label, pattern)
        elif lower not in _NO_ORIGIN and text != value:
            for pattern, label in _patterns(text, value):
                yield ReplyPlace("header", name, label, pattern)


def value_at(reply: RecordedReply | None, place: ReplyPlace) -> str | None:
    """The value that a reply has at a place; None if it has none there."""
    text = None if reply is None else _text_at(reply, place)
    for decoding in place.decode:
        text = None if text is None else undone(text, decoding)
    return text if text is None or not place.within else _first_group(place.within, text)


def _text_at(reply: RecordedReply, place: ReplyPlace) -> str | None:
    """The text at a place, as the reply has it."""
    match place.kind:
        case "json":
            return _at_pointer(reply, place.what)
        case "header":
            text = reply.header(place.what)
            return _first_group(place.part, text) if place.part else text or None
        case "cookie":
            return next((text for name, text in reversed(cookies_of(reply)) if name == place.what), None)
        case "regex":
            return _first_group(place.what, reply.text)


def _first_group(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text)
    return match[1] if match else None


def cookies_of(reply: RecordedReply) -> list[tuple[str, str]]:
    """Names and values of the cookies that a reply sets."""
    lines = (line for name, text in reply.headers if name.lower() == "set-cookie" for line in text.split("\n"))
    pairs = (line.partition(";")[0].partition("=") for line in lines)
    return [(name.strip(), text.strip()) for name, _, text in pairs]


def _json_places(reply: RecordedReply, value: str) -> Iterator[ReplyPlace]:
    for pointer in reply.leaves.get(value, ())[:MOST_OCCURRENCES]:
        keys = [key for key in pointer.split("/")[1:] if not key.isdigit()]
        yield ReplyPlace("json", pointer, keys[-1] if keys else "value")


def _at_pointer(reply: RecordedReply, pointer: str) -> str | None:
    item = value_of(reply.document, pointer)
    if item is None or isinstance(item, dict | list | bool):
        return None
    return item if isinstance(item, str) else json.dumps(item)


def _patterns(text: str, value: str, begin: int = 0) -> Iterator[tuple[str, str]]:
    """Regular expressions whose first match in the text has this value as its group, each with a label. begin: where
    the search for the value begins; a number may be a part of an address before it."""
    # A number is found as a whole: 7 is not in 17, and not in x7.
    whole = rf"(?<![^\W_]){value}(?![^\W_])" if value.isdigit() else re.escape(value)
    starts = [begin + match.start() for match in itertools.islice(re.finditer(whole, text[begin:]), MOST_OCCURRENCES)]
    # What an element is called stays. The text before a value may be another one each time.
    for patterns_at in (_by_attribute, _by_context):
        for start in starts:
            for pattern, label in patterns_at(text, start, value):
                match = re.search(pattern, text)
                if match is not None and match[1] == value:
                    yield pattern, label
                    break


def _by_attribute(text: str, start: int, value: str) -> Iterator[tuple[str, str]]:
    """By the name of the element: `name="csrf"[^>]*?value="([^"]*)"`."""
    begin, end = text.rfind("<", 0, start), text.find(">", start)
    if begin < 0 or end < 0 or ">" in text[begin:start]:
        return
    attributes = [(match[1], match[2], begin + match.start(2)) for match in _ATTRIBUTE.finditer(text[begin:end])]
    own = next((item for item in attributes if item[2] + 1 == start and item[1][1:-1] == value), None)
    if own is None:
        return
    quotes = own[1][0]
    group = f"{escaped(own[0])}={quotes}([^{quotes}]*){quotes}"
    for naming in _NAMING:
        other = next((item for item in attributes if item[0].lower() == naming and item is not own), None)
        if other is not None:
            said = f"{escaped(other[0])}={escaped(other[1])}"
            pattern = f"{said}[^>]*?{group}" if other[2] < own[2] else f"{group}[^>]*?{said}"
            yield pattern, other[1][1:-1]


def _by_context(text: str, start: int, value: str) -> Iterator[tuple[str, str]]:
    """By the characters before it and the one behind it."""
    end = start + len(value)
    behind = text[end : end + 1]
    if value.isdigit() and value.isascii() and not behind.isdigit():
        group = "([0-9]+)"
    elif behind == "/" and not re.search(r"[/\"'<>\s]", value):
        # A link may end where the value begins: <a href="/items/"> is before <a href="/items/7/edit">.
        group = r"""([^/"'<>\s]+)"""
    elif behind and not behind.isalnum() and behind not in value:
        group = f"([^{_in_class(behind)}]+)"
    elif not behind and not re.search(r"[&\"'<>\s]", value):
        group = r"([^&\"'<>\s]+)"
    else:
        return
    line = text.rfind("\n", 0, start) + 1
    for begin in range(start - _SHORTEST_CONTEXT, max(line, start - _LONGEST_CONTEXT) - 1, -1):
        before = text[begin:start]
        # From the beginning of a word on, so that a person can read it.
        if begin == line or (text[begin].isalnum() and not text[begin - 1].isalnum()):
            names = re.findall(r"[A-Za-z_][\w-]*", before)
            yield f"{escaped(before)}{group}", names[-1] if names else "value"


def escaped(text: str) -> str:
    """Escapes a text for a regular expression, as both Python and the engine read it."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def _in_class(character: str) -> str:
    return "\\" + character if character in "\\]^[" else "\\s" if character.isspace() else character
