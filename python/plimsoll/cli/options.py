"""Options that several verbs share."""

from __future__ import annotations

import click

from plimsoll.run.options.option import STORE
from plimsoll.run.options.parameter import TableOption

VERSION = "%(prog)s %(version)s"

store_option = click.option(cls=TableOption, row=STORE)

times_option = click.option(
    "--times-of",
    type=click.Choice(("all", "successes")),
    help="Whose times are shown: those of failed requests too, or not; as the run was told by default.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, as docs/formats.md describes it.")
