"""`plimsoll experiment`."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.common import (
    INTERRUPTED,
    INVALID,
    ask,
    ask_for_public_load,
    fail_on_option,
    notify_function,
    print_report,
    say,
    store_option,
)
from plimsoll.errors import UsageError
from plimsoll.experiment.display import display
from plimsoll.experiment.file.file import read_experiment
from plimsoll.experiment.file.new import write_new
from plimsoll.experiment.plan import SessionOptions, cells_in_words
from plimsoll.experiment.planned_cell import check_runs
from plimsoll.experiment.prepare import prepare
from plimsoll.experiment.session import Session, SessionResult
from plimsoll.experiment.state import as_aa, kept_file
from plimsoll.redact import redact, redact_options
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.table import table_option
from plimsoll.say.durations import rough_duration
from plimsoll.store import Store
from plimsoll.store.database import DEFAULT, absolute

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.experiment.prepare import PreparedSession
    from plimsoll.experiment.spec import Experiment
    from plimsoll.report.sources import StudySource


@click.command(
    epilog="""\b
Examples:
  plimsoll experiment --new                        write an experiment.toml: two commits of the service in this folder
  plimsoll experiment labs/todos/experiment.toml
  plimsoll experiment . --dry-run                  what would be run, in which order, and how long it takes
  plimsoll experiment . --resume                   go on after Ctrl-C, a crash or a kill
  plimsoll experiment . --only index/50            of the cells only these, now
  plimsoll experiment . --aa baseline              a variant against itself: how noisy this machine is
  plimsoll experiment . --resume --again           take failed and invalid cells once more

