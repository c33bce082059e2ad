"""`plimsoll import`."""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.parts.common import store_option
from plimsoll.errors import UsageError
from plimsoll.load.durations import parse_duration, parse_length
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.stats.study import Study

_MOST_SKIPPED = 20
"""As many are printed; the study keeps all."""


def _seconds(parse: Callable[[str], float]) -> Callable[[click.Context, click.Parameter, str | None], float | None]:
    def seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
        try:
            return None if value is None else parse(value)
        except UsageError as error:
            raise UsageError(f"--{parameter.name}: {error}") from None

    return seconds


@click.command(
    "import",
    epilog="""\b
Files, detected by their contents:
  Locust CSV (its history, failures and exceptions beside it are read too), k6 (summary, JSON or CSV points), vegeta,
  wrk, wrk2, oha, hey, ghz (summary, JSON), JMeter JTL (CSV, XML), Gatling simulation.log, HdrHistogram .hlog and
  .hgrm, vLLM bench serve, GuideLLM, AIPerf, GenAI-Perf, phout, and tables in Markdown, CSV, TSV or aligned text.

\b
Examples:
  plimsoll import results_stats.csv --users 50
  plimsoll import table.md --users 50 --column "latency=p50 (ms)" --column "build=variant"
  plimsoll import old_stats.csv new_stats.csv --name rewrite --variant old --variant new
  plimsoll import table.csv --variant B=new --dry-run""",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--name", default="", help="Of the study; the file's by default. With several files: one study of all.")
@click.option("--users", type=float, help="Users of the closed model, where the file does not say.")
@click.option("--rate", type=float, help="Arrivals per second that were offered, where the file does not say.")
@click.option("--duration", metavar="TIME", callback=_seconds(parse_length), help="Of each run: 180s, 3m.")
@click.option("--ramp", metavar="TIME", callback=_seconds(parse_duration), help="Part of that in which users started.")
@click.option(
    "--think", metavar="TIME", callback=_seconds(parse_duration), help="Mean wait of a user between requests."
)
@click.option("--variant", multiple=True, metavar="NAME", help="Of each variant in the file's order, or FOUND=NAME.")
@click.option("--operation", multiple=True, metavar="NAME", help="Of each operation in that order, or FOUND=NAME.")
@click.option("--tool", default="", help="What made the numbers: locust, k6, vegeta, …")
@click.option("--unit", default="", help="Of times without a unit: ns, us, ms, s. [default: ms]")
@click.option(
    "--column",
    multiple=True,
    metavar="TITLE=MEANING",
    help="Meaning of a table's column: p99, rps, users …; - skips it.",
)
@click.option("--slo", default="", metavar="OBJECTIVE", help="What a load must keep to be carried: 'p99 < 200ms'.")
@click.option("--primary", multiple=True, metavar="METRIC", help="What the study is about: p50, 'p99 of GET /'.")
@click.option("--repeat-of", multiple=True, metavar="REPEAT=VARIANT", help="The one variant is a repeat of the other.")
@click.option("--dry-run", is_flag=True, help="Print what would be read, keep nothing.")
@store_option
def import_(files: tuple[Path, ...], name: str, dry_run: bool, store: str | None, **options: Any) -> None:
    """Read results of another tool, or tables, and keep them as a study.

    What cannot be read with certainty is left out, and listed with its line.
    """
    from plimsoll.importers import read
    from plimsoll.importers.studies import combine, keep

    if len(files) > 1 and name:
        rest = {key: value for key, value in options.items() if key != "variant"}
        study = combine([read(file, **rest) for file in files], name, options["variant"])
        imported = [(study, _digest(*files))]
    else:
        imported = [(read(file, name=name, **options), _digest(file)) for file in files]
    for study, _ in imported:
        click.echo(_described(study))
    if dry_run:
        return
    with Store.open(store) as opened:
        for study, digest in imported:
            key, replaced = keep(opened, study, digest=digest, created=time.time())
            instead = ", instead of the one of that name" if replaced else ""
            click.echo(f"stored as {study.name} ({key}){instead}")


def _digest(*files: Path) -> str:
    """SHA-256 of a file; of several, that of theirs one after another."""
    digests = []
    for file in files:
        with file.open("rb") as opened:
            digests.append(hashlib.file_digest(opened, "sha256"))
    if len(digests) == 1:
        return digests[0].hexdigest()
    return hashlib.sha256(b"".join(each.digest() for each in digests)).hexdigest()


def _described(study: Study) -> str:
    from plimsoll.report.render.imported import imported_study
    from plimsoll.report.text import room

    return imported_study(study, room(sys.stdout), _MOST_SKIPPED)
