"""Frozen dataclasses as JSON objects and back: how everything that a store knows of a run is read and written.

A store is data: another version may have written it, a file may be damaged, or changed by hand. So a missing key has
the default of its field, a key without a field is kept, and a value of another type is an error that names its key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Reader = Callable[[Any], Any]

MOST_SHOWN = 40
"""Characters of a wrong value in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonObject:
    """A dataclass whose fields are the keys of a JSON object, in their order."""

    WRITES_NULL: ClassVar[bool] = True
    """Whether a field that is None is written, as null."""

    origin: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """The JSON that this was read from, with keys that another version wrote; None for a value that was made here."""

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Raises ValueError, naming the key, for a value of another type than its field."""
        try:
            return cls.read(value)
        except ValueError as error:
            raise ValueError(f"{cls.__name__}{error}") from error

    @classmethod
    def read(cls, value: object) -> Self:
        """The same for an object within another one: the message begins with what follows the name of its key."""
        if not isinstance(value, dict):
            raise _mismatch("object", value)
        values = {}
        for name, reader in _readers(cls).items():
            given = value.get(name)
            if given is not None:
                try:
                    values[name] = reader(given)
                except ValueError as error:
                    raise ValueError(f".{name}{error}") from error
        return cls(**values, origin=value)

    def to_json(self) -> dict[str, Any]:
        """What it was read from; else its fields. A changed copy (`dataclasses.replace`) has its fields, and the keys
        without a field that the original had."""
        origin = self.origin or {}
        if self.origin is not None and self.read(origin) == self:
            return origin
        names = _readers(type(self))
        plain = {name: _plain(getattr(self, name)) for name in names}
        written = plain if self.WRITES_NULL else {name: value for name, value in plain.items() if value is not None}
        return {**written, **{key: value for key, value in origin.items() if key not in names}}


_READERS: dict[type[JsonObject], Mapping[str, Reader]] = {}
"""The readers of the fields of a class, by name. A class is added when it is first read or written."""


def _readers(kind: type[JsonObject]) -> Mapping[str, Reader]:
    if (readers := _READERS.get(kind)) is None:
        hints = get_type_hints(kind)
        readers = {field_.name: _reader(hints[field_.name]) for field_ in fields(kind) if field_.name != "origin"}
        _READERS[kind] = readers
    return readers


def _reader(hint: Any) -> Reader:
    """Reads a value that is not null."""
    kind, arguments = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return _reader(next(argument for argument in arguments if argument is not NoneType))
    if kind is Literal:
        return lambda value: value if value in arguments else _refuse(" or ".join(map(repr, arguments)), value)
    if kind is tuple and arguments[-1] is Ellipsis:
        return _elements(_reader(arguments[0]))
    if kind is tuple:
        return _places([_reader(argument) for argument in arguments])
    if kind is dict:
        return _values(_reader(arguments[1]))
    if hint in _PLAIN:
        return _PLAIN[hint]
    return hint.read  # type: ignore[no-any-return]


def _elements(reader: Reader) -> Reader:
    return lambda value: tuple(map(reader, value)) if isinstance(value, list | tuple) else _refuse("list", value)


def _places(readers: list[Reader]) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise _mismatch(f"list of {len(readers)}", value)
        return tuple(reader(element) for reader, element in zip(readers, value, strict=True))

    return read


def _values(reader: Reader) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise _mismatch("object", value)
        return {name: reader(element) for name, element in value.items()}

    return read


def _number(value: object) -> object:
    """Accepts a whole number, too. It stays an integer, so that it is written as it was read."""
    if type(value) not in (float, int) or not math.isfinite(value):  # type: ignore[arg-type]
        raise _mismatch("number", value)
    return value


def _of_type(kind: type, name: str) -> Reader:
    return lambda value: value if type(value) is kind else _refuse(name, value)


_PLAIN: dict[Any, Reader] = {
    Any: lambda value: value,
    str: _of_type(str, "text"),
    int: _of_type(int, "whole number"),
    bool: _of_type(bool, "true or false"),
    float: _number,
}


def _plain(value: Any) -> Any:
    if isinstance(value, JsonObject):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(element) for element in value]
    if isinstance(value, dict):
        return {name: _plain(element) for name, element in value.items()}
    return value


def _refuse(kind: str, value: object) -> object:
    raise _mismatch(kind, value)


def _mismatch(kind: str, value: object) -> ValueError:
    text = repr(value)
    return ValueError(f" is no {kind}: {text if len(text) <= MOST_SHOWN else f'{text[:MOST_SHOWN]}…'}")
