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

from plimsoll.load.table import one_or_more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.json_schema import JsonSchemaValue

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(table: type[BaseModel], title: str) -> dict[str, Any]:
    """Of a file whose outermost table this is."""
    schema = table.model_json_schema(schema_generator=_TomlSchema)
    schema["title"] = title
    known = _tables()
    for name, each in schema.get("$defs", {}).items():
        if each.get("title") == name:
            del each["title"]
        _describe(each, known[name])
    _describe(schema, table)
    return {"$schema": DIALECT, **schema}


class _TomlSchema(GenerateJsonSchema):
    """TOML has no null, and most values may be written in a shorter way as well."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        is_plain = isinstance(schema.get("default"), bool | int | float | str)
        return super().default_schema(schema) if is_plain else self.generate_inner(schema["schema"])

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


def _tables() -> dict[str, type[BaseModel]]:
    """All that there are, by the name of their class."""
    found: dict[str, type[BaseModel]] = {}
    waiting: list[type[BaseModel]] = [BaseModel]
    while waiting:
        below = waiting.pop().__subclasses__()
        found |= {each.__name__: each for each in below}
        waiting += below
    return found


def _describe(schema: dict[str, Any], table: type[BaseModel]) -> None:
    """Fills in what the docstrings say."""
    schema["description"] = inspect.cleandoc(table.__doc__ or "").replace("\n", " ")
    inner = next((each for each in schema.get("anyOf", ()) if "properties" in each), schema)
    if inner is not schema and "additionalProperties" in schema:
        # What it forbids are names besides those that stand with it.
        inner["additionalProperties"] = schema.pop("additionalProperties")
    texts = descriptions(table)
    for name, field in inner.get("properties", {}).items():
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
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield field.target.id, " ".join(str(text.value.value).split())
