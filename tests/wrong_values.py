"""Documents of TOML files in which one value is of another type than it should be."""

from __future__ import annotations

import copy
import json
import math
import types
import typing
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRONG: tuple[Any, ...] = (
    True, 2**200, math.nan, date(2026, 1, 1), "", "\0", [[200, 201]], [{}], {}, {"x": {"x": [1]}}, {"json": [[]]},
)  # fmt: skip
MORE: tuple[Any, ...] = (
    0, -1, 2**63, 1.5, math.inf, "x", "${x}", "\u202e", [], [[]], [True, "a", 1.5], {"": []}, [{"x": [{"x": "x"}]}],
)  # fmt: skip

PathOfField = tuple[str | int, ...]


def changed(document: dict[str, Any]) -> Iterator[tuple[PathOfField, dict[str, Any]]]:
    """The document with each of its values, tables and lists replaced by each wrong value, and by more of them."""
    for path in _paths(document):
        for wrong in (*WRONG, *MORE):
            yield path, _with(document, path, wrong)


def with_each_field(document: dict[str, Any], model: type[BaseModel]) -> Iterator[tuple[PathOfField, dict[str, Any]]]:
    """The document with each field that the model knows, at any depth, set to each wrong value."""
    for path in dict.fromkeys(_fields(model)):
        for wrong in WRONG:
            yield path, _with(document, path, wrong)


def to_toml(document: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in document.items())


def write_toml(file: Path, document: dict[str, Any]) -> None:
    file.write_text(to_toml(document))


def _paths(value: Any, path: PathOfField = ()) -> Iterator[PathOfField]:
    if path:
        yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from _paths(inner, (*path, step))


def _fields(model: type[BaseModel], path: PathOfField = (), above: tuple[type, ...] = ()) -> Iterator[PathOfField]:
    for name, field in model.model_fields.items():
        here = (*path, field.alias or name)
        yield here
        for table, is_list, is_named in _tables(field.annotation):
            if table not in above:
                inner = (*here, 0) if is_list else (*here, "name") if is_named else here
                yield from _fields(table, inner, (*above, table))


def _tables(annotation: Any) -> Iterator[tuple[type[BaseModel], bool, bool]]:
    """The models in an annotation, and whether they are in a list or have a name."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        if issubclass(annotation, BaseModel):
            yield annotation, False, False
        return
    origin = typing.get_origin(annotation)
    for argument in typing.get_args(annotation):
        for table, is_list, is_named in _tables(argument):
            yield table, is_list or origin is list, is_named or origin is dict


def _with(document: dict[str, Any], path: PathOfField, value: Any) -> dict[str, Any]:
    found = copy.deepcopy(document)
    here: Any = found
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(here, list):
            if step == len(here):
                here.append(empty)
        elif not isinstance(here.get(step), type(empty)):
            here[step] = empty
        here = here[step]
    if isinstance(here, list) and path[-1] == len(here):
        here.append(value)
    else:
        here[path[-1]] = copy.deepcopy(value)
    return found


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return str(value) if isinstance(value, date) else json.dumps(value)
