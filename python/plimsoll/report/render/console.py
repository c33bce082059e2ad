"""A document as plain text for the terminal."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line, printable, without_commands
from plimsoll.report.document.blocks import (
    Answer,
    Choice,
    Details,
    Doubts,
    Facts,
    Figures,
    Findings,
    Notes,
    Paragraph,
    Preformatted,
    TableBlock,
    Tabs,
)
from plimsoll.report.document.opening import BROKEN, PASSED
from plimsoll.report.render.terminal import TextColumn, alarming, cautioning, reassuring, render
from plimsoll.report.render.wording import (
    bad_titles,
    blocks_of,
    cell_text,
    finding_lines,
    finding_title,
    is_picture,
    status_text,
)
from plimsoll.report.text import cells, cut, room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.document.blocks import Block, ReportDocument, TableColumn, TableData
    from plimsoll.report.sources import OutputRequest, RunSource, StudySource

_INDENT = "  "
_MORE = "Also in the report (--format md or html)"
_HELD = "\u00a0"
"""A blank that no line is broken at."""
_MOST_LINES = 20
"""Of a collected text; the JSON has all."""
_PROSE = 120
"""Cells of a line of text, however wide the terminal is."""
_LESS_NEEDED = ("60%", "70%", "80%", "Size (bytes)", "Fails/s", "Min (ms)", "# Retrans.")
"""Columns that are left out where room is short, in this order."""
_LEAST = {"long": 12, "name": 12, "word": 7}
"""Cells that a column of texts is cut to, by the room that it has."""

_ALARMING = re.compile(
    r"INVALID: the load.*|(?<!\d)\d+ of \d+ runs? did not get the load that was asked for"
    r"|(?<=  )[\d.\u202f]+ (?:%|pp) (?:slower|fewer requests|more failures)"
)
_PASSED, _BROKEN = (re.compile(rf"^ *{mark} .*", re.MULTILINE) for mark in (PASSED, BROKEN))
_UNIT = re.compile(r"(?<=\d) (?=(?:%|ms|s|min|users?|B|KiB|MiB)\b|%)")
"""A number and its unit stay on one line."""


def text_report(source: StudySource, request: OutputRequest) -> str:
    from plimsoll.report.document.study import document_of

    document = document_of(source, scope="text", charts=False, command=request.command)
    return console(document, request.width, colour=request.colour) + "\n"


def run_tables(source: RunSource, request: OutputRequest) -> str:
    """Only the tables of a run."""
    from plimsoll.report.document.run_tables import tables_document

    document = tables_document(source.view, source.run, source.assessment)
    return console(document, request.width, colour=request.colour) + "\n"


def console(document: ReportDocument, width: int | None = None, *, colour: bool = False) -> str:
    """width: in cells; None asks the terminal. colour: for a terminal that shows it."""
    sheet = _Sheet(width or room(sys.stdout), colour)
    parts = [[*_title(document.title, "=", sheet.width), *_lines(document.lines, sheet.width)]]
    parts += [_block(block, sheet) for block in document.head]
    folded: list[str] = []
    for section in document.sections:
        if all(isinstance(block, Details) and not (block.soft or block.is_level) for block in section.blocks):
            folded += [block.summary for block in section.blocks if isinstance(block, Details)]
            continue
        blocks = [lines for block in blocks_of(section) if (lines := _block(block, sheet))]
        if blocks and section.title:
            blocks[0] = [*_title(section.title, "-", sheet.width), *blocks[0]]
        parts += blocks
    if folded:
        more = f"{_MORE}: {', '.join(folded)}."
        parts.append(_filled(more, sheet.width, "", ""))
    # Again in the end, where people look first.
    parts += [[title] for title in bad_titles(document)]
    text = without_commands("\n\n".join("\n".join(lines) for lines in parts if lines))
    if not colour:
        return text
    text = "\n".join(sheet.styled(line) for line in text.split("\n"))
    text = _ALARMING.sub(lambda found: alarming(found[0]), text)
    return _BROKEN.sub(lambda found: alarming(found[0]), _PASSED.sub(lambda found: reassuring(found[0]), text))


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What a report is drawn on."""

    width: int
    colour: bool
    kinds: dict[str, str] = field(default_factory=dict)
    """Of lines that are rows of tables: "failing" or "slow"."""

    def styled(self, line: str) -> str:
        match self.kinds.get(line):
            case "failing":
                return alarming(line)
            case "slow":
                return cautioning(line)
            case _:
                return line


def _title(text: str, rule: str, width: int) -> list[str]:
    shown = cut(one_line(text), width)
    return [shown, rule * cells(shown)]


def _lines(lines: Sequence[str], width: int) -> list[str]:
    return [each for line in lines for each in _filled(line, width, "", "")]


def _bullets(lines: Sequence[str], width: int) -> list[str]:
    return [each for line in lines for each in _filled(line, width, "- ", "  ")]


