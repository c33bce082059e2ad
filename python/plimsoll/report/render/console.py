"""A report as plain text for the terminal."""

from __future__ import annotations

import re
import shutil
from textwrap import wrap
from typing import TYPE_CHECKING

from plimsoll.report.analysis.document import Bullets, Heading, Paragraph, Pictures, Table, Verbatim
from plimsoll.report.render.terminal import alarming
from plimsoll.report.render.text_table import cells, cut, one_line, render

if TYPE_CHECKING:
    from plimsoll.report.analysis.document import Block, Bullet, Document

_INDENT = "  "
_HELD = "\u00a0"
"""A blank that no line is broken at."""
_MOST_LINES = 20
"""Of a collected text; the JSON has all."""

_ALARMING = re.compile(r"INVALID|blocks verdicts|DIFFERENT(?:, at least [\d.]+ %)?: (?:slower|less|more failures)")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|ms|s|min|users?|B|KiB|MiB)\b|%)")
"""A number and its unit stay on one line."""


def console(document: Document, width: int | None = None, *, colour: bool = False) -> str:
    """width: in cells; None asks the terminal. colour: for a terminal that shows it."""
    width = width or shutil.get_terminal_size().columns
    sections = [_block(block, width) for block in document.blocks]
    text = "\n\n".join("\n".join(lines) for lines in sections if lines)
    # A title and what stands under it belong together.
    text = re.sub(r"^(-+)\n\n", r"\1\n", text, flags=re.MULTILINE)
    return _coloured(text) if colour else text


def _coloured(text: str) -> str:
    return _ALARMING.sub(lambda found: alarming(found[0]), text)


def _block(block: Block, width: int) -> list[str]:
    match block:
        case Heading():
            text = cut(one_line(block.text), width)
            return [text, ("=" if block.depth == 1 else "-") * cells(text)] if block.depth < 3 else [text]
        case Paragraph():
            return _filled(block.text, width, "", "")
        case Bullets():
            return _bullets(block, width)
        case Table():
            return _table(block, width)
        case Verbatim():
            return _verbatim(block, width)
        case Pictures():
            return []


def _bullets(block: Bullets, width: int) -> list[str]:
    lines = [line for item in block.items for line in _bullet(item, width)]
    if block.folded:
        lines.append(f"… and {len(block.folded)} more of the same rules; `--format json` has all")
    return lines


def _bullet(item: Bullet, width: int) -> list[str]:
    head = f"{item.strong} " if item.strong else ""
    lines = _filled(f"{head}{item.text}", width, "- ", "  ")
    for below in item.below:
        lines += _filled(below, width, "    ", "    ")
    return lines


def _filled(text: str, width: int, first: str, others: str) -> list[str]:
    """Three blanks between the parts of a verdict stay, and a number keeps its unit."""
    flat = _printable(text.replace(_HELD, " ").strip().replace("   ", f"{_HELD}{_HELD} "))
    lines = wrap(
        _UNIT.sub(_HELD, flat), width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip
    return [line.replace(_HELD, " ").rstrip() for line in lines]


def _verbatim(block: Verbatim, width: int) -> list[str]:
    if not block.summary:
        return [line for each in block.lines for line in _indented(each, width)]
    shown = [cut(f"  {_printable(line)}", width) for line in block.lines[:_MOST_LINES]]
    more = len(block.lines) - _MOST_LINES
    return [f"{block.summary}:", *shown, *([f"  … and {more} more lines"] if more > 0 else [])]


def _indented(line: str, width: int) -> list[str]:
    """A line, broken at blanks where it is too long; what follows is indented as it is, and four more."""
    indent = " " * (len(line) - len(line.lstrip(" ")))
    if cells(line) <= width:
        return [_printable(line)]
    return _filled(line, width, indent, f"{indent}    ")


def _table(table: Table, width: int) -> list[str]:
    places = [place for place in range(len(table.columns)) if place not in table.spare]
    columns = [table.columns[place] for place in places]
    rows = [[row[place] for place in places] for row in table.rows]
    if not table.grouped:
        return render(columns, rows, width)
    # Indented below the name of its group, which has the whole width.
    lines = render(columns[1:], [row[1:] for row in rows], width - len(_INDENT))
    head = len(lines) - len(rows)
    grouped = [f"{_INDENT}{line}".rstrip() for line in lines[: head - 1]] + [f"{lines[head - 1]}--"]
    last = None
    for row, line in zip(rows, lines[head:], strict=True):
        if row[0] != last:
            grouped.append(cut(row[0], width))
            last = row[0]
        grouped.append(f"{_INDENT}{line}")
    return grouped


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() or each == _HELD else "\ufffd" for each in text)
