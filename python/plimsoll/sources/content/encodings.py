"""Encodings in which replies have values: HTML entities, URLs, JSON escapes, base64, claims of a JWT, another case.

Each can be undone by a plan (`decode`) and by a locustfile.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from plimsoll.sources.exchange import percent_encoded
from plimsoll.sources.json_values import document_of, leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.load.step_model import Decoding

_JWT = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*")
_NAMES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_OF_CHARACTERS: tuple[Decoding, ...] = ("html", "url", "json")
_CASES: tuple[Decoding, ...] = ("upper", "lower")
_ESCAPED = frozenset('/"\\')
MOST_TOKENS = 20
"""JWTs of one reply that are looked into."""
_LONGEST_VALUE = 4_000
"""Characters of a value that is looked for in an encoding."""


def undone(text: str, decoding: Decoding) -> str | None:
    """The text without an encoding, as the engine undoes it; None if it has not this encoding."""
    try:
        match decoding:
            case "html":
                return html.unescape(text)
            case "url":
                return unquote(text, errors="strict")
            case "json":
                return str(json.loads(f'"{text}"'))
            case "base64":
                return _from_base64(text)
            case "jwt":
                return _from_base64(text.split(".")[1])
            case "lower":
                return text.lower()
            case "upper":
                return text.upper()
    except (ValueError, IndexError, RecursionError):
        return None


def encoded_in(text: str, value: str) -> Iterator[tuple[str, Decoding]]:
    """The encoded forms of a value that a text has, each with how to undo it."""
    if len(value) > _LONGEST_VALUE:
        return
    special = {character for character in value if not (character.isascii() and character.isalnum())}
    if special and _has_plain_parts(text, value):
        for decoding in _OF_CHARACTERS:
            match = re.search("".join(_any_form(character, decoding) for character in value), text)
            if match and match[0] != value:
                yield match[0], decoding
    padded = base64.b64encode(value.encode()).decode()
    for form in (padded, padded.translate(str.maketrans("+/", "-_"))):
        if form.rstrip("=") in text:
            yield (form if form in text else form.rstrip("=")), "base64"
            break
    for other, decoding in zip((value.lower(), value.upper()), _CASES, strict=True):
        if other != value and undone(other, decoding) == value and other in text:
            yield other, decoding


def claims_in(text: str, value: str) -> Iterator[tuple[str, str, str]]:
    """The JWTs in a text that have a claim with this value: the token, a regular expression for the claim in its
    payload, and the name of the claim."""
    for token in dict.fromkeys(_JWT.findall(text)[:MOST_TOKENS]):
        payload = undone(token, "jwt")
        for pointer in leaves_of(document_of((payload or "").encode())).get(value, ())[:1]:
            name = pointer.split("/")[-1]
            if re.fullmatch(r"[\w:.-]+", name):
                escaped_name = name.replace(".", r"\.")
                yield token, rf'"{escaped_name}"\s*:\s*"?([^",}}]+)', name


def _has_plain_parts(text: str, value: str) -> bool:
    """Whether a text has the longest part of the value that no encoding changes: a cheap question before a dear one."""
    return max(re.findall(r"[A-Za-z0-9]+", value), key=len, default="") in text


def _any_form(character: str, decoding: Decoding) -> str:
    """A regular expression for a character as it is or encoded."""
    if character.isascii() and character.isalnum():
        return character
    code, own = ord(character), re.escape(character)
    match decoding:
        case "html":
            name = f"|&{_NAMES[character]};" if character in _NAMES else ""
            return rf"(?:&#0*{code};|&#[xX]0*(?i:{code:x});{name}|{own})"
        case "url":
            return f"(?:(?i:{percent_encoded(character)})|{own})"
        case _:
            escape = rf"|\\{own}" if character in _ESCAPED else ""
            return rf"(?:\\u(?i:{code:04x}){escape}|{own})" if code < 0x10000 else own


def _from_base64(text: str) -> str:
    """Of either alphabet, with or without padding. Raises ValueError."""
    plain = text.strip().rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except binascii.Error as error:
        raise ValueError(str(error)) from error
