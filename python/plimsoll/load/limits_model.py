"""What the limits file of a machine may say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, ValidationError

from plimsoll._engine import AllowedHosts
from plimsoll.load.complaints import complain, complaints
from plimsoll.load.levels import parse_rate
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import RATE_SCHEMA, Length, TomlTable
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
    """The only hosts that get load: names, `*.example.com`, addresses and networks."""
    max_rate: Annotated[float, PlainValidator(_rate), RATE_SCHEMA] | None = None
    """Requests per second of a whole run."""
    max_users: Annotated[int, Field(ge=1, le=2**53)] | None = None
    """Users of a run."""
    max_run_time: Length | None = None
    """Length of a run."""
    require_identify: bool = False
    """`true`: each run needs `--identify`."""


def read_limits(file: Path) -> LimitsTable:
    """Raises UsageError with every mistake of the file: "limits.toml:2: max_users: must be at least 1, not 0"."""
    data, places = read_toml(file)
    try:
        return LimitsTable.model_validate(data)
    except ValidationError as error:
        raise complain(str(file), complaints(error, LimitsTable), places) from error
