"""Types in a JSON document: those of a reply are compared with those of the recording, at each path.

Elements of a list share a path: `$.items[].price`. A key that an element does not have, null and an empty list or
object are no difference. Each check is a JSONPath that has a value only if nothing at the path has another type.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonType = Literal["string", "number", "boolean", "list", "object"]
DEEPEST_TYPE = 8
"""Levels of lists and objects that are compared."""
MOST_PATHS = 60
"""Paths of one document that are compared, in its order."""
MOST_ELEMENTS = 200
"""Elements of one list that are looked at."""
ELEMENT = None
"""A part of a path that stands for each element of a list; other parts are keys."""
_FIRST_NUMBER = 1_000
"""Of the checks; the message of a check that fails has its number twice."""
_NUMBER = re.compile(r"\b([0-9]{4,6})\s*==\s*\1\b")
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_A: dict[JsonType, str] = {
    "string": "a string", "number": "a number", "boolean": "a boolean", "list": "a list", "object": "an object",
}  # fmt: skip
Path = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class TypeCheck:
    """Nothing at a path has this type."""

    path: Path
    recorded: tuple[JsonType, ...]
    """Those that the recordings have there; empty: the document itself must have something in it."""
    other: JsonType
    number: int

    @property
    def jsonpath(self) -> str:
        """It has a value if the check holds, and the document is not empty."""
        mark = f"{self.number}=={self.number}"
        return f"$[?@!=null && {mark}{f' && !{_having(self.path, self.other)}' if self.recorded else ''}]"

    @property
    def difference(self) -> str:
        """What a reply has for which the check does not hold."""
        if not self.recorded:
            return "$ was a list with elements, is now empty"
        return (
            f"{shown_path(self.path)} was {listed([_A[kind] for kind in self.recorded], 'or')}, is now {_A[self.other]}"
        )


def type_checks(document: Any, other: Any) -> list[TypeCheck]:
    """What a reply is checked for. other: the document of the same reply in a second recording, or the same one."""
    types: dict[Path, dict[JsonType, None]] = {}
    for seen in (document, other):
        for path, kind in _walked(seen):
            if path in types or len(types) < MOST_PATHS:
                types.setdefault(path, {})[kind] = None
    checks: list[TypeCheck] = []
    if isinstance(document, list) and document and isinstance(other, list) and other and types:
        checks.append(TypeCheck((), (), "list", _FIRST_NUMBER))
    if isinstance(document, list) and not checks:
        # Without elements there is nothing that a check could be true of.
        return []
    for path, kinds in types.items():
        for kind in _A:
            if kind not in kinds:
                checks.append(TypeCheck(path, tuple(kinds), kind, _FIRST_NUMBER + 1 + len(checks)))
    return checks


def difference_in(message: str, document: Any, other: Any) -> str:
    """What a failed check says in a message; "" if the message is of something else."""
    match = _NUMBER.search(message)
    if match is None:
        return ""
    if message.endswith("the body is not JSON"):
        return "its body is not JSON"
    failed = (check.difference for check in type_checks(document, other) if check.number == int(match[1]))
    return next(failed, "")


def shown_path(path: Path) -> str:
    """As people write it: $.items[].price."""
    return f"${''.join(map(_shown, path))}"


def _shown(part: str | None) -> str:
    if part is ELEMENT:
        return "[]"
    return f".{part}" if _BARE.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"


def _walked(document: Any) -> Iterator[tuple[Path, JsonType]]:
    """Paths with the types of what is there, in the order of the document. The document itself has none."""
    stack: list[tuple[Path, Any]] = [((), document)]
    while stack:
        path, item = stack.pop()
        if path and (kind := _type_of(item)) is not None:
            yield path, kind
        if len(path) >= DEEPEST_TYPE:
            continue
        if isinstance(item, dict):
            stack += reversed([((*path, key), child) for key, child in islice(item.items(), MOST_PATHS)])
        elif isinstance(item, list):
            stack += reversed([((*path, ELEMENT), child) for child in item[:MOST_ELEMENTS]])


def _type_of(value: Any) -> JsonType | None:
    """None: null, and what may be any list or object because it is empty."""
    match value:
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "list" if value else None
        case dict():
            return "object" if value else None
    return None


def _having(path: Path, kind: JsonType) -> str:
    """An expression of JSONPath: something at the path has this type."""
    if ELEMENT not in path:
        return f"({_is('$' + _keys(path), kind)})"
    last = len(path) - 1 - path[::-1].index(ELEMENT)
    before = "".join("[*]" if part is ELEMENT else _keys((part,)) for part in path[:last])
    return f"${before}[?{_is('@' + _keys(path[last + 1 :]), kind)}]"


def _is(value: str, kind: JsonType) -> str:
    """An expression of JSONPath: a value has this type. Values of two types are not compared, so this is false."""
    match kind:
        case "string":
            return f'{value}>=""'
        case "number":
            return f"{value}>=0 || {value}<0"
        case "boolean":
            return f"{value}==true || {value}==false"
        case "list":
            return f"{value}[0]"
        case "object":
            return f"{value}[*] && !{value}[0]"


def _keys(path: Path) -> str:
    """Keys of JSONPath, each in quotes."""
    return "".join(f"[{json.dumps(part)}]" for part in path)
