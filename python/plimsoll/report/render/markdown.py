"""A document as GitHub-flavoured Markdown, for a wiki, a README or a comment on a pull request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line, printable
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
from plimsoll.report.document.study import document_of
from plimsoll.report.render.wording import (
    blocks_of,
    cell_text,
    finding_lines,
    finding_title,
    status_text,
    verdict_lines,
)
from plimsoll.report.text import cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.report.document.blocks import Block, NamedValue, ReportDocument, ShownFinding
    from plimsoll.report.sources import OutputRequest, StudySource

DEEPEST = 6
"""Of Markdown's headings."""


def markdown_report(source: StudySource, request: OutputRequest) -> str:
    return markdown(document_of(source, scope="text", charts=False, command=request.command))


def markdown(document: ReportDocument, under: int | None = None, images: Mapping[str, str] | None = None) -> str:
    """under: how deep the heading is that it stands under in another document; its own title is then left out. images:
    where its charts are, by name; those that are missing are left out."""
    titles = {chart.name: chart.title for chart in document.charts}
    sheet = _Sheet(titles, images or {})
    depth = 1 if under is None else under
    parts = [f"# {escape(document.title)}"] if under is None else []
    parts += map(_opening, document.lines)
    parts += [text for block in document.head for text in sheet.block(block, depth + 1)]
    for section in document.sections:
        parts += sheet.part(section.title, tuple(blocks_of(section)), depth + 1)
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that shows as it is: nothing in it formats, links, mentions anybody or ends a cell of a table."""
    return escape_within(text).strip()


def escape_within(text: str) -> str:
    """The same for a part of a line, whose blanks at both ends stay."""
    flat = printable(_BLANKS.sub(" ", text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    flat = _INTERVAL.sub("[\\1]", _ACTIVE.sub(r"\\\g<0>", flat))
    flat = _OUTER_UNDERSCORE.sub(r"\\_", flat)
    return _MENTION.sub(r"\g<1><!-- -->", flat)


def _prose(text: str) -> str:
    """A text in which names stand between backticks, which stay."""
    parts = _CODE.split(text)
    shown = [f"`{one_line(part)}`" if place % 2 else escape_within(part) for place, part in enumerate(parts)]
    return _AT_START.sub(r"\g<1>\\\g<2>", "".join(shown).strip())


def _opening(text: str) -> str:
    """Escaped text at the beginning of a line, where a list or a heading might begin."""
    return _AT_START.sub(r"\g<1>\\\g<2>", escape(text))


_CODE = re.compile(r"`([^`]+)`")
_BLANKS = re.compile(r"[ \t\r\n\f\v\x85\u2028\u2029]+")
_ACTIVE = re.compile(r"[\\`*\[\]|~]")
_INTERVAL = re.compile(r"\\\[([\d., %\u00a0]+)\\\]")
"""Brackets around numbers are no link."""
_OUTER_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""Within a word an underscore does nothing."""
_MENTION = re.compile(r"(?<!\w)([@#])(?=\w)")
"""@somebody would get a message, #12 would become a link."""
_AT_START = re.compile(r"^(\d*)([-+.)=#]|(?<=\d)[.)])(?=\s|$)")


