"""`plimsoll show`."""

from __future__ import annotations

import click

from plimsoll.cli.parts.common import (
    json_option,
    opened_store,
    prepare_reading,
    print_report,
    store_option,
    times_option,
)
from plimsoll.report.sources import RunSource


@click.command(
    epilog="""\b
Examples:
  plimsoll show last
  plimsoll show 20261120-1301
  plimsoll show last --json | jq '.total.response_ms.percentiles["99"]'"""
)
@click.argument("run", default="last")
@times_option
@json_option
@store_option
def show(run: str, times_of: str | None, as_json: bool, store: str | None) -> None:
    """Print the tables of a run again.

    RUN is a run's id, the beginning of one, or "last", which is also the default.
    """
    prepare_reading()
    with opened_store(store) as opened:
        print_report(RunSource.of(opened.run(run), times_of), "run.json" if as_json else "tables")
