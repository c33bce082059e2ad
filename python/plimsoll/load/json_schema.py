"""JSON Schema of the files that people write, for editors: made from the tables that read them.

A field's description is the docstring below it, so a schema is made from the sources of the tables.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from plimsoll.load.shapes import SHAPES
from plimsoll.load.table import one_or_more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.json_schema import JsonSchemaValue

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Fields = dict[str, Any]


def json_schema(table: type[BaseModel], title: str) -> dict[str, Any]:
    """Of a file whose outermost table this is."""
    schema = table.model_json_schema(schema_generator=_TomlSchema)
    schema["title"] = title
    for name, each in {table.__name__: schema, **schema.get("$defs", {})}.items():
        _describe(each, _tables(table)[name])
    return {"$schema": DIALECT, **schema}


class _TomlSchema(GenerateJsonSchema):
    """TOML has no null, and most values may be written in a shorter way as well."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().default_schema(schema)
        return {name: value for name, value in made.items() if (name, value) != ("default", None)}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def function_before_schema(self, schema: Any) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        function = schema["function"]["function"]
        if function is one_or_more:
            return {"anyOf": [inner["items"], inner]} if "items" in inner else inner
        # The others take the short form of a table: a text.
        return {"anyOf": [{"type": "string"}, inner]} if getattr(function, "__name__", "") in _SHORT else inner


_SHORT = ("_text", "_as_path")


def _tables(table: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """All tables that there are, by the name of their class."""
    found = {table.__name__: table, **{each.__name__: each for each in SHAPES.values() if issubclass(each, BaseModel)}}
    waiting = [BaseModel]
    while waiting:
        below = waiting.pop().__subclasses__()
        found |= {each.__name__: each for each in below}
        waiting += below
    return found


def _describe(schema: dict[str, Any], table: type[BaseModel]) -> None:
    """Fills in what the docstrings say."""
    schema.pop("title", None) if "properties" in schema else None
    schema["description"] = inspect.cleandoc(table.__doc__ or "").replace("\n", " ")
    texts = descriptions(table)
    for name, field in schema.get("properties", {}).items():
        if text := texts.get(name):
            field["description"] = text


def descriptions(table: type[BaseModel]) -> dict[str, str]:
    """What is said of each field, by its name in the file; those of the classes above it, too."""
    found: dict[str, str] = {}
    for each in reversed(table.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= dict(_docstrings(each))
    names = {name: field.alias or name for name, field in table.model_fields.items()}
    return {names[name]: text for name, text in found.items() if name in names}


def _docstrings(table: type[BaseModel]) -> Iterator[tuple[str, str]]:
    try:
        source = textwrap.dedent(inspect.getsource(table))
    except (OSError, TypeError):  # made while the program runs
        return
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, text in zip(body.body, body.body[1:], strict=False):
        is_field = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if is_field and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield field.target.id, " ".join(str(text.value.value).split())
