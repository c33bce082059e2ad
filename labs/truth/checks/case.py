"""A case: what is measured at once, and is judged or not judged as a whole."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..line import Line


@dataclass(frozen=True)
class Case:
    """Its name in the table, and how to come by its lines."""

    name: str
    judge: Callable[[], Iterator[Line]]
