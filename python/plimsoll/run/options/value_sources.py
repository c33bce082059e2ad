"""Where the value of an option comes from, for messages about it: a variable, or a line of a configuration file.

Nothing is said of the command line, which its author sees.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from plimsoll.plain_text import one_line
from plimsoll.run.options.option import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.run.options.option import Option

_SERVICE_LINK = re.compile(r"(?:tcp|udp|sctp)://\S*")
"""Kubernetes sets NAME_PORT to such a value for each service called NAME, in every container of its namespace."""
_PLACES = "plimsoll.settings.places"
"""Where a context has the places of configuration files, by parameter."""
_NOTED = "plimsoll.settings.noted"
"""Where a context has the variables that were noted as ignored."""


def value_of(row: Option) -> str | None:
    """What the environment says of the option. An empty variable says nothing."""
    name = _variable_of(row)
    return None if name is None else os.environ[name]


def _variable_of(row: Option) -> str | None:
    """The one whose value counts."""
    return next((name for name in row.variables if os.environ.get(name) and not _is_service_link(row, name)), None)


def _is_service_link(row: Option, name: str) -> bool:
    """Kubernetes has set the variable, and nobody has given an option."""
    return row.kind is Kind.PORT and _SERVICE_LINK.fullmatch(os.environ.get(name, "")) is not None


def note_service_links(ctx: click.Context, row: Option) -> None:
    """Say once that a variable is ignored."""
    noted = ctx.meta.setdefault(_NOTED, set())
    for name in row.variables:
        if _is_service_link(row, name) and name not in noted and not ctx.resilient_parsing:
            noted.add(name)
            why = f"Kubernetes sets it for a service of that name; {row.flag} takes the number of a port"
            click.echo(one_line(f"plimsoll: {name}={os.environ[name]} is ignored: {why}"), err=True)


def keep_places(ctx: click.Context, places: Mapping[str, str]) -> None:
    """places: of the values that configuration files have, by parameter."""
    ctx.meta[_PLACES] = places


def source_of(ctx: click.Context | None, row: Option) -> str:
    """ "the variable NAME", "PATH, line 3", or "" for the command line and for defaults."""
    source = ctx.get_parameter_source(row.value_name) if ctx is not None else None
    if ctx is None or source is None:
        return ""
    if source is ParameterSource.ENVIRONMENT:
        return f"the variable {_variable_of(row)}"
    return str(ctx.meta.get(_PLACES, {}).get(row.value_name, "")) if source is ParameterSource.DEFAULT_MAP else ""


def with_sources(message: str, ctx: click.Context, rows: Iterable[Option]) -> str:
    """The message, with the sources of the options that it names and does not say the source of."""
    named = []
    for row in rows:
        flags = "|".join(map(re.escape, row.flags))
        if re.search(rf"(?<![\w-])(?:{flags})(?![\w-])", message) and (source := source_of(ctx, row)):
            named.append(f"{row.flag} comes from {source}")
    return f"{message}; {', '.join(named)}" if named else message
