"""Attributes of user classes that override those of the locustfile for a run.

By name of the class: `weight`, `fixed_count`, `host`, `tasks` (names of the tasks to run) and its other attributes.
`--config-users` has the same form, and passes them to a run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.errors import FieldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.server.control.description import OwnClass

Settings = Mapping[str, Mapping[str, Any]]
FIELD = "class_settings"


def check(settings: Settings, classes: Sequence[OwnClass]) -> None:
    """Raises FieldError for unknown classes and attributes, and for invalid values."""
    known = {each.name: each for each in classes}
    for name, chosen in settings.items():
        if name not in known:
            raise FieldError(f"the locustfile has no user class {name}", FIELD)
        for attribute, value in chosen.items():
            if wrong := _wrong(known[name], attribute, value):
                raise FieldError(f"{attribute} of {name} {wrong}", f"{FIELD}.{name}.{attribute}")


def _wrong(of: OwnClass, attribute: str, value: Any) -> str:
    """What is wrong with the value; "" for nothing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    match attribute:
        case "weight" if not (is_number and value >= 0):
            return "must be a number, 0 or more"
        case "fixed_count" if not (is_number and value >= 0 and value == int(value)):
            return "must be a whole number, 0 or more"
        case "host" if not isinstance(value, str):
            return "must be a text, as http://127.0.0.1:8000"
        case "tasks":
            names = {each.name for each in of.tasks}
            if not isinstance(value, list | tuple) or not value or any(each not in names for each in map(str, value)):
                return f"must be a list of some of {', '.join(sorted(names))}"
    return "" if attribute.isidentifier() else "is no attribute"


def with_more(settings: Settings, name: str, chosen: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings merged with new ones of a class."""
    found = {each: dict(values) for each, values in settings.items()}
    found[name] = found.get(name, {}) | dict(chosen)
    return found


def configured(classes: Sequence[OwnClass], settings: Settings) -> tuple[OwnClass, ...]:
    """The classes with these settings."""
    return tuple(_configured(each, settings.get(each.name, {})) for each in classes)


def _configured(of: OwnClass, chosen: Mapping[str, Any]) -> OwnClass:
    known = {name: chosen[name] for name in ("weight", "fixed_count", "host") if name in chosen}
    tasks = tuple(each for each in of.tasks if each.name in chosen.get("tasks", (each.name,)))
    whole = sum(each.share for each in tasks) or 1.0
    return replace(of, **known, tasks=tuple(replace(each, share=each.share / whole) for each in tasks))


def texts(settings: Settings) -> tuple[str, ...]:
    """The settings in the format of `--config-users`."""
    return tuple(json.dumps({"user_class_name": name, **chosen}) for name, chosen in settings.items() if chosen)
