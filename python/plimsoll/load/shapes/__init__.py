"""The load shapes: one class each. Command line, plans, experiments, the page's form and reports read this registry.

A new shape is a file here with its class, and a row in SHAPES. It needs nothing else if its curve is made of those that
the engine has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.load.shapes.constant import Rate, Users
from plimsoll.load.shapes.ramp import Ramp
from plimsoll.load.shapes.replay import Replay
from plimsoll.load.shapes.sine import Sine
from plimsoll.load.shapes.spike import Spike
from plimsoll.load.shapes.staircase import Staircase
from plimsoll.load.shapes.timed import Stages, Steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.load.shapes.shape import LoadShape, ShapeOption, Wording

SHAPES: dict[str, type[LoadShape]] = {
    each.name: each for each in (Rate, Users, Ramp, Stages, Steps, Staircase, Spike, Sine, Replay)
}
"""By name, in the order in which people read them."""


def shape_options() -> dict[str, ShapeOption]:
    """By the name of a shape: what the command line asks for. `--users` is not among them."""
    return {name: each.option for name, each in SHAPES.items() if each.option is not None}


def shape_flags() -> tuple[str, ...]:
    return tuple(f"--{name}" for name in shape_options())


def in_words(shape: Mapping[str, Any], wording: Wording) -> str:
    """shape: that of a manifest. One that only another version knows has its kind for a name."""
    kinds = {each.kind: each for each in SHAPES.values()}
    known = kinds.get(shape["kind"])
    return known.words(shape["values"], wording) if known else str(shape["kind"])
