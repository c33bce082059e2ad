"""Commands, and the hooks around a run, as an experiment says them."""

from __future__ import annotations

import json
import shlex
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from plimsoll.experiment.placeholders import check
from plimsoll.experiment.spec import READY_TIMEOUT_S, Hook, Hooks
from plimsoll.load.durations import parse_length
from plimsoll.load.mistakes import BadValueError, at, nearest, shown
from plimsoll.load.table import TomlTable


def words(value: Any) -> tuple[str, ...]:
    """A command. Raises UsageError."""
    if isinstance(value, str) and value:
        raise BadValueError(f"must be a list of words: {_as_words(value)}")
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise BadValueError(f'must be a list of words, as ["python", "app.py"], not {shown(value)}')
    return tuple(check(each) for each in value)


def _as_words(text: str) -> str:
    try:
        return json.dumps(shlex.split(text), ensure_ascii=False)
    except ValueError:
        return '["python", "app.py"]'


_COMMAND: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1, "title": "command"}
Words = Annotated[tuple[str, ...], PlainValidator(words), WithJsonSchema(_COMMAND)]


def _hooks(value: Any, info: ValidationInfo) -> tuple[Hook, ...]:
    """A command, a table with one, a list of these, or tables with names of their own."""
    kind = str(info.field_name)
    if isinstance(value, list) and not all(isinstance(each, str) for each in value):
        names = [kind if len(value) == 1 else f"{kind} {number}" for number in range(1, len(value) + 1)]
        return tuple(
            _hook(each, name, f"[{place}]") for place, (each, name) in enumerate(zip(value, names, strict=True))
        )
    named = isinstance(value, dict) and bool(value) and "command" not in value
    if named and all(isinstance(each, dict | list) for each in value.values()):
        return tuple(_hook(each, name, name) for name, each in value.items())
    return () if value == [] else (_hook(value, kind, ""),)


def _hook(value: Any, name: str, place: str) -> Hook:
    def inner(field: str) -> str:
        return f"{place}.{field}".strip(".")

    if not isinstance(value, dict):
        return Hook(name, at(place, words, value))
    for key in value:
        if key not in ("command", "within"):
            meant = nearest(key, ("command", "within"))
            hint = f"did you mean {meant}?" if meant else "there are command and within"
            raise BadValueError(f"is not a known field; {hint}", inner(key))
    if "command" not in value:
        raise BadValueError("is missing", inner("command"))
    command = at(inner("command"), words, value["command"])
    return Hook(
        name, command, at(inner("within"), parse_length, value["within"]) if "within" in value else READY_TIMEOUT_S
    )


_HOOK = {
    "type": "object", "required": ["command"], "additionalProperties": False,
    "properties": {"command": _COMMAND, "within": {"type": ["string", "number"], "title": "time"}},
}  # fmt: skip
_ONE_HOOK = {"anyOf": [_COMMAND, _HOOK]}
_HOOKS = {
    "title": "command, table, or several",
    "anyOf": [
        *_ONE_HOOK["anyOf"],
        {"type": "array", "items": _ONE_HOOK},
        {"type": "object", "additionalProperties": _ONE_HOOK},
    ],
}
SeveralHooks = Annotated[tuple[Hook, ...], PlainValidator(_hooks), WithJsonSchema(_HOOKS)]


class HooksTable(TomlTable):
    """[hooks], and the same below a [[variant]], where each kind replaces the common one."""

    prepare: SeveralHooks | None = None
    """Before the target starts."""
    seed: SeveralHooks | None = None
    """Once it is healthy."""
    reset: SeveralHooks | None = None
    """Instead of `seed`, where the target was already running."""
    collect: SeveralHooks | None = None
    """After the run. The output is stored, for example of `collect.explain = ["psql", "-c", "EXPLAIN …"]`."""

    def over(self, common: HooksTable) -> Hooks:
        kinds = ("prepare", "seed", "reset", "collect")
        own = {kind: getattr(self, kind) for kind in kinds}
        return Hooks(**{kind: getattr(common, kind) or () if own[kind] is None else own[kind] for kind in kinds})
