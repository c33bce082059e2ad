"""How much load, and of what: plan files and load options in, plain values out. Nothing is sent from here.

- spec: Load, Phase and ShapeSpec, the values that coordinator, workers and manifests share
- durations, levels: how times and levels are written; mistakes: what is said about those that cannot be read
- shapes: the registry of the shapes, a class each; timestamps: the file of a replay
- phases: one phase, and several in a row
- plan_file: a plan, read; plan_model, step_model, feeders, bodies: its tables; scenario: what native users get of it
- complaints: every mistake of a file, by field and line; toml_file: a file, and the lines of its fields
- options: the options of `run`; targets: vegeta's files; url: a single URL; origins: where a URL points
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plimsoll.load.spec import Limits, Load, Phase, ShapeSpec

if TYPE_CHECKING:
    from plimsoll.load.levels import parse_rate
    from plimsoll.load.options import load_from_options
    from plimsoll.load.plan_file import PlanFile, read_plan
    from plimsoll.load.targets import read_targets
    from plimsoll.load.url import url_scenario

__all__ = [
    "Limits",
    "Load",
    "Phase",
    "PlanFile",
    "ShapeSpec",
    "load_from_options",
    "parse_rate",
    "read_plan",
    "read_targets",
    "url_scenario",
]

_READERS = {
    "PlanFile": "plan_file", "load_from_options": "options", "parse_rate": "levels", "read_plan": "plan_file",
    "read_targets": "targets", "url_scenario": "url",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    # Workers are given values and read nothing: they should not have to import pydantic.
    if name not in _READERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_READERS[name]}"), name)
