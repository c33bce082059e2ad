"""An option of the table as click reads it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import click

from plimsoll.load.levels import MOST_USERS
from plimsoll.run.options.config import listed
from plimsoll.run.options.option import Kind, Use
from plimsoll.run.options.value_sources import note_service_links, source_of, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.options.option import Option


class Duration(click.ParamType[float]):
    """20, 20s, 500ms, 3m, 1h30m; the value is in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        # Only here: verbs that only share an option need no load.
        from plimsoll.load.durations import parse_duration
        from plimsoll.load.mistakes import BadValueError

        try:
            return value if isinstance(value, float) else parse_duration(str(value))
        except BadValueError as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType[int]):
    """64MiB, 1GiB, 100KiB or a number of bytes; the value is in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = _SIZE.fullmatch(str(value).strip())
        size = int(float(match["number"]) * _UNITS[match["unit"].lower()]) if match else 0
        if not 0 < size < 1 << 63:
            self.fail(f"{value} is not a size; valid are 64MiB, 1.5GiB, 100KiB, 1000000", param, ctx)
        return size


_UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_SIZE = re.compile(rf"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>{'|'.join(_UNITS)})", re.IGNORECASE)


class Number(click.FloatRange):
    """A number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


_TYPES: dict[Kind, click.ParamType[Any]] = {
    Kind.FLAG: click.BOOL,
    Kind.TEXT: click.STRING,
    Kind.INTEGER: click.INT,
    Kind.USERS: click.IntRange(1, MOST_USERS),
    Kind.COUNT: click.IntRange(min=1),
    Kind.PORT: click.IntRange(0, 65535),
    Kind.RATE: Number(0, 1e9, min_open=True),
    Kind.SHARE: Number(0, 1),
    Kind.DURATION: Duration(),
    Kind.SIZE: Size(),
    Kind.USER_CONFIG: click.STRING,
}


_TAKES = {
    Kind.INTEGER: "a whole number",
    Kind.USERS: f"a whole number from 1 to {MOST_USERS}",
    Kind.COUNT: "a whole number from 1",
    Kind.PORT: "a port from 0 to 65535",
    Kind.RATE: "a number above 0",
    Kind.SHARE: "a number from 0 to 1",
}


class TableOption(click.Option):
    """A parameter that a row of the table describes."""

    def __init__(self, declarations: Sequence[str] | None = None, *, row: Option) -> None:
        self.row = row
        settings: dict[str, Any] = {}
        if row.kind is Kind.FLAG:
            settings["is_flag"] = True
        elif row.choices:
            settings["type"] = click.Choice(row.choices, case_sensitive=row.kind is not Kind.LEVEL)
        else:
            settings["type"] = _TYPES[row.kind]
        if row.default is not None:
            settings["default"] = row.default
        if row.optional is not None:
            settings |= {"is_flag": False, "flag_value": row.optional}
        super().__init__(
            [*(declarations or row.flags), row.value_name],
            multiple=row.multiple,
            metavar=row.metavar,
            help=row.help or None,
            hidden=row.use is Use.IGNORED,
            envvar=list(row.variables),
            show_envvar=row.shows_variable,
            **settings,
        )

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        takes = _TAKES.get(self.row.kind)
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            source = source_of(ctx, self.row)
            if takes is None or self.row.choices:
                if not source:
                    raise
                message = f"{error.message.removesuffix('.')}; it comes from {source}"
                raise click.BadParameter(message, error.ctx, error.param, error.param_hint) from error
            come = f"; it comes from {source}" if source else ""
            raise click.UsageError(f"{self.row.flag} takes {takes}, not {value}{come}", ctx) from error

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        note_service_links(ctx, self.row)
        return value_of(self.row)

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Of an option with several values: the list [a, b], or one value, which may have blanks in it."""
        if not self.multiple:
            return super().value_from_envvar(ctx)
        text = self.resolve_envvar_value(ctx)
        value = text and listed(text)
        return (value,) if isinstance(value, str) and value else value or None
