"""Combines repeated measurements."""

import statistics
from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

Measurement = TypeVar("Measurement")
"""A dataclass of numbers."""


def median(rounds: Sequence[Measurement]) -> Measurement:
    """The median of each figure separately."""
    kind = type(rounds[0])
    return kind(*(statistics.median(getattr(each, field.name) for each in rounds) for field in fields(kind)))  # type: ignore[arg-type]
