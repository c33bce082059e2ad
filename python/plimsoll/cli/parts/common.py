"""What several verbs share: options, exit codes, and how they print."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from plimsoll.errors import UsageError
from plimsoll.plain_text import plain_lines, without_passwords_of
from plimsoll.run.options.option import STORE
from plimsoll.run.options.parameter import TableOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from plimsoll.report.sources import RunSource, StudySource
    from plimsoll.run.guard import Place
    from plimsoll.run.plan import RunPlan
    from plimsoll.store import Store

VERSION = "%(prog)s %(version)s"
INVALID = 3
"""Exit code when the generator was the limit."""
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """One fact of a machine or a cluster, judged. advice: what to change, empty when nothing needs to."""

    name: str
    value: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        return not self.advice


@contextmanager
def opened_store(location: str | None) -> Iterator[Store]:
    """A store that is there, to read. Whatever a damaged value of it makes fail is a StoreError."""
    # Only here: options need no database.
    from plimsoll.store import Store
    from plimsoll.store.checks import damage_named

    with Store.open(location, create=False) as store, damage_named(store.name, "use it"):
        yield store


store_option = click.option(cls=TableOption, row=STORE)

times_option = click.option(
    "--times-of",
    type=click.Choice(("all", "successes")),
    help="Whose times are shown: those of failed requests too, or not; by default those that the run was started with.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, as docs/formats.md describes it.")

fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(("regression",)),
    help="Exit with 1 if any metric is certainly worse, and by more than what matters.",
)

notify_option = click.option(
    "--notify",
    metavar="URL",
    multiple=True,
    help="Send the verdict and the answer there at the end: for webhooks of Slack and Teams as these take it, else as "
    "JSON. URL,template=slack, teams, json or FILE.json chooses; may be repeated.",
)


def prepare_reading() -> None:
    """For verbs that read long runs, before they import what reads them."""
    # Up to a fifth of their time would go into looking for cycles of references among objects that have none.
    gc.disable()
    # The one at the end of the process then has less to look at.
    gc.freeze()
    # numpy would start a thread for each further CPU. None gets anything to do, and each looks for it for 0.1 s.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def say(line: str) -> None:
    """Print a line for people, on stderr. It may quote a target or a store: control characters become marks, and
    passwords of URLs are masked."""
    click.echo(plain_lines(without_passwords_of(sys.argv, line)), err=True)


def ask(question: str, *, yes: bool, default: bool = False, unasked: str = "") -> None:
    """Go on only if the user agrees. yes: nobody is asked. default: what Enter means. unasked: the error where nobody
    can be asked, as there is no terminal; "" goes on. Raises UsageError for a no."""
    if yes:
        return
    if not on_a_terminal():
        if unasked:
            raise UsageError(unasked)
        return
    if not click.confirm(question, default=default, err=True):
        raise UsageError("nothing was begun")


def on_a_terminal() -> bool:
    """Somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_for_public_load(plans: Iterable[RunPlan], more: Iterable[Place] = (), *, yes: bool) -> None:
    """Ask once before much load goes to a public address. Scripts are not asked. more: places besides those of the
    plans. Raises UsageError for a no."""
    from plimsoll.run.guard import public_load

    if yes or not on_a_terminal():
        return  # Without a question, no name needs to be resolved.
    if (question := public_load(plans, more)) is not None:
        ask(question, yes=False)


def notify_function(urls: tuple[str, ...]) -> Callable[[StudySource, int], None]:
    """A function that sends what came of a study, with the exit code of the command, to these URLs. Raises UsageError
    for a malformed one, before anything else is done."""
    if not urls:
        return lambda source, code: None
    # Only here: most commands send nothing.
    from plimsoll.outputs.notifier import Notifier
    from plimsoll.run.options.parameter import TableOption
    from plimsoll.run.options.value_sources import with_sources

    try:
        notifier = Notifier(urls)
    except UsageError as error:
        ctx = click.get_current_context()
        rows = [option.row for option in ctx.command.params if isinstance(option, TableOption)]
        raise UsageError(with_sources(str(error), ctx, rows)) from error

    def send(source: StudySource, code: int) -> None:
        from plimsoll.report.notice import study_notice

        for missing in notifier.send(study_notice(source, code), code):
            say(missing)

    return send


def print_report(source: RunSource | StudySource, format: str, command: str = "") -> None:
    """Print it on stdout, in colour on a terminal."""
    # Only here: options need nothing of what makes reports.
    from plimsoll.report.outputs import text
    from plimsoll.report.render.terminal import shows_ansi
    from plimsoll.report.sources import OutputRequest

    request = OutputRequest(command, colour=shows_ansi(sys.stdout))
    click.echo(text(source, format, request), nl=False, color=True)
