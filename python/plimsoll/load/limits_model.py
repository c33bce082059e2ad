"""The limits file, read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, ValidationError

from plimsoll._engine import AllowedHosts
from plimsoll.load.complaints import complain, complaints
from plimsoll.load.durations import Length
from plimsoll.load.guard_rails import Cap, GuardRails, HostPatterns
from plimsoll.load.levels import parse_rate
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import TomlTable
from plimsoll.load.toml_file import read_toml

if TYPE_CHECKING:
    from pathlib import Path


def _patterns(value: list[str]) -> list[str]:
    if not value:
        raise BadValueError("allows no host at all; leave it out to allow every one")
    try:
        AllowedHosts([(value, "")])
    except ValueError as error:
        raise BadValueError(str(error)) from error
    return value


def _rate(value: Any) -> float:
    return parse_rate(value)


class LimitsTable(TomlTable):
    """limits.toml"""

    allow_hosts: Annotated[list[str], AfterValidator(_patterns)] | None = None
    max_rate: Annotated[float, PlainValidator(_rate)] | None = None
    max_users: Annotated[int, Field(ge=1, le=2**53)] | None = None
    max_run_time: Length | None = None
    require_identify: bool = False


def read_limits(file: Path) -> GuardRails:
    """Raises UsageError with every mistake of the file: "limits.toml:2: max_users: must be at least 1, not 0"."""
    data, places = read_toml(file)
    try:
        table = LimitsTable.model_validate(data)
    except ValidationError as error:
        raise complain(str(file), complaints(error, LimitsTable), places) from error
    path = str(file)

    def cap(value: float | None) -> Cap | None:
        return None if value is None else Cap(float(value), path)

    return GuardRails(
        hosts=(HostPatterns(tuple(table.allow_hosts), path),) if table.allow_hosts else (),
        max_rate=cap(table.max_rate),
        max_users=cap(table.max_users),
        max_run_time=cap(table.max_run_time),
        identify_file=path if table.require_identify else "",
    )
