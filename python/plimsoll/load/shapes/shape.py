"""The interface of load shapes, for every reader of the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from plimsoll.load.levels import LoadLevel
    from plimsoll.load.spec import ShapeSpec

Values = Mapping[str, Any]
"""The values of a spec, by name."""


class Extent(Enum):
    """The source of a shape's length."""

    OWN = "it says so itself"
    NEEDED = "it must be given"
    OPTIONAL = "it may be given; without it the shape has no end"


@dataclass(frozen=True, slots=True)
class ShapeOption:
    """The command-line option of a shape."""

    metavar: str
    help: str


@dataclass(frozen=True, slots=True)
class FormShape:
    """The page's field of a shape: a text in the notation of the command line."""

    name: str
    label: str
    hint: str
    open_example: str
    """With arrivals per second."""
    closed_example: str
    """With users."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The number formats of a shape in a report."""

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
    """In a manifest: a curve of the engine, or its own name if it is composed of one."""
    extent: ClassVar[Extent]

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        """Its levels, in order; none for recorded events."""
        return ()

    @abstractmethod
    def spec(self, seconds: float | None) -> ShapeSpec:
        """seconds: its length, unless the shape defines it."""

    @staticmethod
    @abstractmethod
    def words(values: Values, wording: Wording) -> str:
        """The text of a report."""


@dataclass(frozen=True, slots=True)
class ShapeKind:
    """A row of the registry: what the command line and the page say of a shape. Its class is imported by need, since
    pydantic takes long to import."""

    path: str
    """Of the class, as an entry point names it: module:class."""
    option: ShapeOption | None = None
    """None: only plans have this shape."""
    form: FormShape | None = None
    """None: the page's form does not have it."""

    @property
    def shape(self) -> type[LoadShape]:
        shape: type[LoadShape] = resolve_name(self.path)
        return shape
