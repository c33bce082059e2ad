"""`plimsoll report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll.cli.options import store_option
from plimsoll.cli.reporting import CODES, FORMATS, as_typed, reporting_options, tell
from plimsoll.cli.studies import study_of

if TYPE_CHECKING:
    from typing import Any


@click.command(
    epilog=f"""{FORMATS}

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
    study = study_of(refs, store)
    command = ["plimsoll", "report", *refs, *as_typed(options)]
    click.get_current_context().exit(tell(study, command, **options))
