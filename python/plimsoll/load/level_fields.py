"""Levels as fields of plans and experiment files."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from plimsoll.load.levels import LoadLevel, parse_level, parse_rate, parse_step, parse_users

_LEVEL_SCHEMA = WithJsonSchema({"type": ["string", "number"], "title": "level", "examples": ["900/s", 50]})
RATE_SCHEMA = WithJsonSchema({"type": ["string", "number"], "title": "rate", "examples": ["900/s", "54000/m", 900]})
USERS_SCHEMA = WithJsonSchema({"type": ["integer", "string"], "title": "users", "examples": [50]})
StepValue = Annotated[LoadLevel, PlainValidator(parse_step), _LEVEL_SCHEMA]
LevelValue = Annotated[LoadLevel, PlainValidator(parse_level), _LEVEL_SCHEMA]
RateValue = Annotated[LoadLevel, PlainValidator(lambda value: LoadLevel(parse_rate(value), True)), RATE_SCHEMA]
UsersValue = Annotated[
    LoadLevel, PlainValidator(lambda value: LoadLevel(float(parse_users(value)), False)), USERS_SCHEMA
]
