"""The command `plimsoll`: one file per verb. A verb's file is loaded when the verb is used."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from plimsoll import __version__
from plimsoll.cli.parts.common import VERSION
from plimsoll.errors import PlimsollError
from plimsoll.plain_text import plain_lines, without_passwords_of
from plimsoll.run import interrupts, standard_streams

if TYPE_CHECKING:
    from collections.abc import Iterator

VERBS = {
    "demo": "Load a small shop with three faults, and see what a run says of them.",
    "scenario": "Write a plan or a locustfile from recordings, commands of curl, and collections of requests.",
    "record": "Record what a browser or another client does, and write the scenario of it.",
    "run": "Load a service with the users of a locustfile, with a plan, or with one URL, and keep the run.",
    "experiment": "Run variants × levels × repeats, and say what differs.",
    "stop": "End a run or an experiment that is in progress, from another terminal.",
    "reproduce": "Run a stored run again, and say what has changed since.",
    "runs": "List the stored runs, the latest first.",
    "show": "Print the tables of a run again.",
    "capacity": "Find the highest load at which a service meets an objective, as a range with its confidence.",
    "serve": "Serve the page of the stored runs and experiments.",
    "report": "Report on runs, experiments, imported studies and files.",
    "compare": "Compare B with A: runs, experiments, imported studies or files, also of different tools.",
    "export": "Write a stored run to a file: HdrHistogram, CSV, JSON, Parquet.",
    "import": "Read results of another tool, or tables, and keep them as a study.",
    "schema": "Print the JSON Schema of a file: a plan, an experiment, limits, a run or an analysis.",
    "python": "Run a Python program in which `import locust` is Plimsoll.",
    "cluster": "Print what starts workers on Kubernetes without a client of it here.",
    "doctor": "Check whether this machine is fit to generate load, and say what to change.",
    "completion": "Print a shell's completion script.",
}
"""Each is the click command of the same name in the module of the same name; `import_` where Python needs the word, and
`compare` in the module of `report`."""


class Verbs(click.Group):
    """Loads verbs when they are used, and prints every error on one line: `plimsoll: what, and what to do`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        module = "report" if cmd_name == "compare" else name
        # What is imported stays, so there is nothing to collect meanwhile.
        gc.disable()
        try:
            command = getattr(import_module(f"plimsoll.cli.{module}"), name)
        finally:
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args[0] not in VERBS and not args[0].startswith("-"):
            if "://" in args[0] or args[0].endswith((".py", ".toml")):
                raise click.UsageError(f"{args[0]} is no verb; to load it, write plimsoll run {args[0]}", ctx)
            raise click.NoSuchCommand(args[0], possibilities=VERBS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def main(self, *arguments: Any, **options: Any) -> Any:
        standard_streams.prepare()
        with interrupts.command():
            return super().main(*arguments, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _one_line(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with _one_line(ctx):
            return super().invoke(ctx)


@contextmanager
def _one_line(ctx: click.Context) -> Iterator[None]:
    try:
        yield
    except PlimsollError as error:
        # It may quote what a target says, or a URL with a password.
        click.echo(plain_lines(without_passwords_of(sys.argv, f"plimsoll: {error}")), err=True)
        ctx.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("plimsoll: interrupted", err=True)
        ctx.exit(interrupts.exit_code())
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        message = error.format_message()
        where = (error.ctx or ctx).command_path
        said = without_passwords_of(sys.argv, f"{message[:1].lower()}{message[1:]}")
        click.echo(plain_lines(f"plimsoll: {said} (`{where} --help` has all)"), err=True)
        ctx.exit(error.exit_code)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="""\b
Examples:
  plimsoll run -f locustfile.py -H http://127.0.0.1:8000 -u 50 -r 5 -t 2m
  plimsoll show last
  plimsoll doctor""",
)
@click.version_option(__version__, prog_name="plimsoll", message=VERSION)
def main() -> None:
    """Plimsoll finds out how much load a service carries."""
