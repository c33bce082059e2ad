"""Messages for every error of a file, by field and line, with the fix."""

from __future__ import annotations

import re
import typing
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from plimsoll.errors import UsageError
from plimsoll.load.mistakes import BadValueError, Complaint, nearest, shown
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from plimsoll.load.toml_file import Places

_MARK = re.compile(r"\[(key|\w+Step)\]")
"""Parts of a location that are not in the file: the name of an entry, and which of several tables a step is."""
MOST = 10
"""Maximum number shown at once."""


def complain(file: str, found: Iterable[Complaint], places: Places) -> UsageError:
    """All errors in the order of the file, one per line."""
    placed = sorted(
        {
            (places.line(complaint.path), places.written(complaint.path), _one_line(complaint.message))
            for complaint in found
        }
    )
    shown_ones = [
        f"{file}:{line}: {path}: {message}" if path else f"{file}:{line}: {message}" for line, path, message in placed
    ]
    if len(shown_ones) > MOST:
        rest = len(shown_ones) - MOST
        shown_ones[MOST:] = [f"{file}: and {rest} more mistake{'s' * (rest > 1)}"]
    return UsageError("\n".join(shown_ones))


def _one_line(message: str) -> str:
    """Without the lines that only point at text in the line above."""
    return " ".join(line.strip() for line in message.splitlines() if line.strip(" ^"))


def complaints(error: ValidationError, model: type[BaseModel]) -> list[Complaint]:
    """pydantic's errors in our words. model: of the file."""
    return [_complaint(detail, model) for detail in error.errors(include_url=False)]


def tag_of(model: type[BaseModel]) -> str:
    """How the location of an error names one of several tables that a field may hold."""
    return f"[{model.__name__}]"


def _complaint(error: ErrorDetails, model: type[BaseModel]) -> Complaint:
    location = error["loc"]
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not _MARK.fullmatch(part):
            path += f".{part}" if path else part
    reason = (error.get("ctx") or {}).get("error")
    if isinstance(reason, BadValueError):
        field = f".{reason.field}" if path and reason.field else reason.field
        return Complaint(path + field, str(reason))
    if error["type"] == "extra_forbidden":
        return Complaint(path, _unknown(location, model))
    words = _WORDS.get(error["type"])
    return Complaint(path, words(error) if words else f"{error['msg'].lower()}, not {shown(error['input'])}")


def _must_be(what: str) -> Callable[[ErrorDetails], str]:
    return lambda error: f"must be {what}, not {shown(error['input'])}"


def _choice(error: ErrorDetails) -> str:
    return f"must be {str(error['ctx']['expected']).replace(chr(39), chr(34))}, not {shown(error['input'])}"


def _too_short(error: ErrorDetails) -> str:
    least, length = error["ctx"]["min_length"], error["ctx"]["actual_length"]
    return "must not be empty" if least < 2 else f"must have at least {least} values, not {length}"


_WORDS: dict[str, Callable[[ErrorDetails], str]] = {
    "missing": lambda error: "is missing",
    "string_type": _must_be("text in quotes"),
    "int_type": _must_be("a whole number"),
    "float_type": _must_be("a number"),
    "finite_number": _must_be("a finite number"),
    "bool_type": _must_be("true or false"),
    "list_type": _must_be("a list"),
    "dict_type": _must_be("a table"),
    "model_type": _must_be("a table"),
    "model_attributes_type": _must_be("a table"),
    "string_too_short": lambda error: "must not be empty",
    "too_short": _too_short,
    "greater_than": lambda error: f"must be greater than {error['ctx']['gt']:g}, not {shown(error['input'])}",
    "greater_than_equal": lambda error: f"must be at least {error['ctx']['ge']}, not {shown(error['input'])}",
    "less_than_equal": lambda error: f"must be at most {error['ctx']['le']:.16g}, not {shown(error['input'])}",
    "literal_error": _choice,
}


def _unknown(location: Sequence[int | str], model: type[BaseModel]) -> str:
    """For an unknown field: the name that was meant, or the table it belongs to."""
    name = str(location[-1])
    known = _fields(_table_at(location[:-1], model))
    elsewhere = _home_of(name, model) if name not in known else None
    if meant := nearest(name, known):
        return f"is not a known field; did you mean {meant}?"
    if len(location) > 1 and name in _fields(model):
        return "belongs at the top of the file, before the first [table]"
    if elsewhere:
        return f"belongs in {elsewhere}"
    return f"is not a known field; there are {listed(known)}"


def _home_of(name: str, model: type[BaseModel]) -> str | None:
    for field, table in model.model_fields.items():
        if any(name in _fields(inner) for inner in _tables_in(table.annotation)):
            return _heading(field, table.annotation)
    return None


def _heading(field: str, annotation: Any) -> str:
    """A table's TOML heading: single, one of several, or with a name."""
    if typing.get_origin(annotation) is dict:
        return f"[{field}.NAME]"
    return f"[[{field}]]" if typing.get_origin(annotation) is list else f"[{field}]"


def _fields(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _table_at(location: Sequence[int | str], model: type[BaseModel]) -> type[BaseModel]:
    """The model of the table at this location in the document."""
    tables = [model]
    for part in location:
        fields = {field.alias or name: field for name, field in tables[0].model_fields.items()}
        if part in fields:
            tables = list(_tables_in(fields[str(part)].annotation)) or tables
        else:
            tables = [table for table in tables if tag_of(table) == part] or tables
    return tables[0]


def _tables_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for argument in typing.get_args(annotation):
        yield from _tables_in(argument)
