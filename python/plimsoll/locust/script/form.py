"""What can be asked for of a locustfile: `python -P -m plimsoll.locust.script.form PLAN`, JSON on stdout.

A process of its own, because the locustfile's imports and gevent's patches have no business in the coordinator. Values
of secret options do not leave it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.locust.script.describe import told_by
from plimsoll.run.plan import RunPlan

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

Value = str | bool | tuple[str, ...]
PATIENCE = 60.0
"""Seconds that the locustfile may take to be imported."""


@dataclass(frozen=True, slots=True)
class OwnOption:
    """An option that the locustfile has added to the command line."""

    name: str
    """As in `parsed_options`."""
    options: tuple[str, ...]
    """As it is spelt, with its dashes."""
    kind: str
    """text, checkbox, select, multiple or secret."""
    help: str
    value: Value
    """What the command line, the environment and its default say; of a secret nothing."""
    choices: tuple[str, ...]
    required: bool
    shown: bool
    """A form may ask for it."""
    number: str
    """int or float for an option that is one."""
    takes: str
    """What follows it: "" nothing, "1", "+" several, "append" one, and it may be repeated."""

    def words(self, value: Value) -> list[str]:
        """How a command line says that."""
        longest = max(self.options, key=len)
        if self.kind == "checkbox":
            positive = next((each for each in self.options if not each.startswith("--no-")), "")
            negative = next((each for each in self.options if each.startswith("--no-")), "")
            return [each for each in (positive if value else negative,) if each]
        if not isinstance(value, tuple):
            return [f"{longest}={value}"]
        if self.takes == "append":
            return [f"{longest}={each}" for each in value]
        return [longest, *value]


@dataclass(frozen=True, slots=True)
class TaskNode:
    """A task, or a TaskSet."""

    name: str
    share: float
    """0…1, of what it is a part of."""
    tags: tuple[str, ...]
    tasks: tuple[TaskNode, ...]
    is_chain: bool


@dataclass(frozen=True, slots=True)
class OwnClass:
    """A user class."""

    name: str
    weight: float
    fixed_count: int
    host: str
    tasks: tuple[TaskNode, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """A locustfile, as the options of a plan find it."""

    classes: tuple[OwnClass, ...] = ()
    picked: tuple[str, ...] = ()
    """Those that the command line names; all without names."""
    shapes: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    """Of these, the ones that look at users, spawn rate and run time."""
    options: tuple[OwnOption, ...] = ()
    error: str = ""
    """Why there is nothing."""

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(sorted({tag for each in self.classes for tag in _tags(each.tasks)}))

    @property
    def secret(self) -> frozenset[str]:
        """Options whose values are not to be written down."""
        return frozenset(option for each in self.options if each.kind == "secret" for option in each.options)


def describe_form(plan: RunPlan) -> Description:
    """Imports the locustfiles of the plan. What is wrong with them is in `error`."""
    try:
        found = told_by("plimsoll.locust.script.form", plan.to_dict(), PATIENCE)
    except PlimsollError as error:
        return Description(error=str(error))
    if "error" in found:
        return Description(error=found["error"])
    return Description(
        classes=tuple(OwnClass(**{**each, "tasks": _nodes(each["tasks"])}) for each in found["classes"]),
        picked=tuple(found["picked"]),
        shapes=tuple(found["shapes"]),
        common=tuple(found["common"]),
        options=tuple(OwnOption(**{name: _frozen(value) for name, value in each.items()}) for each in found["options"]),
    )


def replaced(words: Sequence[str], options: Sequence[OwnOption], values: Mapping[str, Value]) -> list[str]:
    """The options among the words that only the locustfile can explain, with these values in place of what is said
    there of them.

    values: by name; an option that is not among them stays as it is.
    """
    kept = [word for name, part in _parts(words, options) if name is not None and name not in values for word in part]
    return kept + [word for each in options if each.name in values for word in each.words(values[each.name])]


def positionals(words: Sequence[str], options: Sequence[OwnOption]) -> list[str]:
    """Those of such words that belong to no option: user classes, a plan."""
    return [word for name, part in _parts(words, options) if name is None for word in part]


def _parts(words: Sequence[str], options: Sequence[OwnOption]) -> Iterator[tuple[str | None, list[str]]]:
    """An option's name, "" for one that is not known, with its words; None with a word that belongs to none."""
    known = {option: each for each in options for option in each.options}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, _ = word.partition("=")
        if not word.startswith("-"):
            yield None, [word]
            continue
        found = known.get(option)
        part = [word]
        takes = "1" if found is None else found.takes
        while takes and not equals and rest and not rest[0].startswith("-"):
            part.append(rest.pop(0))
            if takes != "+":
                break
        yield (found.name if found else ""), part


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _nodes(found: Sequence[dict[str, Any]]) -> tuple[TaskNode, ...]:
    return tuple(TaskNode(**{**each, "tags": tuple(each["tags"]), "tasks": _nodes(each["tasks"])}) for each in found)


