"""A report as GitHub-flavoured Markdown, for a wiki, a README or a comment on a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.report.analysis.document import Bullets, Heading, Paragraph, Pictures, Table, Verbatim
from plimsoll.report.render.text_table import TextColumn, cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.analysis.document import Block, Bullet, Document

DEEPEST = 6
"""Of Markdown's headings."""


def markdown(document: Document, under: int | None = None) -> str:
    """under: how deep the heading is that it stands under in another document; its own title is then left out."""
    blocks = document.blocks
    if under is not None:
        blocks = tuple(block for block in blocks if not isinstance(block, Heading) or block.depth > 1)
    return "\n\n".join(_block(block, 0 if under is None else under - 1) for block in blocks) + "\n"


def escape(text: str) -> str:
    """Text that shows as it is: nothing in it formats, links, mentions anybody or ends a cell of a table."""
    flat = _BLANKS.sub(" ", text).strip()
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    flat = _INTERVAL.sub("[\\1]", _ACTIVE.sub(r"\\\g<0>", flat))
    flat = _OUTER_UNDERSCORE.sub(r"\\_", flat)
    return _MENTION.sub(r"\g<1><!-- -->", flat)


def _opening(text: str) -> str:
    """Escaped text at the beginning of a line, where a list or a heading might begin."""
    return _AT_START.sub(r"\g<1>\\\g<2>", escape(text))


_BLANKS = re.compile(r"[ \t\r\n\f\v\x85\u2028\u2029]+")
_ACTIVE = re.compile(r"[\\`*\[\]|~]")
_INTERVAL = re.compile(r"\\\[([\d., %\u00a0]+)\\\]")
"""Brackets around numbers are no link."""
_OUTER_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""Within a word an underscore does nothing."""
_MENTION = re.compile(r"(?<!\w)([@#])(?=\w)")
"""@somebody would be told, #12 would be linked."""
_AT_START = re.compile(r"^(\d*)([-+.)=#]|(?<=\d)[.)])(?=\s|$)")


def _block(block: Block, deeper: int) -> str:
    match block:
        case Heading():
            return f"{'#' * min(DEEPEST, block.depth + deeper)} {escape(block.text)}"
        case Paragraph():
            return _opening(block.text)
        case Bullets():
            return _bullets(block)
        case Table():
            return "\n".join(_table(block))
        case Verbatim():
            return _verbatim(block)
        case Pictures():
            return "\n\n".join(f"![{escape(title)}]({file})" for title, file in block.files)


def _bullets(block: Bullets) -> str:
    text = "\n".join(_bullet(item) for item in block.items)
    if not block.folded:
        return text
    folded = "\n".join(_bullet(item) for item in block.folded)
    return f"{text}\n\n<details><summary>{len(block.folded)} more of the same rules</summary>\n\n{folded}\n\n</details>"


def _bullet(item: Bullet) -> str:
    strong = f"**{escape(item.strong)}** " if item.strong else ""
    text = strong + (escape if strong else _opening)(item.text)
    return "\n".join([f"- {text}", *(f"  - {_opening(line)}" for line in item.below)])


def _verbatim(block: Verbatim) -> str:
    longest = max((len(run) for line in block.lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    text = "\n".join([f"{fence}text", *block.lines, fence])
    if not block.summary:
        return text
    return f"<details><summary>{escape(block.summary)}</summary>\n\n{text}\n\n</details>"


def _table(table: Table) -> list[str]:
    rows = [[escape(cell) for cell in row] for row in table.rows]
    titles = [escape(column.title) for column in table.columns]
    widths = [max(3, *(cells(row[place]) for row in [titles, *rows])) for place in range(len(titles))]
    rule = [
        f"{'-' * (width - 1)}:" if column.right else "-" * width
        for column, width in zip(table.columns, widths, strict=True)
    ]
    return [_line(each, table.columns, widths) for each in (titles, rule, *rows)]


def _line(texts: Sequence[str], columns: Sequence[TextColumn], widths: Sequence[int]) -> str:
    padded = []
    for text, column, width in zip(texts, columns, widths, strict=True):
        blank = " " * (width - cells(text))
        padded.append(blank + text if column.right else text + blank)
    return f"| {' | '.join(padded)} |"
