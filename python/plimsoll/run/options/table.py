"""Every option there is: those of `rows`, and those for other shapes of the load.

Processes of a run read `rows` alone: Locust has no options for shapes, and what reads them takes long to import.
"""

from __future__ import annotations

from plimsoll.load.shapes.registry import shape_flags, shape_options
from plimsoll.run.options.option import Kind, Option
from plimsoll.run.options.rows import HOW_MUCH, ROWS, SHAPE

# fmt: off
_SHAPE = (
    *(Option((flag,), SHAPE, each.help, metavar=each.metavar)
      for flag, each in zip(shape_flags(), shape_options().values(), strict=True)),
    Option(("--spacing",), SHAPE, "Arrivals at even distances, which is the default, or at random ones.",
           choices=("uniform", "poisson")),
    Option(("--max-users",), SHAPE, "Open model: most users at a time; 10000 by default.", Kind.COUNT, "N"),
    Option(("--on-saturation",), SHAPE,
           "What an arrival does when all users are busy: wait, which is the default and counts as "
           "response time, or be dropped, and counted.",
           choices=("wait", "drop")),
    Option(("--warmup",), SHAPE,
           "Send at the first level for so long before the run time, left out of the results.", metavar="TIME"),
    Option(("--iterations",), SHAPE, "Stop after so many iterations in all.", Kind.COUNT, "N"),
    Option(("--requests",), SHAPE, "Stop after so many requests of native users in all.", Kind.COUNT, "N"),
)
# fmt: on


def _in_order() -> list[Option]:
    place = 1 + max(number for number, each in enumerate(ROWS) if each.group == HOW_MUCH)
    return [*ROWS[:place], *_SHAPE, *ROWS[place:]]


OPTIONS = _in_order()


def output_options() -> list[Option]:
    """Those about the outputs of a run, which `plimsoll reproduce` takes, too."""
    return [each for each in OPTIONS if "reproduce" in each.verbs]


def run_options() -> list[Option]:
    """Those that `plimsoll run` takes."""
    return [each for each in OPTIONS if each.is_of_run]


def defaults() -> dict[str, object]:
    """The values of a command line without options, by name."""
    return {each.value_name: each.unset for each in run_options()}


def table_option(flag: str) -> Option:
    """The option with this long name."""
    return next(option for option in OPTIONS if option.flag == flag)
