"""Which options a locustfile adds to the command line, read from its source without importing it.

The coordinator needs to know before any worker has imported the file: an option of Plimsoll's own that Locust has not
(`--seed`, `--rate`, …) is the locustfile's where that has one of this name.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EVENT = "init_command_line_parser"

MANY = 200
"""Most files that are looked at beside the locustfiles; nobody keeps options in the rest of a whole repository."""


@dataclass(frozen=True, slots=True)
class LocustfileOptions:
    """Spelt with their dashes."""

    options: frozenset[str] = frozenset()
    secret: frozenset[str] = frozenset()
    """Those whose value must not be written down."""
    appending: frozenset[str] = frozenset()
    """Those that are given once per value."""


def find_locustfile_options(locustfiles: Sequence[str | Path]) -> LocustfileOptions:
    """What the files give to `add_argument`, and the modules beside and below them that they import, or that listen for
    the parser. Other programs may stand there, too, whose options are none of a run's.
    """
    options: set[str] = set()
    secret: set[str] = set()
    appending: set[str] = set()
    for call in _calls(_sources(locustfiles)):
        names = {each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        options |= {name for name in names if name.startswith("-")}
        if any(each.arg == "is_secret" and _is_true(each.value) for each in call.keywords):
            secret |= names
        settings = {each.arg: each.value for each in call.keywords}
        action = settings.get("action")
        if isinstance(action, ast.Constant) and action.value == "append" and "nargs" not in settings:
            appending |= names
    return LocustfileOptions(frozenset(options), frozenset(secret), frozenset(appending))


def _sources(locustfiles: Sequence[str | Path]) -> Iterator[str]:
    files = [Path(each) for each in locustfiles]
    own = [text for each in files if (text := _read(each))]
    yield from own
    others: list[Path] = []
    for folder in dict.fromkeys(each.parent for each in files):
        others += sorted(folder.glob("*.py")) + sorted(folder.glob("*/*.py"))
    for path in [each for each in dict.fromkeys(others) if each not in files][:MANY]:
        text = _read(path)
        if text and (EVENT in text or any(_imports(each, path.stem) for each in own)):
            yield text


def _read(path: Path) -> str:
    """Its text; nothing if it cannot be read."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _imports(text: str, module: str) -> bool:
    return re.search(rf"^\s*(?:from|import)\s[^#\n]*\b{re.escape(module)}\b", text, re.MULTILINE) is not None


def _calls(sources: Iterable[str]) -> Iterator[ast.Call]:
    for text in sources:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            # The worker that imports it reports the line.
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
                yield node


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)
