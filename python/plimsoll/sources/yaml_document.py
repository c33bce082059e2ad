"""YAML as JSON: texts, numbers, true, false, null, lists and objects with texts as keys.

Nothing but the standard types is made. A document whose aliases stand for more than it has itself is refused.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError

LONGEST_YAML = 32 << 20
"""Characters; a longer text is refused."""
MOST_NODES = 5_000_000
"""Values of a document in which each alias counts as what it stands for."""
DEEPEST_YAML = 200
"""Lists and objects within each other."""
INSTALL = f"{pip_install('yaml')}, or convert the file to JSON"
_BOOL, _TIME = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"


def yaml_document(name: str, text: str) -> Any:
    """The value of a document. name: of the file, in messages. Raises UsageError with line and column, and without the
    library that reads YAML."""
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        raise UsageError(f"{name}: is YAML, which needs a library: {INSTALL}") from error
    if len(text) > LONGEST_YAML:
        raise UsageError(f"{name}: longer than {LONGEST_YAML >> 20} MiB of YAML; convert it to JSON")
    try:
        value = yaml.load(text, _loader(yaml))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise UsageError(f"{name}{place}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise UsageError(f"{name}: not YAML that can be read: {str(error).splitlines()[0]}") from error
    return _Plain(name).of(value)


def _loader(yaml: Any) -> Any:
    """A loader with the types of JSON: dates stay texts, and only true and false are truth values. libyaml limits how
    deep lists and objects are within each other; Python limits it for the loader without it."""

    class PlainLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    PlainLoader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL, _TIME)]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    PlainLoader.add_implicit_resolver(_BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
    return PlainLoader


class _Plain:
    """Makes plain values, each of which is written once, and counts what aliases stand for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._made: dict[int, tuple[Any, int]] = {}
        """Value and number of nodes, by the identity of a list or an object."""
        self._open: set[int] = set()

    def of(self, value: Any) -> Any:
        return self._of(value, 0)[0]

    def _of(self, value: Any, depth: int) -> tuple[Any, int]:
        if not isinstance(value, dict | list | tuple | set):
            return (value if isinstance(value, str | int | float) or value is None else str(value)), 1
        if (known := self._made.get(id(value))) is not None:
            return known
        if id(value) in self._open or depth > DEEPEST_YAML:
            why = "an alias stands for what it is in" if id(value) in self._open else "too many levels"
            raise UsageError(f"{self._name}: not YAML that can be read: {why}")
        self._open.add(id(value))
        if isinstance(value, dict):
            pairs = [(str(key), self._of(item, depth + 1)) for key, item in value.items()]
            made: Any = {key: item for key, (item, _) in pairs}
            nodes = 1 + sum(number for _, (_, number) in pairs)
        else:
            items = [self._of(item, depth + 1) for item in value]
            made, nodes = [item for item, _ in items], 1 + sum(number for _, number in items)
        self._open.discard(id(value))
        if nodes > MOST_NODES:
            raise UsageError(f"{self._name}: its aliases stand for more than {MOST_NODES:,} values")
        self._made[id(value)] = made, nodes
        return made, nodes
