"""Base of all tables of a plan, and types of their fields."""

from __future__ import annotations

from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from plimsoll.load.bodies import fixed_text, header_name, header_value, json_template, json_value
from plimsoll.load.durations import parse_duration, parse_length
from plimsoll.load.file_access import checked
from plimsoll.load.levels import LoadLevel, parse_level, parse_rate, parse_step, parse_users
from plimsoll.load.mistakes import BadValueError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable


class TomlTable(BaseModel):
    """A table of a plan: nothing unknown in it, nothing guessed, no text that was meant as a number."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    @classmethod
    def field_names(cls) -> list[str]:
        """The names of all fields in the file."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    def value(self, name: str) -> Any:
        """Of the field with this name in the file."""
        return getattr(self, f"{name}_" if name == "json" or iskeyword(name) else name)

    def given(self, names: Iterable[str]) -> list[str]:
        """Those of these fields that have a value, by their names in the file."""
        return [name for name in names if self.value(name) is not None]


def one_or_more(value: Any) -> Any:
    """`[phase]` is short for a single `[[phase]]`, and `contains = "a"` for `["a"]`."""
    return value if isinstance(value, list) else [value]


SeveralTexts = Annotated[list[str], BeforeValidator(one_or_more)]


def folder_of(info: ValidationInfo) -> Path:
    """The base of relative paths: the folder of the plan."""
    folder: Path = info.context["folder"] if info.context else Path()
    return folder


def existing_file(value: Any, info: ValidationInfo) -> Path:
    """A readable file; relative to the folder of the plan. Raises UsageError."""
    if not isinstance(value, str) or not value:
        raise BadValueError(f"{shown(value)} is not the path of a file")
    path = checked(folder_of(info) / Path(value).expanduser())
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise BadValueError(f"cannot read {path}: {error.strerror}") from error


FILE_SCHEMA = WithJsonSchema({"type": "string", "minLength": 1, "title": "file"})
ExistingFile = Annotated[Path, PlainValidator(existing_file), FILE_SCHEMA]


def existing_folder(value: Any, info: ValidationInfo) -> Path:
    """A folder; relative to that of the plan. Raises UsageError."""
    if not isinstance(value, str) or not value:
        raise BadValueError(f"{shown(value)} is not the path of a folder")
    path = checked(folder_of(info) / Path(value).expanduser())
    if not path.is_dir():
        raise BadValueError(f"{path} is not a folder")
    return path


Folder = Annotated[
    Path, PlainValidator(existing_folder), WithJsonSchema({"type": "string", "minLength": 1, "title": "folder"})
]

# Not in `durations`, which reports read: pydantic is slow to import.
_TIME = WithJsonSchema({"type": ["string", "number"], "title": "time", "examples": ["200ms", "10s", "1m30s", 2]})
Duration = Annotated[float, PlainValidator(parse_duration), _TIME]
"""Seconds, >= 0."""
Length = Annotated[float, PlainValidator(parse_length), _TIME]
"""Seconds, > 0."""


_LEVEL_SCHEMA = WithJsonSchema({"type": ["string", "number"], "title": "level", "examples": ["900/s", 50]})
RATE_SCHEMA = WithJsonSchema({"type": ["string", "number"], "title": "rate", "examples": ["900/s", "54000/m", 900]})
USERS_SCHEMA = WithJsonSchema({"type": ["integer", "string"], "title": "users", "examples": [50]})
StepValue = Annotated[LoadLevel, PlainValidator(parse_step), _LEVEL_SCHEMA]
LevelValue = Annotated[LoadLevel, PlainValidator(parse_level), _LEVEL_SCHEMA]
RateValue = Annotated[LoadLevel, PlainValidator(lambda value: LoadLevel(parse_rate(value), True)), RATE_SCHEMA]
UsersValue = Annotated[
    LoadLevel, PlainValidator(lambda value: LoadLevel(float(parse_users(value)), False)), USERS_SCHEMA
]
JsonBody = Annotated[str, PlainValidator(json_template), WithJsonSchema({"title": "JSON"})]
JsonValue = Annotated[Any, PlainValidator(json_value), WithJsonSchema({"title": "JSON"})]
FixedText = Annotated[str, AfterValidator(fixed_text)]
HeaderName = Annotated[str, BeforeValidator(lambda name: header_name(name) if isinstance(name, str) else name)]
HeaderValues = Annotated[
    list[Annotated[str, BeforeValidator(lambda value: header_value(value) if isinstance(value, str) else value)]],
    BeforeValidator(one_or_more),
]
HeadersTable = dict[HeaderName, HeaderValues]
"""Values by name; a list for a header that is sent several times."""
