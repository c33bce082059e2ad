"""`plimsoll reproduce`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll.cli.common import INVALID, ask, ask_for_public_load, opened_store, print_report, say, store_option
from plimsoll.errors import UsageError
from plimsoll.experiment.reproduce import cell_again, circumstances, plan_of
from plimsoll.report.sources import RunSource
from plimsoll.report.text import cut, one_line
from plimsoll.store.database import absolute

if TYPE_CHECKING:
    from plimsoll.experiment.reproduce import ReproducedCell
    from plimsoll.store import Store, StoredRun

LONGEST = 4000
"""Characters of a command that somebody can look at."""


@click.command(
    epilog="""\b
Examples:
  plimsoll reproduce last
  plimsoll reproduce 20261120-1301 --dry-run       only say what has changed since
  plimsoll compare 20261120-1301 last              hold the new run against the old one

The run is stored beside the first one, not as a cell of its experiment. Exit codes are those of plimsoll run."""
)
@click.argument("run", default="last")
@click.option("--dry-run", is_flag=True, help="Only say what has changed since.")
@click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask before commands of a cell, or before a large load on a public address.",
)
@store_option
def reproduce(run: str, dry_run: bool, yes: bool, store: str | None) -> None:
    """Run a stored run again, and say what has changed since.

    RUN is a run's id, the beginning of one, or "last". The target of an experiment's cell is started as it was then,
    with the commands that the store has; they are shown first, and run once you agree. The target of any other run
    must be there.
    """
    with opened_store(store) as opened:
        old = opened.run(run)
        cell = cell_again(opened, old)
        say(f"run {old.id}: {cut(str(old.manifest.get('command', '')), LONGEST)}")
        for line in (*circumstances(old), *(cell.lines if cell else ())):
            say(line)
        plan = None if cell else plan_of(old)
        if dry_run:
            return
        if cell is not None:
            _ask(cell, yes)
            code = _run_cell(cell, opened, store)
    if plan is not None:
        ask_for_public_load([plan], yes=yes)
        # Only here: it brings along all that runs need.
        from plimsoll.run.perform import perform
        from plimsoll.run.planned import Outputs

        code = perform(plan, Outputs(store=store, name=_name(old)))
    click.get_current_context().exit(code)


def _ask(cell: ReproducedCell, yes: bool) -> None:
    """A store may come from somebody else, and so may the commands in it. Raises UsageError unless the user agrees."""
    if not cell.commands:
        return
    longest = max(map(len, cell.commands))
    if longest > LONGEST and not yes:
        raise UsageError(f"a command of this cell has {longest:,} characters: nobody can look at it; --yes runs it")
    say(f"in {cell.spec.folder}, this runs:")
    for each in cell.commands:
        say(f"  {one_line(each)}")
    unasked = "these commands come from the store, and nobody can be asked here; --yes runs them"
    ask("run them?", yes=yes, unasked=unasked)


def _name(run: StoredRun) -> str | None:
    name = (run.manifest.get("scenario") or {}).get("name")
    return str(name) if name else None


def _run_cell(cell: ReproducedCell, store: Store, location: str | None) -> int:
    result = cell.run(absolute(location), say)
    if result.run is not None:
        print_report(RunSource.of(store.run(result.run)), "tables")
    if result.state != "valid":
        say(f"{result.state.upper()}: {result.reason}")
    return 0 if result.state == "valid" else INVALID
