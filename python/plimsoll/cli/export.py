"""`plimsoll export`."""

from __future__ import annotations

import sys

import click

from plimsoll.cli.parts.common import opened_store, prepare_reading, store_option
from plimsoll.report.formats import all_formats, of_runs
from plimsoll.report.outputs import pieces, write
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.say.validity import check_texts

_SHORT = {"csv": "seconds.csv", "json": "seconds.json"}
"""What may be typed for a format's name."""
_HELP = "\n".join(f"  {name:25} {all_formats()[name].what}" for name in of_runs())


@click.command(
    "export",
    epilog=f"""\b
Formats:
{_HELP}
csv and json are short for seconds.csv and seconds.json.

\b
Examples:
  plimsoll export last --format hgrm
  plimsoll export 20261120-1301 --format parquet -o run.parquet""",
)
@click.argument("run", default="last")
@click.option(
    "--format", "format", type=click.Choice((*of_runs(), *_SHORT)), metavar="FORMAT", required=True, help="See below."
)
@click.option("-o", "--output", metavar="FILE", help='RUN.FORMAT by default; "-" is stdout.')
@store_option
def export(run: str, format: str, output: str | None, store: str | None) -> None:
    """Write a stored run to a file: HdrHistogram, CSV, JSON, Parquet.

    Also Locust's files and the HTML page. The run's warm-up is left out. RUN is a run's id, the beginning of one, or
    "last", which is also the default.
    """
    prepare_reading()
    with opened_store(store) as opened:
        stored = opened.run(run)
        source = RunSource.of(stored)
        path = output or f"{stored.id}.{format if format in _SHORT else all_formats()[format].suffix}"
        if path == "-":
            sys.stdout.buffer.writelines(pieces(source, _SHORT.get(format, format), OutputRequest()))
        else:
            write(source, _SHORT.get(format, format), path, OutputRequest())
        for reason in check_texts(source.assessment.validity.failed):
            click.echo(f"plimsoll: INVALID: {reason}", err=True)
    if path != "-":
        click.echo(path)
