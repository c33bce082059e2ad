"""`plimsoll run --on`: this command as a master, and a placer that starts its workers."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from click.core import ParameterSource

from plimsoll.cli.parts.workers import say
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import click

    from plimsoll.run.options.command import RunWords
    from plimsoll.run.transport.master import Master

NOT_WITH = ("master", "worker", "cluster", "attach", "insecure_join")
"""Options that say themselves where workers come from, or how they join."""


def as_master(words: RunWords, ctx: click.Context) -> RunWords:
    """The words of a command with --on as those of a master: at all addresses and at a port that is free, unless they
    say. Raises UsageError."""
    given = words.given
    if given["on"] is None:
        return words
    for name in NOT_WITH:
        if given[name]:
            raise UsageError(f"--on and --{name.replace('_', '-')} do not go together: --on starts the workers itself")
    # Only here: few runs have one.
    from plimsoll.run.placers.kinds import placer_of

    placer_of(given["on"])
    unless_given = {"master_bind_host": "*", "master_bind_port": 0, "master_host": None}
    changes = {name: value for name, value in unless_given.items() if is_default(ctx, name)}
    return replace(words, given={**given, "master": True, **changes})


def is_default(ctx: click.Context, name: str) -> bool:
    """Nothing has given a value: no option, no variable and no configuration file."""
    return ctx.get_parameter_source(name) is ParameterSource.DEFAULT


def placed_workers(words: RunWords, master: Master | None) -> AbstractContextManager[None]:
    """Within the block the workers of --on are there; without it nothing happens. Raises PlimsollError."""
    given = words.given
    if given["on"] is None or master is None:
        return nullcontext()
    from plimsoll.run.placers.kinds import placer_of
    from plimsoll.run.placers.placer import MasterAddress
    from plimsoll.run.placers.placing import LIMIT_S, placed

    address = MasterAddress(given["master_host"], master.port, master.token, lambda: master.joined)
    limit = given["expect_workers_max_wait"] or LIMIT_S
    return placed(placer_of(given["on"]), master, address, limit, say)
