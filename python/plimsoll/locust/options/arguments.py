"""Locust's own options as arguments of an argparse parser.

Readers of `parser` and `environment.parsed_options` see their names, types and defaults. `plimsoll.run.options.rows`
has a row for each.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from plimsoll import __version__
from plimsoll.errors import UsageError
from plimsoll.run.options.config import user_configs
from plimsoll.run.options.option import FINDS_THE_LOCUSTFILE, LEVELS, Kind, Use
from plimsoll.run.options.rows import ROWS

if TYPE_CHECKING:
    from plimsoll.locust.options.parser import LocustArgumentParser
    from plimsoll.run.options.option import Option


def timespan(text: str) -> int:
    """Whole seconds."""
    # Not at the top: the coordinator imports this module and must not import plimsoll.users.
    from plimsoll.locust.util import parse_timespan

    try:
        return parse_timespan(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def positive_integer(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def positive_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError("must be a finite number")
    if number <= 0:
        raise argparse.ArgumentTypeError("must be > 0")
    return number


def json_user_config(text: str) -> list[dict[str, Any]]:
    """Attributes for user classes: one object or a list of them, as JSON or as the name of a JSON file."""
    try:
        return user_configs([text])
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def refused(reason: str) -> type[argparse.Action]:
    """The action of an option that Locust dropped: an error with its replacement."""

    class Refused(argparse.Action):
        def __call__(self, *_: Any) -> NoReturn:
            raise argparse.ArgumentError(self, reason)

    return Refused


_TYPES: dict[Kind, dict[str, Any]] = {
    Kind.FLAG: {"action": "store_true"},
    Kind.TEXT: {},
    Kind.INTEGER: {"type": int},
    Kind.USERS: {"type": int},
    Kind.COUNT: {"type": positive_integer},
    Kind.PORT: {"type": int},
    Kind.RATE: {"type": positive_float},
    Kind.DURATION: {"type": timespan},
    Kind.LEVEL: {"type": str.upper, "choices": list(LEVELS)},
    Kind.USER_CONFIG: {"type": json_user_config},
}


def add_basic(parser: LocustArgumentParser) -> None:
    """Add the options needed to find the locustfile."""
    for row in ROWS:
        if row.locust and row.locust.group == FINDS_THE_LOCUSTFILE:
            _add(parser, row)


def setup_parser_arguments(parser: LocustArgumentParser) -> None:
    """Add all of Locust's options except those for the locustfile and the configuration file."""
    groups: dict[str | None, argparse._ActionsContainer] = {None: parser}
    for row in ROWS:
        if row.locust is None or row.locust.group == FINDS_THE_LOCUSTFILE:
            continue
        title = row.locust.group
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        _add(groups[title], row)
    parser.add_argument(
        "--version", "-V", action="version", version=f"plimsoll {__version__} (Python {sys.version.split()[0]})"
    )
    parser.add_argument("user_classes", nargs="*")
    parser.set_defaults(user_classes=os.environ.get("LOCUST_USER_CLASSES", "").split())


def _add(holder: argparse._ActionsContainer, row: Option) -> None:
    assert row.locust is not None
    settings = {**_TYPES[row.kind], "env_var": row.locust_variable or None, "is_config_file_arg": row.key == "config"}
    if row.use is Use.DROPPED:
        settings |= {"action": refused(row.help), "nargs": 0 if row.kind is Kind.FLAG else None}
    elif row.multiple:
        settings["nargs"] = "*"
    default = False if row.kind is Kind.FLAG and row.use is not Use.DROPPED else row.locust.default
    holder.add_argument(*row.flags, dest=row.dest, default=default, help=_help(row), **settings)


def _help(row: Option) -> str:
    """Hidden if it has no effect; argparse reads a percent sign as a placeholder."""
    return row.help.replace("%", "%%") if row.is_of_run and row.help else argparse.SUPPRESS
