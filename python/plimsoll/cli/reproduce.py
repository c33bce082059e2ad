"""`plimsoll reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.parts.common import INVALID, ask, on_a_terminal, opened_store, say, store_option
from plimsoll.errors import UsageError
from plimsoll.experiment.reproduction.cell import ReproducedCell, cell_again
from plimsoll.experiment.reproduction.changes import circumstances
from plimsoll.experiment.reproduction.effects import Doing
from plimsoll.experiment.reproduction.files import NewCommand, StoredFiles
from plimsoll.experiment.reproduction.stored_plan import ReproducedRun
from plimsoll.plain_text import one_line
from plimsoll.redact import redact
from plimsoll.report.sources import RunSource
from plimsoll.report.text import cut
from plimsoll.report.writing import STDOUT
from plimsoll.run.options.option import Kind
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.table import output_options
from plimsoll.run.planned import Outputs
from plimsoll.store.database import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.experiment.reproduction.effects import Effect
    from plimsoll.store import Store

LONGEST = 4000
"""Characters of a line that somebody can look at."""
MOST = 50
"""Lines of one kind that somebody can look at."""
_WIDTH = max(len(doing.value) for doing in Doing)


@click.command(
    params=[TableOption(row=option) for option in output_options()],
    epilog="""\b
Examples:
  plimsoll reproduce last
  plimsoll reproduce 20261120-1301 --dry-run       only say what has changed since, and what would be done
  plimsoll reproduce last --yes --html report.html
  plimsoll reproduce last -f /srv/tests/shop.py    the locustfile is elsewhere now
  plimsoll compare 20261120-1301 last              hold the new run against the old one

The run is stored beside the first one, not as a cell of its experiment. Exit codes are those of plimsoll run.""",
)
@click.argument("run", default="last")
@click.option(
    "-f",
    "--file",
    metavar="FILE",
    help="The run's own file, if it is not below the working folder: its locustfile, plan or targets, or the file of "
    "the experiment.",
)
@click.option("--dry-run", is_flag=True, help="Only say what has changed since, and what would be done.")
@click.option("-y", "--yes", is_flag=True, help="Do all that is shown, without a question.")
@store_option
def reproduce(run: str, file: str | None, dry_run: bool, yes: bool, store: str | None, **given: Any) -> None:
    """Run a stored run again, and say what has changed since.

    RUN is a run's id, the beginning of one, or "last". The target of an experiment's cell is started as it was then,
    with the commands that the store has. The target of any other run must be there.

    A store may come from somebody else, so all that the run does on this machine is shown first, and done once you
    agree. It reads and imports files below the working folder only, and writes what this command line names.
    """
    command = NewCommand(StoredFiles(file), _outputs(given), absolute(store))
    with opened_store(store) as opened:
        old = opened.run(run)
        again = cell_again(opened, old, command) or ReproducedRun.of(old, command)
        name = old.manifest.name or "without a name"
        say(f"run {old.id}: {cut(one_line(name), LONGEST)}")
        for line in (*circumstances(old, again.planned.plan), *again.lines, "to run it again does this:"):
            say(line)
        for line in effect_lines(again.effects):
            say(line)
        if again.left_out:
            named = cut(one_line(", ".join(again.left_out)), LONGEST)
            say(f"left out, as only this command line names outputs: {named}")
        if dry_run:
            return
        _ask(again.effects, yes)
        if isinstance(again, ReproducedCell):
            code = _run_cell(again, opened)
    if isinstance(again, ReproducedRun):
        # Only here: it brings along all that runs need.
        from plimsoll.run.perform import perform

        code = perform(again.planned.plan, again.planned.outputs)
    click.get_current_context().exit(code)


def _outputs(given: dict[str, Any]) -> dict[str, Any]:
    """With absolute paths: the run of a cell has another working folder."""
    options = output_options()
    files = {option.value_name for option in options if option.kind is Kind.TEXT and not option.multiple}
    is_path = {name: name in files and value not in (None, STDOUT) for name, value in given.items()}
    return {name: str(Path(value).absolute()) if is_path[name] else value for name, value in given.items()}


def effect_lines(effects: Sequence[Effect]) -> Iterator[str]:
    """A line for each effect, with what it does before the first of its kind."""
    for doing in Doing:
        found = _of(effects, doing)
        for place, what in enumerate(found[:MOST]):
            length = f" ({len(what):,} characters)" if len(what) > LONGEST else ""
            yield f"  {'' if place else doing.value:<{_WIDTH}}  {cut(what, LONGEST)}{length}"
        if len(found) > MOST:
            yield f"  {'':<{_WIDTH}}  … and {len(found) - MOST:,} more"


def _of(effects: Sequence[Effect], doing: Doing) -> list[str]:
    """On a terminal in full: what is masked cannot be agreed to. Elsewhere, as in the log of a script, secrets are."""
    plain = one_line if on_a_terminal() else lambda text: one_line(redact(text))
    return list(dict.fromkeys(plain(effect.what) for effect in effects if effect.doing is doing))


def _ask(effects: Sequence[Effect], yes: bool) -> None:
    """Raises UsageError unless the user agrees to all of it."""
    kinds = [_of(effects, doing) for doing in Doing]
    longest, most = max(len(what) for found in kinds for what in found), max(map(len, kinds))
    if (longest > LONGEST or most > MOST) and not yes:
        size = f"a line of {longest:,} characters" if longest > LONGEST else f"{most:,} lines of one kind"
        raise UsageError(f"this has {size}: nobody can look at that; --yes does it unseen")
    ask("do this?", yes=yes, unasked="nobody can be asked here whether this may be done; --yes does it")


def _run_cell(cell: ReproducedCell, store: Store) -> int:
    result = cell.run(say)
    if result.run is not None:
        from plimsoll.run.perform import report_run

        wanted = cell.command.outputs
        outputs = Outputs(json=wanted["as_json"], summary=wanted["summary"])
        for error in report_run(outputs, RunSource.of(store.run(result.run))):
            raise error
    if result.state != "valid":
        say(f"{result.state.upper()}: {result.reason}")
    return 0 if result.state == "valid" else INVALID
