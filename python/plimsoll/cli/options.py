"""Options that several verbs share."""

from __future__ import annotations

import click

store_option = click.option(
    "--store",
    metavar="PLACE",
    envvar="PLIMSOLL_STORE",
    show_envvar=True,
    help="Where runs are kept: an SQLite file (default: plimsoll.db here) or postgresql://user@host/database.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, as docs/formats.md describes it.")
