"""Every sentence and every form of a number is in `say`: statistics have values with an id."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(plimsoll.__file__).parent
WORDS = re.compile(r"[a-zA-Z]{2,},? [a-z]{2,}")
FORMS = {"ms", "percent", "number", "count", "counted", "listed", "several", "seconds", "duration", "quantity"}
NAMES = {"rows at the end", "rows at the start", "this machine", "token by chunk", "each token"}
"""Names in data: facts of a target, its machine, rows of streams."""
MACHINE_FORMS = {
    "experiment/target.py:_number", "outputs/exposition.py:_number", "report/render/run_junit.py:_seconds",
}  # fmt: skip
"""Numbers that programs read: in a command's arguments, in Prometheus' text format, in an attribute of JUnit's XML."""


def parsed(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text())


def texts(node: ast.AST) -> Iterator[str]:
    """String literals that may be shown: no docstrings, no messages of errors, no members of a Literal."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise | ast.Assert) or (isinstance(child, ast.Expr) and is_text(child.value)):
            continue
        if isinstance(child, ast.FunctionDef) and child.returns and ast.unparse(child.returns).endswith("Error"):
            continue
        if isinstance(child, ast.Subscript) and ast.unparse(child.value) == "Literal":
            continue
        if isinstance(child, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in child.values)
            for part in child.values:
                yield from () if is_text(part) else texts(part)
            continue
        if is_text(child):
            yield child.value  # type: ignore[attr-defined]
        yield from texts(child)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def ids(trees: dict[str, ast.Module]) -> set[str]:
    """The members of all Literals: words with a meaning, which `say` has the words for."""
    found = set()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                found |= {part.value for part in ast.walk(node.slice) if is_text(part)}  # type: ignore[attr-defined]
    return found


def test_statistics_have_no_sentences() -> None:
    trees = dict(parsed(PACKAGE / "stats"))
    known = ids(trees) | NAMES
    found = {
        path for path, tree in trees.items() if any(WORDS.search(text) and text not in known for text in texts(tree))
    }
    assert found == set(), "a sentence is made in say/"


def test_each_form_of_a_number_is_made_once() -> None:
    found = {
        f"{path}:{node.name}"
        for path, tree in parsed(PACKAGE)
        if not path.startswith("say/")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_") in FORMS
        if node.returns is not None and ast.unparse(node.returns) == "str"
    }
    assert found - MACHINE_FORMS == set(), "forms of numbers are made in say/"
    assert MACHINE_FORMS - found == set(), "these are gone: leave them out of the list"


def test_a_sentence_is_seen() -> None:
    tree = ast.parse(
        '"""A docstring here."""\nraise ValueError("so many words")\nx = f"{y} arrivals were {z} dropped"\n'
    )
    assert [text for text in texts(tree) if WORDS.search(text)] == ["… arrivals were … dropped"]
