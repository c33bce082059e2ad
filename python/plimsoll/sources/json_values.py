"""The texts and numbers of a JSON document, with the pointer of each (RFC 6901)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonObject = dict[str, Any]
"""An object in a document of another program: any field may be missing, and any value of another type."""
DEEPEST_JSON = 200
"""Levels of lists and objects; values that are deeper are not looked at."""
SCRIPT_KEYS = re.compile(r"""(?:\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[["']([^"']+)["']\])""")
"""A key or an index as scripts write it: .key, [0] or ["key"]."""


def document_of(body: bytes | None) -> Any:
    """The list or object in a body; None if it has none."""
    if not body or body.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def leaves_of(document: Any) -> dict[str, list[str]]:
    """The pointers of each text and number, by value."""
    leaves: dict[str, list[str]] = {}
    for pointer, item in _walked(document):
        if isinstance(item, str) or (isinstance(item, int | float) and not isinstance(item, bool)):
            leaves.setdefault(item if isinstance(item, str) else json.dumps(item), []).append(pointer)
    return leaves


def value_of(document: Any, pointer: str) -> Any:
    """The value at a pointer; None if there is none."""
    for part in pointer.split("/")[1:]:
        key = pointer_key(part)
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document


def pointer_part(key: str) -> str:
    """A key as part of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def pointer_key(part: str) -> str:
    """The key that a part of a pointer stands for."""
    return part.replace("~1", "/").replace("~0", "~")


def script_pointer(text: str) -> str:
    """The pointer of the keys in an expression of a script: .a[0]["b"] is /a/0/b."""
    return "".join(f"/{key or index or quoted}" for key, index, quoted in SCRIPT_KEYS.findall(text))


def object_of(value: Any) -> JsonObject:
    """The object; an empty one for another value."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[JsonObject]:
    """The objects in a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _walked(document: Any) -> Iterator[tuple[str, Any]]:
    """In the order of the document, without recursion."""
    stack: list[tuple[str, Any, int]] = [("", document, 0)]
    while stack:
        pointer, item, depth = stack.pop()
        if depth > DEEPEST_JSON:
            continue
        if isinstance(item, dict):
            stack += [(f"{pointer}/{pointer_part(key)}", child, depth + 1) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(f"{pointer}/{n}", item[n], depth + 1) for n in reversed(range(len(item)))]
        else:
            yield pointer, item
