"""What a report for people consists of: blocks, which Markdown and the terminal draw each in its own way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.report.render.text_table import TextColumn


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    depth: int
    """1 is the report's own."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Bullet:
    text: str
    strong: str = ""
    """Stands before the text, emphasised."""
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[Bullet, ...]
    folded: tuple[Bullet, ...] = ()
    """Further ones, of less weight than the room that they take."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[TextColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    grouped: bool = False
    """The first column is a group of rows: the terminal gives it a line of its own."""
    spare: frozenset[int] = frozenset()
    """Columns that the terminal leaves out, as another one tells the same."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines that are shown as they are. summary: of what can be folded away; "" for what cannot."""

    lines: tuple[str, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Charts as files beside the report: (title, file name). The terminal has none."""

    files: tuple[tuple[str, str], ...]


Block = Heading | Paragraph | Bullets | Table | Verbatim | Pictures


@dataclass(frozen=True, slots=True)
class Document:
    blocks: tuple[Block, ...] = field(default=())

    @classmethod
    def of(cls, *parts: Iterable[Block]) -> Document:
        return cls(tuple(block for part in parts for block in part))
