"""Blocks of a document as lines of plain text, for the renderers that write text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.report.document.blocks import Chip, Choice, Details, Facts, Figures, TableBlock, Tabs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.report.document.blocks import Block, ReportDocument, Section, ShownFinding, TableData, TableRow

MOST_VERDICTS = 24
"""Verdicts of a table that are shown with all that they rest on."""


def cell_text(cell: str | Chip) -> str:
    return cell.text if isinstance(cell, Chip) else cell


def status_text(facts: Facts) -> str:
    """runs: 4, all valid; levels: 50 users, 100 users"""
    return "; ".join(f"{each.name}: {each.value}" for each in facts.facts)


def finding_title(finding: ShownFinding) -> str:
    return f"{finding.id}, {finding.word}:"


def finding_lines(finding: ShownFinding, said: set[str]) -> list[str]:
    """What belongs to a finding. said: rules and advice that need no repeating; these are added."""
    evidence = ", ".join(f"{each.name} {each.value}" for each in finding.evidence)
    titled = [("Rule", finding.rule), ("What to do", finding.advice)]
    lines = [
        *([f"Evidence: {evidence}."] if evidence else []),
        *(f"{title}: {text}" for title, text in titled if text and text not in said),
    ]
    said.update(text for _, text in titled)
    return lines


def verdict_lines(table: TableData) -> list[str]:
    """What the verdicts of a table rest on, those that the question is about or else all; nothing of too many."""
    with_lines = [row for row in table.rows if _chip_of(row) is not None]
    rows = [row for row in with_lines if row.kind == "main"] or with_lines
    if len(rows) > MOST_VERDICTS:
        return []
    lines = []
    for row in rows:
        chip = _chip_of(row)
        assert chip is not None
        lines += [_place_of(table, row), *(f"   {line}" for line in chip.lines)]
    return lines


def _chip_of(row: TableRow) -> Chip | None:
    return next((cell for cell in row.cells if isinstance(cell, Chip) and cell.lines), None)


def _place_of(table: TableData, row: TableRow) -> str:
    """p99 of GET /todos/, 50 users"""
    group = [cell_text(cell) for column, cell in zip(table.columns, row.cells, strict=True) if column.use == "group"]
    metric = next(cell_text(cell) for column, cell in zip(table.columns, row.cells, strict=True) if not column.use)
    return ", ".join([" of ".join([metric, *group[-1:]]), *reversed(group[:-1])])


def blocks_of(section: Section) -> Iterator[Block]:
    """A table that is called as its section needs no caption."""
    for block in section.blocks:
        if isinstance(block, TableBlock) and block.table.caption == section.title:
            yield replace(block, table=replace(block.table, caption=""))
        else:
            yield block


def is_picture(block: Block) -> bool:
    """Whether nothing but charts is in it."""
    match block:
        case Figures():
            return True
        case Details():
            return all(map(is_picture, block.blocks))
        case Tabs() | Choice():
            return all(is_picture(each) for part in block.parts for each in part.blocks)
        case _:
            return False


def bad_titles(document: ReportDocument) -> Iterator[str]:
    """What says that numbers must not be used."""
    blocks: Sequence[Block] = [*document.head, *(each for section in document.sections for each in section.blocks)]
    yield from (block.title for block in blocks if block.type == "doubts" and block.bad)
