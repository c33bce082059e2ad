"""The values of a request: segments of its path, parameters, fields of forms, leaves of JSON, headers, parts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_plus

from plimsoll.sources.draft import Variable, merged
from plimsoll.sources.json_values import DEEPEST_JSON, pointer_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.sources.draft import DraftStep, Text

_FIRST_MARK = 0x100000
"""A private character of Unicode stands for each variable while a text is searched."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_WORD = re.compile(r"%[0-9A-Fa-f]{2}|\\(?:u[0-9A-Fa-f]{4}|.)|([A-Za-z0-9_-]+)")
"""A word, or a character that is escaped in a URL or in JSON."""
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey) (?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestValue:
    """One value that a request sends."""

    field: str
    """path, body, header NAME or part N."""
    start: int
    end: int
    """Its characters in the field, where each variable is one character."""
    value: str
    """Without its encoding."""
    label: str
    """What it is called: a parameter, a field, a key, a header; of a segment of a path the segment before it."""
    place: str
    """Where it is, the same in two recordings of one flow."""


def request_values(step: DraftStep) -> list[RequestValue]:
    """All values of a step that are no variables yet."""
    values = [*_path_values(flat(step.path))]
    for name, text in step.headers:
        whole = flat(text)
        start = match.end() if (match := _SCHEME.match(whole)) else 0
        values.append(RequestValue(f"header {name}", start, len(whole), whole[start:], name, f"header {name}"))
    body = flat(step.body)
    if step.kind == "form":
        values += _pairs(body, 0, "body", "form field")
    elif step.kind == "json":
        values += _json_values(body)
    for number, part in enumerate(step.parts):
        field = flat(part.text)
        values.append(RequestValue(f"part {number}", 0, len(field), field, part.name, f"part {part.name}"))
    return [value for value in values if value.value and not any(map(_is_mark, value.value))]


def with_variables(step: DraftStep, replacements: Iterable[tuple[RequestValue, Variable]]) -> None:
    """Put each variable in the place of its value. The values are those of `request_values`, of one call."""
    by_field: dict[str, list[tuple[RequestValue, Variable]]] = {}
    for value, variable in replacements:
        by_field.setdefault(value.field, []).append((value, variable))
    for field, changes in by_field.items():
        if field == "path":
            step.path = _changed(step.path, changes)
        elif field == "body":
            step.body = _changed(step.body, changes)
        elif field.startswith("header "):
            name = field.removeprefix("header ")
            step.headers = [(key, _changed(text, changes) if key == name else text) for key, text in step.headers]
        else:
            number = int(field.removeprefix("part "))
            step.parts[number] = replace(step.parts[number], text=_changed(step.parts[number].text, changes))


def words_of(value: RequestValue, step: DraftStep) -> tuple[str, list[RequestValue]]:
    """The words and numbers in a value, in order, and its text with \\0 in place of each: of /orders/7?a=b they are
    orders, 7, a and b. A character that is escaped is in no word."""
    whole = flat(dict(_fields(step))[value.field])[value.start : value.end]
    words: list[RequestValue] = []
    for match in _WORD.finditer(whole):
        if match[1]:
            start, end = (value.start + offset for offset in match.span())
            place = f"{value.place}, word {len(words) + 1}"
            words.append(replace(value, start=start, end=end, value=match[1], place=place))
    return _WORD.sub(lambda match: "\0" if match[1] else match[0], whole), words


def _fields(step: DraftStep) -> Iterator[tuple[str, Text]]:
    yield "path", step.path
    yield "body", step.body
    yield from ((f"header {name}", text) for name, text in step.headers)
    yield from ((f"part {number}", part.text) for number, part in enumerate(step.parts))


def flat(text: Text) -> str:
    """The text with one private character in place of each variable."""
    return "".join(piece if isinstance(piece, str) else chr(_FIRST_MARK + n) for n, piece in enumerate(text))


def variable_of(character: str, text: Text) -> Variable | None:
    """The variable for which a character of the flat text stands."""
    number = ord(character) - _FIRST_MARK
    piece = text[number] if 0 <= number < len(text) else ""
    return piece if isinstance(piece, Variable) else None


def _is_mark(character: str) -> bool:
    return ord(character) >= _FIRST_MARK


def _changed(text: Text, changes: list[tuple[RequestValue, Variable]]) -> Text:
    whole = flat(text)
    pieces: list[str | Variable] = []
    position = 0
    for value, variable in sorted(changes, key=lambda change: change[0].start):
        pieces += [*_restored(whole[position : value.start], text), variable]
        position = value.end
    return merged([*pieces, *_restored(whole[position:], text)])


def _restored(part: str, text: Text) -> Iterator[str | Variable]:
    for character in part:
        yield variable_of(character, text) or character


def _path_values(path: str) -> Iterator[RequestValue]:
    route, mark, _ = path.partition("?")
    position, before = 0, ""
    for number, segment in enumerate(route.split("/")):
        if segment:
            yield RequestValue(
                "path", position, position + len(segment), unquote(segment), before, f"path segment {number}"
            )
        before = segment
        position += len(segment) + 1
    if mark:
        yield from _pairs(path, len(route) + 1, "path", "parameter")


def _pairs(text: str, start: int, field: str, kind: str) -> Iterator[RequestValue]:
    """name=value&name=value from `start` on."""
    seen: dict[str, int] = {}
    for pair in text[start:].split("&"):
        name, equals, value = pair.partition("=")
        label = unquote_plus(name)
        seen[label] = number = seen.get(label, 0) + 1
        if equals:
            begin = start + len(name) + 1
            again = f" {number}" if number > 1 else ""
            yield RequestValue(field, begin, begin + len(value), unquote_plus(value), label, f"{kind} {label}{again}")
        start += len(pair) + 1


def _json_values(text: str) -> Iterator[RequestValue]:
    """The leaves of a JSON document, which is known to be one."""
    stack: list[tuple[str, str | int]] = []
    """For each level its bracket, and the key or the index where the scan is."""
    awaits_key = False
    for token in _TOKEN.finditer(text):
        said = token[0]
        if said in "[{":
            stack.append((said, 0 if said == "[" else ""))
            awaits_key = said == "{"
            if len(stack) > DEEPEST_JSON:
                return
        elif said in "]}":
            stack.pop()
            awaits_key = False
        elif said == ",":
            if stack and (key := stack[-1][1]) is not None:
                stack[-1] = (stack[-1][0], key + 1 if isinstance(key, int) else key)
                awaits_key = stack[-1][0] == "{"
        elif said == ":":
            awaits_key = False
        elif awaits_key and stack:
            stack[-1] = ("{", str(json.loads(said)))
        elif said not in ("true", "false", "null"):
            is_text = said.startswith('"')
            value = str(json.loads(said)) if is_text else said
            quotes = 1 if is_text else 0
            pointer = "".join(f"/{pointer_part(str(key))}" for _, key in stack)
            label = next((key for _, key in reversed(stack) if isinstance(key, str)), "")
            start, end = token.start() + quotes, token.end() - quotes
            yield RequestValue("body", start, end, value, label, f"JSON {pointer or 'value'}")
