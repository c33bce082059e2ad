"""The choices that a locustfile offers: `python -P -m plimsoll.locust.script.form PLAN`, JSON on stdout.

A separate process, because the locustfile's imports and gevent's patches must not affect the coordinator. Values of
secret options do not leave it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError, UnknownOptionError, UsageError
from plimsoll.locust.script.describe import answer, run_module
from plimsoll.run.plan import RunPlan
from plimsoll.server.control.description import Description

if TYPE_CHECKING:
    import argparse

IMPORT_TIMEOUT_S = 60.0
"""Time limit for importing the locustfile."""


def describe_form(plan: RunPlan) -> Description:
    """Imports the locustfiles of the plan. Errors are in `error`."""
    try:
        return described(plan)
    except UnknownOptionError as error:
        return Description(error=f"no such option: {error}")
    except PlimsollError as error:
        return Description(error=str(error))


def described(plan: RunPlan) -> Description:
    """The same, but raises PlimsollError for errors, UnknownOptionError for an unknown option."""
    found = run_module("plimsoll.locust.script.form", plan.to_dict(), IMPORT_TIMEOUT_S)
    # Not at the top: the other process does not need it.
    from pydantic import TypeAdapter

    return TypeAdapter(Description).validate_python(found)


def refuse_unknown_options(plan: RunPlan) -> None:
    """Raises UnknownOptionError, or UsageError for a value that an option of the locustfile rejects.

    Whatever else is wrong with the locustfile can be mended while a page, or a master, waits for its run. The
    locustfile is imported for this only if there is an option that it alone can explain.
    """
    if any(word.startswith("-") for word in plan.arguments):
        try:
            described(plan)
        except UsageError:
            raise
        except PlimsollError:
            pass


# In the separate process


def _main(question: dict[str, Any]) -> dict[str, Any]:
    # Here, because these patch modules on import.
    from plimsoll.locust.script.checks import needs_host
    from plimsoll.locust.script.setting import LocustfileSetup

    plan = RunPlan.from_dict(question)
    setting = LocustfileSetup(plan, "alone")
    environment = setting.environment
    if plan.equal_weights:
        environment.assign_equal_weights()
    classes = environment.available_user_classes or {}
    shapes = environment.available_shape_classes or {}
    # A listener may choose the host before there are users.
    may_choose = bool(environment.events.init._handlers or environment.events.test_start._handlers)
    return {
        "classes": [
            {
                "name": name,
                "weight": float(each.weight),
                "fixed_count": each.fixed_count,
                "host": each.host or "",
                "needs_host": needs_host(each) and not may_choose,
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
    """Whether a form's value for it can be expressed on a command line."""
    if not action.option_strings:
        return False
    if action.nargs != 0:
        return True
    return action.const is True or type(action).__name__ == "BooleanOptionalAction"


def respond(question: str) -> None:
    # Lower priority than a run in progress. With more, the page would wait for a minute on a busy machine.
    os.nice(5)
    answer(_main, question)


if __name__ == "__main__":
    respond(sys.argv[1])