\b
Exit codes: 0 all cells are valid; 1 a regression, with --fail-on; 2 what cannot be run; 3 cells are invalid or have
failed; 130 interrupted"""
)
@click.argument("file", default=".")
@click.option("--new", is_flag=True, help="Write a file that compares two commits of the service here; run nothing.")
@click.option("--resume", is_flag=True, help="Go on with what was interrupted, or add repeats to what is finished.")
@click.option("--fresh", is_flag=True, help="Start over; cells that were run under this name no longer count.")
@click.option("--again", is_flag=True, help="With --resume: take failed and invalid cells once more.")
@click.option("--aa", metavar="VARIANT", help="Run this variant against itself; its noise is used for later verdicts.")
@click.option("--full", is_flag=True, help="At the whole length: as the file's table [full] says.")
@click.option("--repeats", metavar="N", type=click.IntRange(1, 1000), help="In place of the file's.")
@click.option(
    "--only", metavar="CELLS", multiple=True,
    help="VARIANT, VARIANT/LEVEL or VARIANT/LEVEL/OPERATION: only these now; may be repeated.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be run, in its order, and run nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask about doubts, or before a large load on a public address.")
@click.option(
    "--cluster", metavar="[HOST:PORT]", is_flag=False, flag_value="auto",
    help="Run the workers on machines of a Ray cluster, as plimsoll run does; the target is started here.",
)  # fmt: skip
@click.option("--on", metavar="WHERE", help="Start the workers of each run elsewhere, as plimsoll run --on does.")
@click.option("--nodes", metavar="N", type=click.IntRange(1), help="With --cluster: how many of its machines.")
@click.option("--workers-per-node", metavar="N", type=click.IntRange(1), help="With --cluster: on each; 1 by default.")
@fail_on_option
@click.option("--notify", cls=TableOption, row=table_option("--notify"))
@click.option("--strict", is_flag=True, help="Exit with 3 also if the generator may have added too much to a metric.")
@store_option
@click.pass_context
def experiment(
    ctx: click.Context,
    file: str,
    new: bool,
    resume: bool,
    fresh: bool,
    again: bool,
    aa: str | None,
    full: bool,
    repeats: int | None,
    only: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    cluster: str | None,
    on: str | None,
    nodes: int | None,
    workers_per_node: int | None,
    fail_on: str | None,
    notify: tuple[str, ...],
    strict: bool,
    store: str | None,
) -> None:
    """Run variants × levels × repeats, and say what differs.

    FILE is an experiment's file, or a folder with an experiment.toml; by default the current one.
    """
    if new:
        path, remains = write_new(file)
        say(f"written to {path}; {remains}")
        say(f"then: {shlex.join(['plimsoll', 'experiment', *([] if file == '.' else [file]), '--dry-run'])}")
        return
    if resume and fresh:
        raise UsageError("--fresh contradicts --resume: start again, or go on")
    if again and not resume:
        raise UsageError("--again goes with --resume")
    spec = read_experiment(file, full=full)
    send = notify_function((*spec.notify, *notify))
    spec = as_aa(spec, aa) if aa is not None else spec
    spec = replace(spec, repeats=repeats) if repeats is not None else spec
    places = [("--on", on), ("--cluster", cluster), ("--nodes", nodes), ("--workers-per-node", workers_per_node)]
    where = [f"{flag}={value}" for flag, value in places if value is not None]
    spec = spec.with_arguments(where)
    plans, targets = check_runs(spec)
    kept = kept_file(spec, shlex.join(redact_options(["plimsoll", *sys.argv[1:]])))
    options = SessionOptions(resume, fresh, again, only)
    if dry_run:
        with ExitStack() as stack:
            _show_order(prepare(_existing(store, stack), spec, kept, options))
        return
    with Store.open(store) as opened:
        prepared = prepare(opened, spec, kept, options)
        _announce(prepared, yes)
        ask_for_public_load(plans, targets, yes=yes)
        done = _run(prepared, opened, store, only)
        if done.interrupted or not done.finished:
            say(_to_go_on(spec, done, _words(file, aa, repeats, store, where, full=full)))
            ctx.exit(INTERRUPTED if done.interrupted else _code(done))
        ctx.exit(_conclude(opened, spec, kept.command, fail_on, strict, send, _code(done)))


def _existing(location: str | None, stack: ExitStack) -> Store | None:
    """The store, if there is one: who only asks makes none."""
    place = location or DEFAULT
    if "://" not in place and not Path(place).expanduser().is_file():
        return None
    return stack.enter_context(Store.open(location, create=False))


def _show_order(prepared: PreparedSession) -> None:
    _describe(prepared)
    plan, pace = prepared.plan, prepared.pace
    for number, cell in enumerate(plan.cells, plan.there + 1):
        click.echo(f"{number:>5}  {cell.label}  (≈ {rough_duration(pace.of(cell))})")


def _announce(prepared: PreparedSession, yes: bool) -> None:
    _describe(prepared)
    if prepared.doubts:
        ask("go on all the same?", yes=yes, default=True)


def _describe(prepared: PreparedSession) -> None:
    for line in prepared.lines:
        say(line)
    for doubt in prepared.doubts:
        say(f"doubt: {doubt}")


def _run(prepared: PreparedSession, store: Store, location: str | None, only: tuple[str, ...]) -> SessionResult:
    # Only here: it brings along all that runs need.
    from plimsoll.experiment.cell import run_cell

    session = Session(
        prepared.plan, prepared.file, store.experiments, absolute(location), run_cell, display(), prepared.pace
    )
    return session.run(only)


def _code(done: SessionResult) -> int:
    return INVALID if done.states["invalid"] or done.states["failed"] else 0


def _words(
    file: str, aa: str | None, repeats: int | None, store: str | None, where: list[str], *, full: bool
) -> list[str]:
    """The command line that means the same experiment."""
    options = (("--aa", aa), ("--repeats", repeats), ("--store", redact(store) if store else None))
    given = [word for option, value in options if value is not None for word in (option, str(value))]
    return ["plimsoll", "experiment", file, *(["--full"] if full else []), *given, *where]


def _to_go_on(spec: Experiment, done: SessionResult, words: list[str]) -> str:
    how = "interrupted" if done.interrupted else "left"
    after = f"{done.over} of {cells_in_words(done.states.total())}"
    return f"experiment {spec.name}: {how} after {after}; go on with\n  {shlex.join([*words, '--resume'])}"


def _conclude(
    store: Store,
    spec: Experiment,
    command: str,
    fail_on: str | None,
    strict: bool,
    send: Callable[[StudySource, int], None],
    cells_code: int,
) -> int:
    """Print what follows from it, and send it; the exit code. cells_code: the exit code that the cells alone give."""
    # Only here: statistics and reports bring a lot along.
    from plimsoll.experiment.study import study_of
    from plimsoll.report.gate import REGRESSION, is_unclean, regressions
    from plimsoll.report.sources import StudySource
    from plimsoll.stats.analysis import analyse

    try:
        study = study_of(store, spec.name)
    except UsageError as error:
        say(str(error))
        return INVALID
    analysis = analyse(study)
    click.echo()
    source = StudySource(analysis)
    print_report(source, "text", command)
    code = INVALID if strict and is_unclean(analysis) else cells_code
    if fail_on == "regression" and regressions(analysis):
        code = REGRESSION
    send(source, code)
    return code
