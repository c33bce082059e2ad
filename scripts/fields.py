"""Generates the pages of the fields of a plan, an experiment, a limits file, a run as JSON, and what a store knows of a
run, from their schemas.

python -m scripts.fields          write docs/reference/{plan,experiment,limits,run,record}.md
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.cli.schema import SCHEMAS, WRITTEN
from plimsoll.load.json_schema import document_schema
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
HEADS = {
    "plan": "The [guide](../guides/plans.md) has examples. Relative paths begin in the folder of the plan.",
    "experiment": "The [guide](../guides/experiments.md) says what experiments are. Relative paths begin in the folder "
    "of the file.",
    "limits": "`/etc/plimsoll/limits.toml` holds for all runs of a machine ([Guard rails](../guides/guard-rails.md)).",
}
RUN = (
    "`plimsoll run … --summary FILE` and `plimsoll show RUN --json` write it. `plimsoll schema run` prints the same "
    "as a JSON Schema (2020-12). Fields may be added under the same version; none is renamed, removed or given another "
    "meaning. Times inside a run count from its *second 0*; times of day are Unix seconds."
)
RECORD = (
    "A store keeps them of each run as JSON; `plimsoll show RUN --json` has them as `manifest` and `facts`. A key that "
    "is missing, or null, has its default: not known, or not so in this run. A key that another version wrote is kept."
)
PAGES = (*WRITTEN, "run", "record")
NOTATION = """\
| written as | what it is |
|---|---|
| time | `"200ms"`, `"10s"`, `"1m30s"`, `"2h"`, or a number of seconds |
| rate | `"900/s"`, `"54000/m"`, `"3600/h"`, or a number per second |
| level | a rate, or a number of users |
| share | `"5%"` or `0.05` |
| one or more | a value, or a list of values; `[phase]` is short for a single `[[phase]]` |
"""
WORDS = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "array": "list",
    "object": "table", "null": "null",
}  # fmt: skip
_MADE = "<!-- `python -m scripts.fields` writes this page from the {}. Do not edit it. -->"
Schema = dict[str, Any]


def page(name: str) -> str:
    """The reference page of a file."""
    if name == "record":
        head = ["# Manifest and facts of a run", _MADE.format("dataclasses that read and write them"), RECORD]
        schemas = [_without_origin(document_schema(kind, "")) for kind in (Manifest, RunFacts)]
        tables = (table for schema in schemas for table in _tables(schema, schema["$defs"], is_read=False))
        return "\n\n".join([*head, *dict.fromkeys(tables)]) + "\n"
    schema = SCHEMAS[name]()
    if name == "run":
        head = ["# Fields of a run as JSON", _MADE.format("types of the code that writes it"), RUN]
        return "\n\n".join([*head, *_tables(schema, schema["$defs"], is_read=False)]) + "\n"
    editor = f"`plimsoll schema {name} > {name}.schema.json` writes the same for editors: a file whose first line is "
    editor += f"`#:schema ./{name}.schema.json` is checked and completed while it is typed (taplo, Even Better TOML)."
    head = [
        f"# Fields of {'an' if name == 'experiment' else 'a'} {'limits file' if name == 'limits' else name}",
        _MADE.format("tables that read the file"),
        f"{HEADS[name]} {editor}",
        NOTATION.rstrip(),
    ]
    tables = list(_tables(schema, schema.get("$defs", {})))
    return "\n\n".join([*head, *tables]) + "\n"


def _without_origin(schema: Schema) -> Schema:
    """Without what a value was read from, which is not written."""
    for table in (schema, *schema["$defs"].values()):
        table["properties"].pop("origin", None)
    return schema


def _tables(schema: Schema, known: dict[str, Schema], *, is_read: bool = True) -> Iterator[str]:
    """Breadth first: a table, then the tables that it names. is_read: by Plimsoll, so that there are defaults."""
    waiting, seen = [schema], set[int]()
    while waiting:
        table = waiting.pop(0)
        if id(table) in seen:
            continue
        seen.add(id(table))
        fields = _object(table)
        if "properties" in fields:
            yield _section(table, fields, known, is_read)
            for field in fields["properties"].values():
                waiting += [known[name] for name in _references(field)]


def _section(table: Schema, fields: Schema, known: dict[str, Schema], is_read: bool) -> str:
    written, _, rest = table["description"].rstrip(".").partition(": ")
    heading, is_example, _ = written.partition(" = ")
    lines = [f"## `{heading}`" if rest or is_read else f"## {heading}", ""]
    lines += [f"As in `{written}`.", ""] if is_example else []
    lines += [f"{rest[0].upper()}{rest[1:]}.", ""] if rest else []
    columns = ("field", "written as", "default", "meaning") if is_read else ("field", "value", "meaning")
    lines += [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, field in fields["properties"].items():
        is_needed = name in fields.get("required", ())
        default = "required" if is_needed else f"`{json.dumps(field['default'])}`" if "default" in field else ""
        meaning = field.get("description") or "".join(
            _coded(known[each]["description"]) if is_read else known[each]["description"]
            for each in _references(field)[:1]
        )
        default = f" {default} |" if is_read else ""
        lines.append(f"| `{name}` | {_cell(_kind(field, known))} |{default} {_cell(meaning)} |")
    return "\n".join(lines)


def _coded(description: str) -> str:
    """The notation as code, then its meaning."""
    written, _, rest = description.rstrip(".").partition(": ")
    return f"`{written}`: {rest}." if rest else f"`{written}`."


def _kind(field: Schema, known: dict[str, Schema]) -> str:
    """The format of a value, in a word or two."""
    if "title" in field:
        return str(field["title"])
    if "$ref" in field:
        return _kind_of_table(known[field["$ref"].rpartition("/")[2]])
    if "enum" in field or "const" in field:
        return " or ".join(f"`{json.dumps(each)}`" for each in field.get("enum", [field.get("const")]))
    if "anyOf" in field:
        one, *others = field["anyOf"]
        if any(each.get("type") == "array" for each in others):
            return f"one or more: {_kind(one, known)}"
        return " or ".join(dict.fromkeys(_kind(each, known) for each in field["anyOf"]))
    if "oneOf" in field:
        return " or ".join(dict.fromkeys(_kind(each, known) for each in field["oneOf"]))
    if field.get("type") == "array":
        return f"list: {_kind(field.get('items', {}), known)}"
    if field.get("type") == "object":
        values = field.get("additionalProperties")
        return f"by name: {_kind(values, known)}" if isinstance(values, dict) else "table"
    types = field.get("type", [])
    return " or ".join(WORDS[each] for each in ([types] if isinstance(types, str) else types)) or "any value"


def _kind_of_table(table: Schema) -> str:
    if "title" in table:
        return str(table["title"])
    if "properties" not in _object(table):
        return _kind({name: value for name, value in table.items() if name != "description"}, {})
    return f"{_kind(table['anyOf'][0], {})} or table" if "anyOf" in table else "table"


def _object(table: Schema) -> Schema:
    return next((each for each in table.get("anyOf", ()) if "properties" in each), table)


def _references(field: Any) -> list[str]:
    """Names of the tables that a field may contain."""
    if isinstance(field, dict):
        own = [field["$ref"].rpartition("/")[2]] if "$ref" in field else []
        return [*own, *(name for value in field.values() for name in _references(value))]
    return [name for value in field for name in _references(value)] if isinstance(field, list) else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page(name))


if __name__ == "__main__":
    main()
