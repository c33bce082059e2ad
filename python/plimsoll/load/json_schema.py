"""JSON Schema of files that people write, for editors, made from the tables that read them; and of documents that
Plimsoll writes, made from the return types of the functions that write them.

A field's description is the docstring below it, so a schema is made from the sources of these classes.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from plimsoll.load.table import one_or_more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.json_schema import JsonSchemaValue

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(table: type[BaseModel], title: str) -> dict[str, Any]:
    """The schema of a file with this outermost table."""
    schema = table.model_json_schema(schema_generator=_TomlSchema)
    schema["title"] = title
    known = _tables()
    for name, each in schema.get("$defs", {}).items():
        if each.get("title") == name:
            del each["title"]
        _describe(each, known[name])
    _describe(schema, table)
    return {"$schema": DIALECT, **schema}


def document_schema(fields: type, title: str) -> dict[str, Any]:
    """The schema of a document of this dataclass. Its parts are in the same module, or beside those of them that are
    imported there."""
    schema = TypeAdapter(fields).json_schema(schema_generator=_DocumentSchema, mode="serialization")
    parts = [member for member in vars(sys.modules[fields.__module__]).values() if is_dataclass(member)]
    known = {name: member for part in parts for name, member in vars(sys.modules[part.__module__]).items()}
    for name, definition in {**schema["$defs"], fields.__name__: schema}.items():
        definition.pop("title", None)
        definition["description"] = inspect.cleandoc(known[name].__doc__ or "").replace("\n", " ")
        texts = {key: text for above in reversed(known[name].__mro__) for key, text in _docstrings(above)}
        for field, value in definition["properties"].items():
            if field in texts:
                value["description"] = texts[field]
    return {"$schema": DIALECT, "title": title, **schema}


class _DocumentSchema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _TomlSchema(GenerateJsonSchema):
    """TOML has no null, and most values also have a shorter notation."""

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
        short = _SHORT.get(getattr(function, "__name__", ""))
        return {"anyOf": [{"type": short}, inner]} if short else inner


_SHORT = {"_text": "string", "_as_path": "string", "_number": "integer"}
"""The short form of a table, by the function that accepts it."""


def _tables() -> dict[str, type[BaseModel]]:
    """All tables by class name."""
    found: dict[str, type[BaseModel]] = {}
    waiting: list[type[BaseModel]] = [BaseModel]
    while waiting:
        below = waiting.pop().__subclasses__()
        found |= {each.__name__: each for each in below}
        waiting += below
    return found


def _describe(schema: dict[str, Any], table: type[BaseModel]) -> None:
    """Adds the docstrings as descriptions."""
    schema["description"] = inspect.cleandoc(table.__doc__ or "").replace("\n", " ")
    inner = next((each for each in schema.get("anyOf", ()) if "properties" in each), schema)
    if inner is not schema and "additionalProperties" in schema:
        # It applies only to the properties in the same object.
        inner["additionalProperties"] = schema.pop("additionalProperties")
    texts = descriptions(table)
    for name, field in inner.get("properties", {}).items():
        if text := texts.get(name):
            field["description"] = text


def descriptions(table: type[BaseModel]) -> dict[str, str]:
    """The description of each field, by its name in the file; including those of base classes."""
    found: dict[str, str] = {}
    for each in reversed(table.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= dict(_docstrings(each))
    names = {name: field.alias or name for name, field in table.model_fields.items()}
    return {names[name]: text for name, text in found.items() if name in names}


def _docstrings(table: type) -> Iterator[tuple[str, str]]:
    try:
        source = textwrap.dedent(inspect.getsource(table))
    except (OSError, TypeError):  # created at run time
        return
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, text in zip(body.body, body.body[1:], strict=False):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield field.target.id, " ".join(str(text.value.value).split())
