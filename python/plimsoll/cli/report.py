"""`plimsoll report` and `plimsoll compare`."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli.parts.common import store_option
from plimsoll.cli.parts.reporting import CODES, FORMATS_HELP, report_on, reporting_options
from plimsoll.errors import UsageError


@click.command(
    epilog=f"""{FORMATS_HELP}

\b
Markers of --splice, each on a line of its own:
  <!-- plimsoll:begin todos -->
  <!-- plimsoll:end todos -->

\b
Examples:
  plimsoll report last
  plimsoll report todos --format html -o todos.html
  plimsoll report todos --format md -o report/
  plimsoll report todos --splice README.md
  plimsoll report 20261120-1301 20261120-1310 --format github --fail-on regression

{CODES}"""
)
@click.argument("refs", metavar="REF...", nargs=-1, required=True)
@reporting_options
@store_option
def report(refs: tuple[str, ...], store: str | None, **options: Any) -> None:
    """Report on runs, experiments, imported studies and files.

    REF is a run's id, the beginning of one, or "last"; the name of an experiment or of an imported study; or a file
    that `plimsoll import` can read. Several are compared with the first.
    """
    report_on("report", refs, store, options)


@click.command(
    epilog=f"""{FORMATS_HELP}

\b
Examples:
  plimsoll compare 20261120-1301 last
  plimsoll compare todos todos-after --fail-on regression
  plimsoll compare locust_stats.csv last --format md
  plimsoll compare benchmarks.json last --rename "all=POST /v1/chat/completions"
  plimsoll compare --baseline main@{{last}}            the last run with the good ones of main before it

{CODES}"""
)
@click.argument("refs", metavar="A B", nargs=-1)
@click.option(
    "--baseline",
    metavar="REF",
    help="Instead of A; B is then the last run, unless it is given. NAME@{last}: the good runs of a branch or tag "
    "before B, or the last one where they are fewer than 5.",
)
@reporting_options
@store_option
def compare(refs: tuple[str, ...], baseline: str | None, store: str | None, **options: Any) -> None:
    """Compare B with A: runs, experiments, imported studies or files, also of different tools.

    Of two experiments, variants of the same name are compared. Where the two do not mean the same by a number, or did
    not do the same, the report says so; where nothing is comparable, it is refused.
    """
    if baseline is None:
        if len(refs) != 2:
            raise UsageError(f"compare takes two, A and B, not {len(refs)}; or --baseline REF and B")
        report_on("compare", refs, store, options)
    if len(refs) > 1:
        raise UsageError(f"--baseline {baseline} is what is compared with, so there is one more, not {len(refs)}")
    report_on("compare", (baseline, *(refs or ("last",))), store, options)
