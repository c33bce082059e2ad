"""The load shapes, a row each. Command line, plans, experiments, the page's form and reports read this registry.

A new shape is a class in a file here and a row in SHAPES. Only a curve that the engine does not have needs Rust.
Another package adds a row with an entry point; the module of that row is loaded before all others of its package.
"""

from __future__ import annotations

from plimsoll.doors import members
from plimsoll.load.shapes.shape import FormShape, ShapeKind, ShapeOption, Values, Wording

GROUP = "plimsoll.shapes"
"""The entry-point group through which other packages add rows."""
_PLAIN, _TABLES, _TIMED = (f"{__package__}.{name}" for name in ("plain", "tables", "timed"))
# fmt: off
_OWN = {
    "rate": ShapeKind(
        f"{_PLAIN}:Rate", ShapeOption("RATE", "Open model: so many arrivals per second; 900/s, 54000/m."),
        FormShape("constant", "Constant", "The same load from beginning to end.", "900/s", "50"),
    ),
    # Its option is Locust's.
    "users": ShapeKind(f"{_PLAIN}:Users"),
    "ramp": ShapeKind(
        f"{_TABLES}:Ramp", ShapeOption("FROM..TO", "100/s..900/s: evenly more over the run time."),
        FormShape(
            "ramp", "Ramp", "Evenly from one level to another over the run time, which must be given.",
            "100/s..900/s", "10..200",
        ),
    ),
    "stages": ShapeKind(
        f"{_TIMED}:Stages", ShapeOption("TIME:LEVEL,…", "30s:100/s,1m:900/s: evenly to each level in its time."),
        FormShape(
            "stages", "Stages", "Evenly to each level in its time. The first level may stand without a time.",
            "30s:100/s,1m:900/s", "30s:10,1m:200",
        ),
    ),
    "steps": ShapeKind(
        f"{_TIMED}:Steps", ShapeOption("TIME:LEVEL,…", "30s:50,30s:100: each level for its time."),
        FormShape(
            "steps", "Steps", "Each level for its time, one after the other.",
            "30s:100/s,30s:200/s", "30s:50,30s:100",
        ),
    ),
    "staircase": ShapeKind(
        f"{_TABLES}:Staircase", ShapeOption("KEY=VALUE,…", "from=100/s,step=100/s,each=30s,count=5[,rise=2s]"),
        FormShape(
            "staircase", "Staircase", "Equal steps up: from a level, by so much, each for so long, so many of them.",
            "from=100/s,step=100/s,each=30s,count=5", "from=10,step=10,each=30s,count=5",
        ),
    ),
    "spike": ShapeKind(
        f"{_TABLES}:Spike", ShapeOption("KEY=VALUE,…", "base=100/s,peak=1000/s,at=30s,hold=10s[,rise=1s]"),
        FormShape(
            "spike", "Spike",
            "A base with one peak: when it comes and how long it holds. The run time must be given.",
            "base=100/s,peak=1000/s,at=30s,hold=10s", "base=10,peak=100,at=30s,hold=10s",
        ),
    ),
    "sine": ShapeKind(
        f"{_TABLES}:Sine", ShapeOption("KEY=VALUE,…", "mean=500/s,amplitude=200/s,period=1m"),
        FormShape(
            "sine", "Sine", "Up and down around a mean.",
            "mean=500/s,amplitude=200/s,period=1m", "mean=50,amplitude=20,period=1m",
        ),
    ),
    "replay": ShapeKind(f"{_PLAIN}:Replay", ShapeOption("FILE", "Arrivals at the times in a file, one per line.")),
}
# fmt: on
SHAPES: dict[str, ShapeKind] = members(GROUP, ShapeKind, _OWN)
"""By the name of the plan's field and of the option, in display order."""


def shape_options() -> dict[str, ShapeOption]:
    """By the name of a shape: its command-line option. Without `--users`."""
    return {name: kind.option for name, kind in SHAPES.items() if kind.option}


def shape_flags() -> tuple[str, ...]:
    """The names of these options on the command line."""
    return tuple(f"--{name}" for name in shape_options())


def in_words(kind: str, values: Values, wording: Wording) -> str:
    """The text of a manifest's shape; its kind if only another version knows it."""
    shapes = (row.shape for row in SHAPES.values())
    return next((shape.words(values, wording) for shape in shapes if shape.kind == kind), kind)