def _block(block: Block, sheet: _Sheet) -> list[str]:
    width = sheet.width
    match block:
        case Paragraph():
            return _filled(block.text.replace("`", ""), width, "", "")
        case Preformatted():
            return _preformatted(block.text, width)
        case TableBlock():
            return _table_block(block, sheet)
        case Answer():
            first, *others = (each.replace("`", "") for each in block.sentences)
            return [*_filled(first, width, "", ""), *_bullets(others, width)]
        case Facts(_, "status"):
            return _filled(status_text(block), width, "", "")
        case Facts():
            return _bullets([f"{each.name}: {each.value}" for each in block.facts], width)
        case Doubts():
            return [*_filled(block.title, width, "", ""), *_bullets([*block.lines, *block.small], width)]
        case Findings():
            return _findings(block, width)
        case Details():
            return _details(block, sheet)
        case Tabs() | Choice():
            return _joined([lines for part in block.parts for lines in _part(part.title, part.blocks, sheet)])
        case Notes():
            return _bullets([*block.marks, *block.lines], width)
        case Figures():
            return []


def _joined(parts: Sequence[list[str]]) -> list[str]:
    """With an empty line between any two."""
    lines: list[str] = []
    for part in parts:
        lines += ["", *part] if lines and part else part
    return lines


def _part(title: str, blocks: Sequence[Block], sheet: _Sheet) -> list[list[str]]:
    inner = [lines for block in blocks if (lines := _block(block, sheet))]
    return [[cut(one_line(title), sheet.width)], *inner] if inner else []


def _details(block: Details, sheet: _Sheet) -> list[str]:
    """What is said beside the summary stands for the rest."""
    if is_picture(block):
        return []
    if block.soft:
        return [cut(one_line(block.summary), sheet.width), cut(f"{_INDENT}{one_line(block.soft)}", sheet.width)]
    return _joined(_part(block.summary, block.blocks, sheet))


def _findings(block: Findings, width: int) -> list[str]:
    said: set[str] = set()
    lines = []
    for each in block.findings:
        lines += _filled(f"{finding_title(each)} {each.statement}", width, "- ", "  ")
        for below in finding_lines(each, said):
            lines += _filled(below, width, "    ", "    ")
    if block.folded:
        lines.append(f"… and {len(block.folded)} more of the same rules; `--format json` has all")
    return lines


def _filled(text: str, width: int, first: str, others: str) -> list[str]:
    """Three blanks between the parts of a verdict stay, and a number keeps its unit."""
    flat = printable(text.strip().replace("   ", f"{_HELD}{_HELD} "))
    lines = wrap(
        _UNIT.sub(_HELD, flat), min(width, _PROSE), initial_indent=first, subsequent_indent=others,
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return [line.replace(_HELD, " ").rstrip() for line in lines]


def _preformatted(text: str, width: int) -> list[str]:
    lines = text.rstrip().splitlines()
    shown = [cut(f"{_INDENT}{printable(line)}", width) for line in lines[:_MOST_LINES]]
    more = len(lines) - _MOST_LINES
    return [*shown, *([f"{_INDENT}… and {more} more lines"] if more > 0 else [])]


def _table_block(block: TableBlock, sheet: _Sheet) -> list[str]:
    table = block.table
    if not table.rows:
        return []
    groups = [place for place, column in enumerate(table.columns) if column.use == "group"]
    lines = _grouped(table, groups, sheet.width) if groups else _plain(table, sheet)
    caption, note = (_filled(text, sheet.width, "", "") if text else [] for text in (table.caption, table.note))
    return [*caption, *lines, *note]


def _plain(table: TableData, sheet: _Sheet) -> list[str]:
    """A rule stands above the sum of the other rows."""
    rows = [[one_line(cell_text(cell)) for cell in row.cells] for row in table.rows]
    lines = render([_column(column) for column in table.columns], rows, sheet.width)
    shown = lines[len(lines) - len(rows) :]
    sheet.kinds.update((line, row.kind) for line, row in zip(shown, table.rows, strict=True) if row.kind)
    total = next((place for place, row in enumerate(table.rows) if row.kind == "total"), None)
    if total is not None:
        lines.insert(len(lines) - len(rows) + total, next(line for line in lines if line.startswith("--")))
    return lines


def _grouped(table: TableData, groups: Sequence[int], width: int) -> list[str]:
    """Rows indented below what they have in common, which has the whole width."""
    places = [place for place, column in enumerate(table.columns) if not column.use]
    columns = [_column(table.columns[place]) for place in places]
    rows = [[one_line(cell_text(row.cells[place])) for place in places] for row in table.rows]
    lines = render(columns, rows, width - len(_INDENT))
    head = len(lines) - len(rows)
    shown = [f"{_INDENT}{line}".rstrip() for line in lines[: head - 1]] + [f"{lines[head - 1]}--"]
    last = None
    for row, line in zip(table.rows, lines[head:], strict=True):
        names = ", ".join(filter(None, (one_line(cell_text(row.cells[place])) for place in groups)))
        if names != last:
            shown.append(cut(names, width))
            last = names
        shown.append(f"{_INDENT}{line}")
    return shown


def _column(column: TableColumn) -> TextColumn:
    drop = _LESS_NEEDED.index(column.title) if column.title in _LESS_NEEDED else None
    return TextColumn(column.title, right=not column.is_text, least=_LEAST.get(column.room), drop=drop)
