"""What is known of a run is read by fields: only `record/` knows the keys of its JSON, and migrations old ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2] / "python" / "plimsoll"
READERS_OF_KEYS = ("record/", "store/migrations/")
ANY_DICTIONARY = re.compile(r"\b(?:dict|Mapping)\[str, (?:Any|object)\]")
MOST_DICTIONARIES = 594
"""Annotations of dictionaries with any values in the package. The number only shrinks."""


def sources() -> dict[str, str]:
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def reads_by_key(source: str) -> Iterator[int]:
    """Lines that read a manifest, or the facts of a run, by a text. The facts of a trial are its experiment's data."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(value=read, slice=ast.Constant(value=str())):
                pass
            case ast.Call(func=ast.Attribute(value=read, attr="get"), args=[ast.Constant(value=str()), *_]):
                pass
            case _:
                continue
        match read:
            case ast.Name(id="manifest") | ast.Attribute(attr="manifest"):
                yield node.lineno
            case ast.Attribute(value=ast.Name(id=owner), attr="facts") if owner != "trial":
                yield node.lineno


def test_no_module_reads_a_manifest_or_facts_by_key() -> None:
    found = [
        f"{path}:{line}"
        for path, source in sources().items()
        if not path.startswith(READERS_OF_KEYS)
        for line in reads_by_key(source)
    ]
    assert found == []


def test_a_read_by_key_is_found() -> None:
    read = (
        'run.manifest["host"]\nmanifest.get("host")\nself.facts.get("lost")\ntrial.facts["rows"]\nrun.manifest.host\n'
    )
    assert list(reads_by_key(read)) == [1, 2, 3]


def test_dictionaries_with_any_values_become_fewer() -> None:
    count = sum(len(ANY_DICTIONARY.findall(source)) for source in sources().values())
    assert count <= MOST_DICTIONARIES, "use a dataclass"
