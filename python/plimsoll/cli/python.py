"""`plimsoll python`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

MODES = ("-c", "-m")


class PythonCommand(click.Command):
    """Everything after `plimsoll python` is the program's own, except that help is ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Completion looks at what is being typed, which no "--" has anything to do with.
        if args and args[0] not in ("-h", "--help") and not ctx.resilient_parsing:
            args = ["--", *args]
        return super().parse_args(ctx, args)


@click.command(
    cls=PythonCommand,
    epilog="""\b
Examples:
  plimsoll python locustfile.py             a file that ends in run_single_user(…): one user, every request printed
  plimsoll python load.py --users 50        a program that uses Locust as a library
  plimsoll python -m pytest tests/          tests with Locust's fixtures session and fastsession
  plimsoll python -c 'import locust; print(locust)'

The exit code is the program's. For a debugger's launch configuration: the module is plimsoll.locust, with the same
arguments.""",
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[FILE | -m MODULE | -c CODE] [ARGUMENT…]")
def python(program: tuple[str, ...]) -> NoReturn:
    """Run a Python program in which `import locust` is Plimsoll."""
    check(program)
    # A process that is only the program's: nothing of ours is imported before gevent has patched what it patches.
    # -P: what lies in the current folder must not come before our own modules; the program gets its folder as ever.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "plimsoll.locust", *program])


def check(program: Sequence[str]) -> None:
    """Raises UsageError for what cannot be run."""
    if program and program[0] in MODES and len(program) == 1:
        raise UsageError(
            f"{program[0]} needs a value: plimsoll python {program[0]} {'MODULE' if program[0] == '-m' else 'CODE'}"
        )
    if program and program[0].startswith("-") and program[0] != "-" and program[0][:2] not in MODES:
        raise UsageError(f"{program[0]}: of Python's own options there are -m and -c; PYTHON… variables set the others")
