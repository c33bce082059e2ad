"""`plimsoll runs`."""

from __future__ import annotations

import shutil

import click

from plimsoll.cli.options import json_option, store_option
from plimsoll.report import json
from plimsoll.report.experiment_listing import experiment_list, experiments_document
from plimsoll.report.listing import run_list
from plimsoll.stats.view import RunView
from plimsoll.store import Store


@click.command(
    epilog="""\b
Examples:
  plimsoll runs
  plimsoll runs -n 5 --json
  plimsoll runs --experiments                      the experiments, and how far they are
  plimsoll runs --store postgresql://load@db.example/plimsoll"""
)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Most to list.")
@click.option("--experiments", is_flag=True, help="List experiments instead.")
@json_option
@store_option
def runs(limit: int, experiments: bool, as_json: bool, store: str | None) -> None:
    """List the runs that were kept, the latest first."""
    if experiments:
        _experiments(limit, as_json, store)
        return
    with Store.open(store, create=False) as opened:
        listed = [(run, RunView.of(run)) for run in opened.runs(limit)]
    if as_json:
        click.echo(json.dumps(json.runs_document(listed)))
    else:
        click.echo(run_list(listed, shutil.get_terminal_size().columns))


def _experiments(limit: int, as_json: bool, store: str | None) -> None:
    with Store.open(store, create=False) as opened:
        kept = opened.experiments
        listed = [(each, kept.states(each.key)) for each in kept.all()[:limit]]
    if as_json:
        click.echo(json.dumps(experiments_document(listed)))
    else:
        click.echo(experiment_list(listed, shutil.get_terminal_size().columns))
