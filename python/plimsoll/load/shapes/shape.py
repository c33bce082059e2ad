"""What is said once about a load shape, for every place that knows it by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.load.levels import Level
    from plimsoll.load.spec import ShapeSpec


class Extent(Enum):
    """Where the length of a shape comes from."""

    OWN = "it says so itself"
    NEEDED = "it must be given"
    OPTIONAL = "it may be given; without it the shape has no end"


@dataclass(frozen=True, slots=True)
class ShapeOption:
    """How the command line asks for a shape: `--NAME metavar`."""

    metavar: str
    help: str


@dataclass(frozen=True, slots=True)
class FormText:
    """What the page's form says about a shape; its notation is typed as on the command line."""

    label: str
    hint: str
    open_example: str
    """With arrivals per second."""
    closed_example: str
    """With users."""


class Wording(Protocol):
    """How a report writes the numbers of a shape."""

    def level(self, value: float) -> str:
        """100/s or 100 users."""

    def seconds(self, duration: float) -> str: ...

    def counted(self, number: int, thing: str) -> str:
        """1 step, 2 steps."""


class LoadShape(ABC):
    """A shape as people write it. A subclass is a pydantic model that reads its notation."""

    name: ClassVar[str]
    """Its field in a plan, and its option on the command line."""
    kind: ClassVar[str]
    """Its name in a manifest and in the form: the curve of the engine, or `name` if it is composed of curves."""
    extent: ClassVar[Extent]
    option: ClassVar[ShapeOption | None] = None
    """None: the command line asks for it in another way."""
    form: ClassVar[FormText | None] = None
    """None: the form does not offer it."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Level, ...]:
        """The levels it is made of, the first first; none for events of their own."""

    @abstractmethod
    def spec(self, seconds: float | None) -> ShapeSpec:
        """What the engine draws. seconds: its length, unless that is its own."""

    @staticmethod
    @abstractmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        """What a report says of it. values: those of its spec."""
