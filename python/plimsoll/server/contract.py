"""The JSON Schema of everything that page and server exchange.

`python -m plimsoll.server.contract > web/contract.schema.json`; the page's TypeScript types are made from that file.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from pydantic import TypeAdapter

from plimsoll.report.document import blocks
from plimsoll.server import messages, scenario_messages

ROOTS: tuple[type, ...] = (
    blocks.ReportDocument,
    *(
        message
        for module in (messages, scenario_messages)
        for message in vars(module).values()
        if isinstance(message, type) and dataclasses.is_dataclass(message)
    ),
)


def schema() -> dict[str, Any]:
    """One definition per class, and an object with one property per class, so that converters find all of them."""
    roots = {each.__name__: TypeAdapter[Any](each) for each in ROOTS}
    by_name, definitions = TypeAdapter.json_schemas((name, "serialization", each) for name, each in roots.items())
    properties = {name: by_name[name, "serialization"] for name in roots}
    found = _closed(definitions)
    return {
        "title": "Contract",
        "description": "Made by `python -m plimsoll.server.contract`.",
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
        **found,
    }


def _closed(node: Any) -> Any:
    """All fields required, no others allowed; docstrings and defaults removed."""
    if isinstance(node, list):
        return [_closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _closed(value) for key, value in node.items() if key not in ("default", "description", "title")}
    if found.get("type") == "object" and isinstance(found.get("properties"), dict):
        # A field may be called "title".
        found["properties"] = {key: _closed(value) for key, value in node["properties"].items()}
        found |= {"required": sorted(found["properties"]), "additionalProperties": False}
    return found


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, sort_keys=True))