def _tags(nodes: Sequence[TaskNode]) -> set[str]:
    return {tag for node in nodes for tag in (*node.tags, *_tags(node.tasks))}


# In the process of its own


def _main(plan: RunPlan) -> dict[str, Any]:
    # Here, as these patch what they find.
    from plimsoll.locust.script.setting import Setting

    setting = Setting(plan, "alone")
    environment = setting.environment
    if plan.equal_weights:
        environment.assign_equal_weights()
    classes = environment.available_user_classes or {}
    shapes = environment.available_shape_classes or {}
    return {
        "classes": [
            {
                "name": name,
                "weight": float(each.weight),
                "fixed_count": each.fixed_count,
                "host": each.host or "",
                "tasks": _tree(each),
            }
            for name, each in sorted(classes.items())
        ],
        "picked": list(setting.options.user_classes),
        "shapes": sorted(shapes),
        "common": sorted(name for name, each in shapes.items() if each.use_common_options),
        "options": [_option(each, vars(setting.options).get(each.dest)) for each in setting.own_actions],
    }


def _tree(holder: Any) -> list[dict[str, Any]]:
    from plimsoll.users.tasks import is_chain, tags_of

    return [
        {
            "name": task.__name__,
            "share": count / len(holder.tasks),
            "tags": sorted(tags_of(task)),
            "tasks": _tree(task) if hasattr(task, "tasks") else [],
            "is_chain": is_chain(task),
        }
        for task, count in Counter(holder.tasks).items()
    ]


def _option(action: argparse.Action, value: Any) -> dict[str, Any]:
    found = {name: getattr(action, name, False) for name in ("is_secret", "is_multiple", "is_required")}
    choices = tuple(map(str, action.choices or ()))
    kind = "text"
    if found["is_secret"]:
        kind = "secret"
    elif action.nargs == 0:
        kind = "checkbox"
    elif found["is_multiple"] or action.nargs in ("+", "*"):
        kind = "multiple"
    elif choices:
        kind = "select"
    return {
        "name": action.dest,
        "options": list(action.option_strings),
        "kind": kind,
        "help": (action.help or "") if action.help != "==SUPPRESS==" else "",
        "value": "" if kind == "secret" else _plain(value, kind),
        "choices": list(choices),
        "required": bool(found["is_required"] or action.required),
        "shown": bool(getattr(action, "include_in_web_ui", True)) and _is_plain(action),
        "number": action.type.__name__ if action.type in (int, float) else "",
        "takes": _takes(action),
    }


def _plain(value: Any, kind: str) -> Any:
    if kind == "checkbox":
        return bool(value)
    if kind == "multiple":
        return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)] if value else []
    return "" if value is None else str(value)


def _takes(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if type(action).__name__ == "_AppendAction":
        return "append"
    return "1" if action.nargs in (None, "?", 1) else "+"


def _is_plain(action: argparse.Action) -> bool:
    """Whether what a form says of it can be put into words."""
    if not action.option_strings:
        return False
    if action.nargs != 0:
        return True
    return action.const is True or type(action).__name__ == "BooleanOptionalAction"


def _run(text: str) -> dict[str, Any]:
    try:
        return _main(RunPlan.from_dict(json.loads(text)))
    except PlimsollError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    from plimsoll.locust import install

    # A run may be in progress, and is not to feel it.
    os.nice(19)
    install()
    print(f"\n{json.dumps(_run(sys.argv[1]))}", flush=True)
