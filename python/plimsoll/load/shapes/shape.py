"""What is said once about a load shape, for every place that reads it from the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from plimsoll.load.levels import LoadLevel
    from plimsoll.load.spec import ShapeSpec

Values = Mapping[str, Any]
"""Those of a spec, by name."""


class Extent(Enum):
    """Where the length of a shape comes from."""

    OWN = "it says so itself"
    NEEDED = "it must be given"
    OPTIONAL = "it may be given; without it the shape has no end"


@dataclass(frozen=True, slots=True)
class ShapeOption:
    """How the command line asks for a shape."""

    metavar: str
    help: str


@dataclass(frozen=True, slots=True)
class FormShape:
    """How the page's form asks for a shape: as a text in the notation of the command line."""

    name: str
    label: str
    hint: str
    open_example: str
    """With arrivals per second."""
    closed_example: str
    """With users."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a report writes the numbers of a shape."""

    unit: str
    """Of its levels."""
    seconds: Callable[[float], str]
    counted: Callable[[int, str], str]
    """1 step, 2 steps."""

    def level(self, value: float) -> str:
        text = f"{value:.12g}{self.unit}"
        return text.removesuffix("s") if value == 1 and self.unit.endswith("users") else text


class LoadShape(ABC):
    """A shape as people write it. A subclass is a pydantic model that reads its notation."""

    kind: ClassVar[str]
    """In a manifest: a curve of the engine, or a name of its own if it is composed of one."""
    extent: ClassVar[Extent]
    option: ClassVar[ShapeOption | None] = None
    form: ClassVar[FormShape | None] = None

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        """The levels it is made of, the first first; none for events of their own."""
        return ()

    @abstractmethod
    def spec(self, seconds: float | None) -> ShapeSpec:
        """seconds: its length, unless that is its own."""

    @staticmethod
    @abstractmethod
    def words(values: Values, wording: Wording) -> str:
        """What a report says of it."""
