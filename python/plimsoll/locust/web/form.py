"""The form data of Locust's page as a `RunRequest` or a `LoadChange`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.load.durations import parse_duration
from plimsoll.load.levels import MOST_USERS
from plimsoll.server.messages import LoadChange, RunRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from plimsoll.server.messages import Argument, Form

    N = TypeVar("N", int, float)
    Fields = Mapping[str, list[str]]
    """The sent fields, by name: a field may occur several times."""

DEFAULT_SHAPE = "Default"


def request_of(fields: Fields, form: Form) -> RunRequest:
    """The run to start; missing fields are those of the last request. Raises UsageError, with Locust's message if it
    has one."""
    shape = _shape(fields, form)
    users, rate = (form.request.users, form.request.spawn_rate) if shape or form.has_shape else load_of(fields)
    arguments = {each.name: _value(each, fields[each.name]) for each in form.arguments if each.name in fields}
    return replace(
        form.request,
        model="closed",
        users=users,
        spawn_rate=rate,
        rate="",
        shape="constant",
        shape_text="",
        shape_class=shape,
        run_time=last(fields, "run_time") if run_time_of(fields) else "",
        host=last(fields, "host", form.request.host).replace("<", "").replace(">", ""),
        classes=_classes(fields, form) or (),
        profile=last(fields, "profile", form.request.profile),
        arguments={**form.request.arguments, **arguments},
    )


def change_of(fields: Fields, form: Form) -> LoadChange:
    """The change of the load of the run in progress. Raises UsageError."""
    users, rate = load_of(fields)
    return LoadChange(users=users, spawn_rate=rate, classes=_classes(fields, form))


def run_time_of(fields: Fields) -> float:
    """s; 0 for none. Raises UsageError."""
    text = last(fields, "run_time")
    try:
        return parse_duration(text) if text else 0.0
    except (UsageError, ValueError) as error:
        raise UsageError("Valid run_time formats are : 20, 20s, 3m, 2h, 1h20m, 3h30m10s, etc.") from error


def load_of(fields: Fields) -> tuple[int, float]:
    """(users, spawn rate). Raises UsageError if one is missing or invalid."""
    users, rate = number_of(fields, "user_count", int), number_of(fields, "spawn_rate", float)
    if users is None or rate is None or not 0 <= users <= MOST_USERS or not 0 < rate < math.inf:
        raise UsageError("Missing or invalid user_count or spawn_rate from /swarm request")
    return users, rate


def number_of(fields: Fields, name: str, kind: type[N]) -> N | None:
    """None if the form does not have it. Raises UsageError."""
    if name not in fields:
        return None
    text = last(fields, name)
    try:
        return kind(text)
    except ValueError:
        what = "an integer" if kind is int else "a number"
        raise UsageError(f"Invalid {name} value: {text!r} (must be {what})") from None


def _classes(fields: Fields, form: Form) -> tuple[str, ...] | None:
    """None: unchanged."""
    wanted = tuple(fields.get("user_classes", ()))
    if unknown := set(wanted) - {each.name for each in form.classes}:
        raise UsageError(f"no such class: {', '.join(sorted(unknown))}")
    return wanted or None


def _shape(fields: Fields, form: Form) -> str:
    """The name of the chosen shape class; "" for none."""
    name = last(fields, "shape_class", DEFAULT_SHAPE)
    if name == DEFAULT_SHAPE:
        return ""
    if name not in form.shape_classes:
        raise UsageError(f"no such class: {name}")
    return name


def _value(argument: Argument, texts: list[str]) -> str | bool | tuple[str, ...]:
    match argument.kind:
        case "checkbox":
            return texts[-1] == "true"
        case "multiple":
            return tuple(texts[0].split(",")) if len(texts) == 1 else tuple(texts)
    return texts[-1]


def last(fields: Fields, name: str, otherwise: str = "") -> str:
    """The last value of a field."""
    return fields[name][-1] if fields.get(name) else otherwise
