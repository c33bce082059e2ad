"""Durations as fields of a file's model. Apart from `durations`, which reports read: pydantic is slow to import."""

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from plimsoll.load.durations import parse_duration, parse_length

_NOTATION = WithJsonSchema({"type": ["string", "number"], "title": "time", "examples": ["200ms", "10s", "1m30s", 2]})
Duration = Annotated[float, PlainValidator(parse_duration), _NOTATION]
"""Seconds, >= 0."""
Length = Annotated[float, PlainValidator(parse_length), _NOTATION]
"""Seconds, > 0."""
