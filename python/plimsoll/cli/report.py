"""`plimsoll report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll.cli.options import store_option
from plimsoll.cli.reporting import CODES, FORMATS_HELP, as_typed, reporting_options, write_report
from plimsoll.cli.studies import opened_study

if TYPE_CHECKING:
    from typing import Any


@click.command(
    epilog=f"""{FORMATS_HELP}

\b
Markers of --splice, each on a line of its own:
  <!-- plimsoll:begin todos -->
  <!-- plimsoll:end todos -->

\b
Examples:
  plimsoll report last
  plimsoll report todos --format html -o todos.html
  plimsoll report todos --format md -o report/
  plimsoll report todos --splice README.md
  plimsoll report 20261120-1301 20261120-1310 --format github --fail-on regression

{CODES}"""
)
@click.argument("refs", metavar="REF...", nargs=-1, required=True)
@reporting_options
@store_option
def report(refs: tuple[str, ...], store: str | None, **options: Any) -> None:
    """Report on runs, experiments, imported studies and files.

    REF is a run's id, the beginning of one, or "last"; the name of an experiment or of an imported study; or a file
    that `plimsoll import` can read. Several are compared with the first.
    """
    command = ["plimsoll", "report", *refs, *as_typed(options)]
    with opened_study(refs, store) as (study, run):
        code = write_report(study, run, command, **options)
    click.get_current_context().exit(code)
