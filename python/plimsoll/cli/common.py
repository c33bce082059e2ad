"""What several verbs share: options, exit codes, and how they print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from plimsoll.run.options.option import STORE
from plimsoll.run.options.parameter import TableOption

if TYPE_CHECKING:
    from plimsoll.report.sources import RunSource, StudySource

VERSION = "%(prog)s %(version)s"
INVALID = 3
"""Exit code when the generator was the limit."""
INTERRUPTED = 130

store_option = click.option(cls=TableOption, row=STORE)

times_option = click.option(
    "--times-of",
    type=click.Choice(("all", "successes")),
    help="Whose times are shown: those of failed requests too, or not; by default those that the run was started with.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, as docs/formats.md describes it.")

fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(("regression",)),
    help="Exit with 1 if a primary metric, or any if none was declared, is different for the worse.",
)


def say(line: str) -> None:
    """Print a line for people, on stderr."""
    click.echo(line, err=True)


def print_report(source: RunSource | StudySource, format: str, command: str = "") -> None:
    """Print it on stdout, in colour on a terminal."""
    # Only here: options need nothing of what makes reports.
    from plimsoll.report.outputs import text
    from plimsoll.report.render.terminal import shows_ansi
    from plimsoll.report.sources import OutputRequest

    request = OutputRequest(command, colour=shows_ansi(sys.stdout))
    click.echo(text(source, format, request), nl=False, color=True)
