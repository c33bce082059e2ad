"""A case: a unit that is measured and checked together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..line import Line


@dataclass(frozen=True)
class Case:
    """Its name in the table, and the function that makes its lines."""

    name: str
    judge: Callable[[], Iterator[Line]]
