"""`plimsoll runs`."""

from __future__ import annotations

import sys

import click

from plimsoll.cli.parts.common import json_option, opened_store, store_option
from plimsoll.errors import UsageError
from plimsoll.report.render import run_json
from plimsoll.report.render.experiment_listing import experiment_list, experiments_document
from plimsoll.report.render.run_listing import otava_csv, run_list
from plimsoll.report.run_summary import summarised
from plimsoll.report.text import dumps, room
from plimsoll.stats.view import RunView


@click.command(
    epilog="""\b
Examples:
  plimsoll runs
  plimsoll runs -n 5 --json
  plimsoll runs --search '127.0.0.1 todos' --tag nightly
  plimsoll runs -n 200 --search todos --otava > history.csv
  plimsoll runs --experiments                      the experiments, and how far they are
  plimsoll runs --store postgresql://load@db.example/plimsoll"""
)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Most to list.")
@click.option(
    "--search",
    metavar="WORDS",
    default="",
    help="Only those in whose id, name, host, files, commit, experiment, tags or note all of these words stand.",
)
@click.option("--tag", metavar="TAG", default="", help="Only those that have this tag.")
@click.option("--experiments", is_flag=True, help="List experiments instead.")
@json_option
@click.option("--otava", is_flag=True, help="Print CSV with a line for each valid run, as Apache Otava reads it.")
@store_option
def runs(limit: int, search: str, tag: str, experiments: bool, as_json: bool, otava: bool, store: str | None) -> None:
    """List the stored runs, the latest first."""
    if experiments and (search or tag or otava):
        raise UsageError("--search, --tag and --otava are for runs, not for --experiments")
    if as_json and otava:
        raise UsageError("--json and --otava are two formats: give one")
    if experiments:
        _experiments(limit, as_json, store)
        return
    with opened_store(store) as opened:
        found = opened.runs(limit, search=search, tag=tag)
        for run in found:
            if run.damage:
                click.echo(f"plimsoll: {run.damage}", err=True)
        if as_json:
            views = [(run, RunView() if run.damage else RunView.of(run)) for run in found]
            click.echo(dumps(run_json.runs_document(views), indent=2))
        elif otava:
            click.echo(otava_csv(summarised(opened, found)), nl=False)
        else:
            click.echo(run_list(summarised(opened, found), room(sys.stdout)))


def _experiments(limit: int, as_json: bool, store: str | None) -> None:
    with opened_store(store) as opened:
        kept = opened.experiments
        listed = [(each, kept.states(each.key)) for each in kept.all()[:limit]]
    if as_json:
        click.echo(dumps(experiments_document(listed), indent=2))
    else:
        click.echo(experiment_list(listed, room(sys.stdout)))
