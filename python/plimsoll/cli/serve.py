"""`plimsoll serve`."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli.parts.common import store_option
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.table import OPTIONS


@click.command(
    params=[TableOption(row=each) for each in OPTIONS if "serve" in each.verbs],
    epilog="""\b
Examples:
  plimsoll serve
  plimsoll serve --store results/plimsoll.db --web-port 9000
  plimsoll serve --web-host 0.0.0.0 --web-base-path /load
  plimsoll serve --store postgresql://load@db.example/plimsoll --web-host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem

The page lists, compares and draws what is stored, offers each report as a file, and takes tags and notes. It starts no
load: for that there is the page of `plimsoll run`. On another address than 127.0.0.1 it asks for a token, which is
printed at the start unless --web-token gives one.

Ctrl-C ends it.""",
)
@store_option
def serve(store: str | None, **given: Any) -> None:
    """Serve the page of the stored runs and experiments."""
    # Only here: the help text needs none of it.
    from plimsoll.cli.parts.run_page import page
    from plimsoll.run import interrupts
    from plimsoll.store import Store

    Store.open(store, create=False).close()
    # From now on, so that a signal which comes early is not lost.
    with interrupts.awaited() as signalled, page(given, store, None, None):
        signalled.wait()
