"""`plimsoll compare`."""

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
Examples:
  plimsoll compare 20261120-1301 last
  plimsoll compare todos todos-after --fail-on regression
  plimsoll compare locust_stats.csv last --format md

{CODES}"""
)
@click.argument("a")
@click.argument("b")
@reporting_options
@store_option
def compare(a: str, b: str, store: str | None, **options: Any) -> None:
    """Compare B with A: runs, experiments, imported studies or files, also of different tools.

    Of two experiments, variants of the same name are compared. Where the two do not mean the same by a number, or did
    not do the same, the report says so; where nothing is comparable, it is refused.
    """
    command = ["plimsoll", "compare", a, b, *as_typed(options)]
    with opened_study((a, b), store) as (study, run):
        code = write_report(study, run, command, **options)
    click.get_current_context().exit(code)
