"""The load shapes, a class each. Command line, plans, experiments, the page's form and reports read this registry.

A new shape is a class in a file here and a row in SHAPES. Only a curve that the engine does not have needs Rust.
Another package adds a class with an entry point; the module of that class is loaded before all others of its package.
"""

from __future__ import annotations

from plimsoll.doors import members
from plimsoll.load.shapes.plain import Rate, Replay, Users
from plimsoll.load.shapes.shape import LoadShape, ShapeOption, Values, Wording
from plimsoll.load.shapes.tables import Ramp, Sine, Spike, Staircase
from plimsoll.load.shapes.timed import Stages, Steps

GROUP = "plimsoll.shapes"
"""The entry-point group through which other packages add classes."""
_OWN: dict[str, type] = {
    "rate": Rate, "users": Users, "ramp": Ramp, "stages": Stages, "steps": Steps, "staircase": Staircase,
    "spike": Spike, "sine": Sine, "replay": Replay,
}  # fmt: skip
SHAPES: dict[str, type[LoadShape]] = members(GROUP, type, _OWN)
"""By the name of the plan's field and of the option, in display order."""


def shape_options() -> dict[str, ShapeOption]:
    """By the name of a shape: its command-line option. Without `--users`."""
    return {name: shape.option for name, shape in SHAPES.items() if shape.option}


def shape_flags() -> tuple[str, ...]:
    """The names of these options on the command line."""
    return tuple(f"--{name}" for name in shape_options())


def in_words(kind: str, values: Values, wording: Wording) -> str:
    """The text of a manifest's shape; its kind if only another version knows it."""
    return next((shape.words(values, wording) for shape in SHAPES.values() if shape.kind == kind), kind)
