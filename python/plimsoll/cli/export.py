"""`plimsoll export`."""

from __future__ import annotations

import click

from plimsoll.cli.options import store_option
from plimsoll.report import export as files
from plimsoll.store import Store


@click.command(
    "export",
    epilog="""\b
Formats:
  hgrm     percentiles of all response times in ms, as HdrHistogram's plotter reads them
  hlog     HdrHistogram log, a tagged line of response times per second and endpoint
  csv      a line per second, endpoint and outcome
  json     the same with the histograms, as docs/formats.md describes it
  parquet  the same as columns; needs pyarrow (plimsoll[parquet])

\b
Examples:
  plimsoll export last --format hgrm
  plimsoll export 20261120-1301 --format parquet -o run.parquet""",
)
@click.argument("run", default="last")
@click.option("--format", "format", type=click.Choice(tuple(files.FORMATS)), required=True, help="See below.")
@click.option("-o", "--output", metavar="FILE", help="RUN.FORMAT by default.")
@store_option
def export(run: str, format: str, output: str | None, store: str | None) -> None:
    """Write a kept run to a file: HdrHistogram, CSV, JSON, Parquet.

    Its warm-up is left out. RUN is a run's id, the beginning of one, or "last", which is also the default.
    """
    with Store.open(store, create=False) as opened:
        stored = opened.run(run)
        path = output or f"{stored.id}.{format}"
        for reason in files.export(stored, format, path):
            click.echo(f"plimsoll: INVALID: {reason}", err=True)
    click.echo(path)
