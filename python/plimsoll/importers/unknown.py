"""What a file is that no importer knows: its error is about the file, not about tables."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.importers.result_file import ResultFile

KNOWN = "not a result that Plimsoll knows; `plimsoll import --help` lists them"
_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV"),
    (b"SQLite format 3\x00", "an SQLite database: export its requests as CSV"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it"),
    (b"BZh", "compressed by bzip2: unpack it"),
    (b"\xfd7zXZ\x00", "compressed by xz: unpack it"),
    (b"%PDF", "a PDF: copy its tables into a text file"),
    (b"\x89PNG", "a picture: type its numbers into a table"),
)
_VEGETA = b"Result"
"""The name of a type near the beginning of vegeta's own encoding."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_ROOT = re.compile(
    r"\s*(?P<prolog><\?xml[^>]{0,200}\?>)?\s*(?P<type><!doctype[^>]{0,500}>)?\s*<(?P<name>[a-z][\w:.-]{0,60})",
    re.IGNORECASE,
)
_MOST_KEYS = 8
_LONGEST_KEY = 40
"""Characters."""


def binary(source: ResultFile) -> str:
    """What a file is that is no text; "" for text."""
    head = source.head
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return f"is {what}"
    if source.encoding == "utf-16" or not _CONTROL.search(head):
        return ""
    if _VEGETA in head[:64]:
        return "is binary, as vegeta's own results are: `vegeta encode FILE > results.json` writes them as text"
    return f"is a binary file: {KNOWN}"


def described(source: ResultFile) -> str:
    """What a text is that has no table; "" for prose."""
    text = source.text().strip()
    if not text:
        return "is empty"
    if text[0] in "{[":
        what = _json(text)
    elif text[0] == "<":
        what = _markup(text)
    else:
        return ""
    return f"is {what}: {KNOWN}" if what else ""


def _json(text: str) -> str:
    try:
        document = json.loads(text)
    except RecursionError:
        return "JSON that is nested too deeply"
    except json.JSONDecodeError as error:
        return _json_lines(text, error)
    except ValueError:  # an integer of more than 4,300 digits
        return "JSON with a number that is too long"
    if isinstance(document, dict):
        return f"a JSON object with {_keys(document)}" if document else "an empty JSON object"
    if document and isinstance(document[0], dict):
        return f"a JSON array of objects with {_keys(document[0])}"
    return "a JSON array" if document else "an empty JSON array"


def _json_lines(text: str, whole: json.JSONDecodeError) -> str:
    """JSON objects in lines, or one that is damaged: what begins with a brace and a key is no prose. whole: why the
    text is no JSON."""
    try:
        document = json.loads(text.partition("\n")[0])
    except (RecursionError, ValueError):
        return f"damaged JSON ({whole.msg} in line {whole.lineno})" if re.match(r'\{\s*"', text) else ""
    return f"JSON objects in lines, with {_keys(document)}" if isinstance(document, dict) else ""


def _keys(keys: Iterable[str]) -> str:
    names = [one_line(key)[:_LONGEST_KEY] for key in keys]
    more = len(names) - _MOST_KEYS
    shown = [*names[:_MOST_KEYS], f"{more} more"] if more > 0 else names
    return f"the key{'s' * (len(names) != 1)} {listed(shown)}" if names else "no keys"


def _markup(text: str) -> str:
    root = _ROOT.match(text)
    if root is None:
        return ""
    name = root["name"]
    if name.lower() == "html":
        return "an HTML page"
    # Markdown may begin with a tag, too.
    if root["prolog"] or root["type"] or text.endswith(f"</{name}>"):
        return f"XML with the root element <{name}>"
    return ""
