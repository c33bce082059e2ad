"""`plimsoll show`."""

from __future__ import annotations

import sys

import click

from plimsoll.cli.options import json_option, store_option, times_option
from plimsoll.report.assessment import assess
from plimsoll.report.console import heading, tables
from plimsoll.report.render import run_json
from plimsoll.report.render.terminal import shows_ansi
from plimsoll.stats.view import RunView
from plimsoll.store import Store


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
    with Store.open(store, create=False) as opened:
        stored = opened.run(run)
        view = RunView.of(stored, times_of)
    assessment = assess(view, stored.manifest, stored.facts)
    if as_json:
        click.echo(run_json.dumps(run_json.document(view, stored, assessment)))
    else:
        shown = tables(view, assessment, colour=shows_ansi(sys.stdout))
        click.echo(f"{heading(stored, view)}\n\n{shown}", color=True)
