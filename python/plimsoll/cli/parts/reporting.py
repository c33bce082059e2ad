"""What `plimsoll report` and `plimsoll compare` have in common: from studies to their output and an exit code."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from plimsoll.cli.parts.common import fail_on_option, notify_function, notify_option, opened_store, prepare_reading, say
from plimsoll.errors import NoBaselineError, UsageError
from plimsoll.report import outputs
from plimsoll.report.formats import all_formats, of_studies
from plimsoll.report.gate import exit_code
from plimsoll.report.render.analysis_csv import TABLES
from plimsoll.report.render.terminal import shows_ansi
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.report.splice import Splice
from plimsoll.report.writing import check_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plimsoll.store import Store

Command = TypeVar("Command", bound="Callable[..., Any]")

_OPTIONS = (
    click.option(
        "--format", "format", type=click.Choice(of_studies()), metavar="FORMAT",
        help="See below; by default what -o's name ends with, else text.",
    ),
    click.option("-o", "--output", metavar="PLACE", help="A file, or a folder with a slash at its end; - is stdout."),
    click.option("--splice", metavar="FILE", help="Write Markdown between two markers of FILE instead; see below."),
    click.option("--block", metavar="NAME", help="Of the markers of --splice; by default the study's name."),
    click.option(
        "--table", type=click.Choice(tuple(TABLES)), default="trials", show_default=True, help="Which one, in CSV."
    ),
    click.option(
        "--rename", multiple=True, metavar="OLD=NEW",
        help="Another name for an endpoint, before endpoints of the same name are compared. Repeatable.",
    ),
    fail_on_option,
    notify_option,
)  # fmt: skip

FORMATS_HELP = "\b\nFormats:\n" + "\n".join(f"  {name:7} {all_formats()[name].what}" for name in of_studies())
CODES = """\b
Exit codes: 0 reported; 1 a regression, with --fail-on; 2 usage; 3 what was asked about is invalid"""


def reporting_options(command: Command) -> Command:
    """--format, -o, --splice, --block, --table, --rename, --fail-on and --notify."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def report_on(verb: str, refs: Sequence[str], store: str | None, options: Mapping[str, Any]) -> NoReturn:
    """Report as asked, and exit."""
    others = dict(options)
    notify = notify_function(others.pop("notify"))
    _check_output(options["format"], options["output"], options["splice"])
    command = ["plimsoll", verb, *refs, *_as_typed(others)]
    with opened_study(refs, store, others.pop("rename")) as source:
        code = write_report(source, command, **others)
        notify(source, code)
    click.get_current_context().exit(code)


def _check_output(format: str | None, output: str | None, splice: str | None) -> None:
    """Before anything is read. Raises UsageError for an unknown ending, and for a folder that is missing."""
    _format(format, output, splice)
    if output is not None and output != "-":
        check_folder(Path(output), option="-o")


def _as_typed(options: Mapping[str, Any]) -> list[str]:
    """The options that make a report what it is."""
    words: list[str] = []
    for name, given in options.items():
        for value in given if isinstance(given, tuple) else (given,):
            if value is not None and (name, value) != ("table", "trials"):
                words += ["-o" if name == "output" else f"--{name.replace('_', '-')}", value]
    return words


@contextmanager
def opened_study(refs: Sequence[str], location: str | None, renames: Sequence[str] = ()) -> Iterator[StudySource]:
    """Several become one, in which each is compared with the first. Files alone need no store. renames: OLD=NEW.
    Raises PlimsollError."""
    from plimsoll.experiment.refs import only_run, source_of_run

    prepare_reading()
    if all(Path(ref).is_file() for ref in refs):
        yield _source_of_refs(None, refs, renames)
        return
    with opened_store(location) as store:
        run = None if renames else only_run(store, refs)
        yield _source_of_refs(store, refs, renames) if run is None else source_of_run(run, store)


def _source_of_refs(store: Store | None, refs: Sequence[str], renames: Sequence[str]) -> StudySource:
    from plimsoll.experiment.matching.renames import Rename
    from plimsoll.experiment.refs import source_of_run, study_of_refs
    from plimsoll.stats.analysis import analyse

    try:
        study = study_of_refs(store, refs, [Rename.parse(rename) for rename in renames])
    except NoBaselineError as missing:
        assert store is not None  # in which it is missing
        say(f"plimsoll: {missing}")
        return replace(source_of_run(store.run(refs[-1]), store), remark=str(missing))
    return StudySource(partial(analyse, study))


def write_report(
    source: StudySource,
    command: Sequence[str],
    *,
    format: str | None,
    output: str | None,
    splice: str | None,
    block: str | None,
    table: str,
    fail_on: str | None,
) -> int:
    """Write a report as asked; the exit code. command: what was typed, for the report's notes.

    Raises UsageError, before anything is computed, when the options do not fit.
    """
    chosen = _format(format, output, splice)
    if table != "trials" and chosen != "csv":
        raise UsageError(f"--table is for --format csv, not {chosen}")
    target = _splice(splice, block, source, output)
    request = OutputRequest(
        command=shlex.join(command), colour=output is None and chosen == "text" and shows_ansi(sys.stdout), table=table
    )
    if target is not None:
        _splice_in(source, target, output, request)
    elif output in (None, "-"):
        # Nothing but the text itself: what is piped on must be what a file would hold.
        click.echo(outputs.text(source, chosen, request), nl=False, color=True)
    else:
        assert output is not None
        for path in outputs.write(source, chosen, output, request):
            click.echo(str(path))
    return exit_code(source, fail_on)


def _format(format: str | None, output: str | None, splice: str | None) -> str:
    """Raises UsageError for an unknown ending of a file."""
    if splice is not None:
        if format not in (None, "md"):
            raise UsageError(f"--splice writes Markdown, so --format {format} does not go with it")
        return "md"
    chosen = format or (outputs.by_suffix(output) if output else None)
    if chosen is None and output not in (None, "-") and not outputs.is_folder(output) and Path(output).suffix:
        known = ", ".join(f".{ending}" for ending in outputs.endings())
        raise UsageError(f"-o {output}: no format has the ending {Path(output).suffix}; known are {known}; or --format")
    return chosen or "text"


def _splice(splice: str | None, block: str | None, source: StudySource, output: str | None) -> Splice | None:
    if splice is None:
        if block is not None:
            raise UsageError("--block is the name of a block in the file that --splice names")
        return None
    if output is not None and not outputs.is_folder(output):
        raise UsageError(f"--splice says where the report goes; -o {output} could only be a folder for charts")
    return Splice(splice, block or "-".join(source.name.split()) or "report")


def _splice_in(source: StudySource, target: Splice, folder: str | None, request: OutputRequest) -> None:
    """With -o FOLDER/ charts lie there, and the block links them."""
    from plimsoll.report.render.illustrated import markdown_part

    place = os.path.relpath(folder, target.path.parent) if folder is not None else None
    text = markdown_part(source, request, max(target.under, 1), folder, place)
    changed = target.replace(text, request.command)
    click.echo(f"{target.path}: block {target.name} {'written' if changed else 'is as it was'}")