@dataclass(frozen=True, slots=True)
class _Sheet:
    titles: Mapping[str, str]
    images: Mapping[str, str]

    def part(self, title: str, blocks: Sequence[Block], depth: int) -> list[str]:
        """Blocks under their heading; nothing if nothing can be shown of them."""
        texts = [text for block in blocks for text in self.block(block, depth + 1 if title else depth)]
        return [_heading(title, depth), *texts] if texts and title else texts

    def block(self, block: Block, depth: int) -> list[str]:
        """depth: of headings in it."""
        match block:
            case Paragraph():
                return [_prose(block.text)]
            case Preformatted():
                return [_preformatted([each.expandtabs() for each in block.text.rstrip().splitlines()])]
            case TableBlock():
                return _table_block(block)
            case Answer():
                first, *others = map(_prose, block.sentences)
                items = ["\n".join(f"- {each}" for each in others)] if others else []
                return [f"**Answer.** {first}", *items]
            case Facts(_, "status"):
                return [_opening(status_text(block))]
            case Facts():
                return ["\n".join(_facts(block.facts))]
            case Doubts():
                lines = (*block.lines, *block.small)
                return [f"**{escape(block.title)}**", *([_bullets(lines)] if lines else [])]
            case Findings():
                return _findings(block)
            case Details():
                return self._details(block, depth)
            case Tabs() | Choice():
                return [text for part in block.parts for text in self.part(part.title, part.blocks, depth)]
            case Notes():
                return [_bullets((*block.marks, *block.lines))] if block.marks or block.lines else []
            case Figures():
                return [self._image(name) for name in block.charts if name in self.images]

    def _image(self, name: str) -> str:
        return f"![{escape(self.titles[name])}]({self.images[name]})"

    def _details(self, block: Details, depth: int) -> list[str]:
        if block.is_level:
            return self.part(block.summary, block.blocks, depth)
        texts = [text for each in block.blocks for text in self.block(each, depth)]
        soft = f" ({escape(block.soft)})" if block.soft else ""
        return [_folded(f"{escape(block.summary)}{soft}", texts)] if texts else []


def _heading(text: str, depth: int) -> str:
    return f"{'#' * min(DEEPEST, depth)} {escape(text)}"


def _folded(summary: str, texts: Sequence[str]) -> str:
    return "\n\n".join([f"<details><summary>{summary}</summary>", *texts, "</details>"])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_opening(line)}" for line in lines)


def _findings(block: Findings) -> list[str]:
    said: set[str] = set()
    shown = "\n".join(_finding(each, said) for each in block.findings)
    if not block.folded:
        return [shown]
    folded = "\n".join(_finding(each, said) for each in block.folded)
    return [shown, _folded(f"{len(block.folded)} more of the same rules", [folded])]


def _finding(finding: ShownFinding, said: set[str]) -> str:
    first = f"- **{escape(finding_title(finding))}** {escape(finding.statement)}"
    return "\n".join([first, *(f"  - {_opening(line)}" for line in finding_lines(finding, said))])


def _preformatted(lines: Sequence[str]) -> str:
    shown = [printable(" ".join(line.splitlines())) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *shown, fence])


def _facts(facts: Sequence[NamedValue]) -> list[str]:
    rows = [[escape(each.name), escape(each.value)] for each in facts]
    return _aligned(["What", "Value"], rows, [False, False])


def _table_block(block: TableBlock) -> list[str]:
    table = block.table
    if not table.rows:
        return []
    rows = [[escape(cell_text(cell)) for cell in row.cells] for row in table.rows]
    titles = [escape(column.title) for column in table.columns]
    text = "\n".join(_aligned(titles, rows, [not column.is_text for column in table.columns]))
    details = verdict_lines(table)
    return [
        *([f"**{escape(table.caption)}**"] if table.caption else []),
        text,
        *([_opening(table.note)] if table.note else []),
        *([_preformatted(details)] if details else []),
    ]


def _aligned(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    widths = [max(3, *(cells(row[place]) for row in [titles, *rows])) for place in range(len(titles))]
    rule = [f"{'-' * (width - 1)}:" if is_right else "-" * width for is_right, width in zip(right, widths, strict=True)]
    return [_line(each, right, widths) for each in (titles, rule, *rows)]


def _line(texts: Sequence[str], right: Sequence[bool], widths: Sequence[int]) -> str:
    padded = []
    for text, is_right, width in zip(texts, right, widths, strict=True):
        blank = " " * (width - cells(text))
        padded.append(blank + text if is_right else text + blank)
    return f"| {' | '.join(padded)} |"
