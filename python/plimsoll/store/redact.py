"""What may be written down: no passwords, and only text that every database takes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

MASK = "***"

# The user information of a URL goes up to the last "@" before the path. Anything that ends a URL's authority ends it,
# and so do white space and quotes, because URLs are found inside of messages and command lines too.
_USERINFO = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.\-]{0,30})://(?P<userinfo>[^/?#\s\"'<>]*)@")

_SECRET_OPTION = re.compile(r"passw|secret|token|credential|api-?_?key|private-?_?key", re.IGNORECASE)


def redact_url(text: str) -> str:
    """The text with the password of every URL in it masked.

    An HTTP URL with a user but no password is taken to carry a token in the user's place, which is masked as well.
    """
    return _USERINFO.sub(_mask, text) if "://" in text else text


def redact_options(words: Sequence[str], secret: Container[str] = ()) -> list[str]:
    """A command line with the values of options masked that are secret, or called like something that is; also within
    words that are JSON.

    secret: options with their dashes.
    """
    plain: list[str] = []
    hide = False
    for word in words:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            plain.append(MASK if hide else _redact_json(word))
            continue
        hide = option in secret or bool(_SECRET_OPTION.search(option))
        plain.append(f"{option}={MASK if hide else _redact_json(value)}" if equals else word)
        hide = hide and not equals
    return plain


def redact_values(value: Any) -> Any:
    """JSON in which what is called like something secret is masked: {"password": "***"}."""
    match value:
        case dict():
            return {
                name: MASK if _SECRET_OPTION.search(str(name)) else redact_values(each) for name, each in value.items()
            }
        case list() | tuple():
            return [redact_values(each) for each in value]
        case _:
            return value


def _redact_json(word: str) -> str:
    """The same for a word of a command line; other words, and those without secrets, stay as they are."""
    if not word.lstrip().startswith(("{", "[")):
        return word
    try:
        value = json.loads(word)
    except ValueError:
        return word
    plain = redact_values(value)
    return word if plain == value else json.dumps(plain, ensure_ascii=False)


def storable(text: str) -> str:
    """The text redacted, and without the code points that a database refuses (NUL, lone surrogates)."""
    return redact_url(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: Any) -> Any:
    """The same for every string of a JSON value."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(key)): storable_json(each) for key, each in value.items()}
        case list() | tuple():
            return [storable_json(each) for each in value]
        case _:
            return value


def _mask(found: re.Match[str]) -> str:
    scheme, userinfo = found["scheme"], found["userinfo"]
    user, _, password = userinfo.partition(":")
    if password:
        return f"{scheme}://{user}:{MASK}@"
    if userinfo and scheme.lower() in ("http", "https"):
        return f"{scheme}://{MASK}@"
    return found[0]
