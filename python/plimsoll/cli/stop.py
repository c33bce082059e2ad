"""`plimsoll stop`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.common import opened_store, say, store_option
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from plimsoll.store import Store, StoredRun

LOOK_S = 0.2
"""Seconds between looks at whether the run has ended."""


@click.command(
    epilog="""\b
Examples:
  plimsoll stop                                    the run that is in progress
  plimsoll stop 20261120-1301
  plimsoll stop --no-wait
  plimsoll stop --store postgresql://load@db.example/plimsoll

It does what Ctrl-C does in the terminal of the run: users finish their requests, and the run is stored and reported. A
second `plimsoll stop` ends it at once. Of an experiment, the whole experiment is stopped; --resume goes on with it."""
)
@click.argument("run", required=False)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until the run has ended.")
@store_option
def stop(run: str | None, wait: bool, store: str | None) -> None:
    """End a run or an experiment that is in progress, from another terminal.

    RUN is a run's id or the beginning of one. It may be left out if only one run is in progress.
    """
    with opened_store(store) as opened:
        found = _running(opened, run)
        opened.interrupt(found)
        say(f"run {found.id} was asked to end")
        while wait and found.status == "running":
            time.sleep(LOOK_S)
            found = opened.run(found.id)
        if wait:
            say(f"run {found.id}: {found.status}")


def _running(store: Store, ref: str | None) -> StoredRun:
    """Raises UsageError unless there is exactly one that is meant and in progress."""
    if ref is not None:
        run = store.run(ref)
        if run.status != "running":
            raise UsageError(f"run {run.id} is not in progress: {run.status}")
        return run
    running = [each for each in store.runs() if each.status == "running"]
    if not running:
        raise UsageError(f"no run is in progress in store {store.name}")
    if len(running) > 1:
        raise UsageError(f"several runs are in progress, say which: {', '.join(each.id for each in running)}")
    return running[0]
