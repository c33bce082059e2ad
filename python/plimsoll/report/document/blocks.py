"""What a report consists of: sections of blocks, tables of texts, charts. How it looks is decided by its renderers.

The TypeScript types of the page are made from these classes (`plimsoll.server.contract`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from plimsoll import __version__

SCHEMA = "plimsoll.page"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ChartSpec:
    """A picture, ready to be drawn."""

    name: str
    """Unique in its document; letters, digits and hyphens."""
    title: str
    description: str
    """Of what is seen, in words, for those who do not see it."""
    spec: dict[str, Any]
    """Vega-Lite with its data sets, without title and configuration. A copy has only those data sets
    that its base has not."""
    height: int
    """px that it will take, axes and legend included, so that nothing jumps when it is drawn."""
    note: str = ""
    base: str = ""
    """The name of the chart that this is a copy of, with something highlighted; "" for one that is none."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    title: str
    is_text: bool = False
    hint: str = ""
    room: Literal["", "word", "name", "long"] = ""
    """Of texts. word: never broken. name: in one line, cut where there is no room. long: sentences."""
    use: Literal["", "group", "extra"] = ""
    """group: rows that have it in common belong together. extra: left out where a line is short."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A verdict, and the lines that belong to it."""

    text: str
    tone: str
    lines: tuple[str, ...] = ()
    word: str = ""
    """What a reader may filter by."""


@dataclass(frozen=True, slots=True)
class TableRow:
    cells: tuple[str | Chip, ...]
    kind: str = ""
    """"total"; "void": numbers of something invalid; "main": what the question is about; "failing": requests of this
    endpoint failed; "slow": it is much slower than all others."""


@dataclass(frozen=True, slots=True)
class TableData:
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    note: str = ""
    """What was left out."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    tone: Literal["plain", "soft", "note"] = "plain"
    type: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Preformatted:
    text: str
    type: Literal["preformatted"] = "preformatted"


@dataclass(frozen=True, slots=True)
class TableBlock:
    table: TableData
    id: str = ""
    has_filter: bool = False
    words: tuple[str, ...] = ()
    """Verdicts that rows can be filtered by."""
    type: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class Figures:
    """Charts by name, side by side where there is room for two."""

    charts: tuple[str, ...]
    wide: bool = False
    """One below the other, each as wide as the page."""
    type: Literal["figures"] = "figures"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer, at the top: one to four sentences. What stands between backticks is a name."""

    sentences: tuple[str, ...]
    type: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class NamedValue:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Facts:
    """status: a line of a few. manifest: a list of many."""

    facts: tuple[NamedValue, ...]
    style: Literal["status", "manifest"] = "manifest"
    type: Literal["facts"] = "facts"


@dataclass(frozen=True, slots=True)
class Doubts:
    """What speaks against the numbers."""

    title: str
    bad: bool
    """Some of them must not be used."""
    lines: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    type: Literal["doubts"] = "doubts"


@dataclass(frozen=True, slots=True)
class ShownFinding:
    id: str
    weight: Literal["blocks", "warning", "insight"]
    word: str
    """What the weight is called."""
    statement: str
    advice: str
    rule: str
    place: str
    evidence: tuple[NamedValue, ...]
    charts: tuple[str, ...]
    """Where it is seen, highlighted."""


@dataclass(frozen=True, slots=True)
class Findings:
    findings: tuple[ShownFinding, ...]
    folded: tuple[ShownFinding, ...] = ()
    """More of the same rules."""
    type: Literal["findings"] = "findings"


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are opened by their summary."""

    summary: str
    blocks: tuple[Block, ...]
    is_open: bool = False
    is_level: bool = False
    """A heading of its own: a rung of the ladder."""
    soft: str = ""
    """Said beside the summary."""
    type: Literal["details"] = "details"


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tabs:
    label: str
    parts: tuple[Panel, ...]
    type: Literal["tabs"] = "tabs"


@dataclass(frozen=True, slots=True)
class Choice:
    """Of many parts one, chosen from a list."""

    label: str
    parts: tuple[Panel, ...]
    type: Literal["choice"] = "choice"


@dataclass(frozen=True, slots=True)
class Notes:
    marks: tuple[str, ...]
    lines: tuple[str, ...]
    type: Literal["notes"] = "notes"


Block = (
    Paragraph
    | Preformatted
    | TableBlock
    | Figures
    | Answer
    | Facts
    | Doubts
    | Findings
    | Details
    | Tabs
    | Choice
    | Notes
)


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    """"" for one without a heading."""
    blocks: tuple[Block, ...]
    in_contents: bool = True
    label: str = ""
    """What it is called among the contents; "" is its title."""


@dataclass(frozen=True, slots=True)
class ReportDocument:
    title: str
    lines: tuple[str, ...]
    """Below the title: the question, or what was run."""
    head: tuple[Block, ...]
    sections: tuple[Section, ...]
    charts: tuple[ChartSpec, ...]
    config: dict[str, Any]
    """Vega-Lite's `config` for all of them; colours are variables of the style sheet."""
    written_by: str
    """Plimsoll and its version."""
    refs: tuple[str, ...] = ()
    """The runs or experiments that it is about, as they can be asked for again."""
    is_growing: bool = False
    """The run goes on, and so do these numbers."""
    schema: Literal["plimsoll.page"] = "plimsoll.page"
    version: int = VERSION


def written_by() -> str:
    return f"Plimsoll {__version__}"
