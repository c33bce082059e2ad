"""A shape that is a table in a plan, and name=value,… on the command line."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.shapes.shape import LoadShape
from plimsoll.load.table import Table


def _pairs(value: Any) -> Any:
    """`from=100/s,count=5` as a table."""
    if not isinstance(value, str):
        return value
    table: dict[str, str] = {}
    for part in value.split(","):
        name, equals, text = (each.strip() for each in part.partition("="))
        if not equals or not name or not text:
            raise BadValueError(f"{shown(part)} is not understood; name=value is expected")
        if name in table:
            raise BadValueError(f"{name} is there twice")
        table[name] = text
    return table


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


CountValue = Annotated[int, BeforeValidator(_whole), Field(ge=1)]
"""How many, as a number or as its text."""


class KeyedShape(Table, LoadShape):
    """The fields are those of the model."""

    text = model_validator(mode="before")(_pairs)
