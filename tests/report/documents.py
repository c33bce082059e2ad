"""What stands where in a document, for tests."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jsonschema import Draft202012Validator
from tests.report.studies import SAMPLES

from plimsoll.report.document.blocks import Choice, Details, Figures, Findings, TableBlock, Tabs
from plimsoll.report.document.study import study_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.report.document.blocks import Block, ChartSpec, ReportDocument, Section, TableData

B = TypeVar("B")

_SCHEMA = json.loads((Path(__file__).parents[2] / "web" / "contract.schema.json").read_text())
CONTRACT = Draft202012Validator({"$defs": _SCHEMA["$defs"], "$ref": "#/$defs/ReportDocument"})

document_of = functools.cache(lambda shape: study_document(SAMPLES[shape]()))


def section(document: ReportDocument, id: str) -> Section:
    return next(each for each in document.sections if each.id == id)


def inner(blocks: Sequence[Block]) -> Iterator[Block]:
    """These and all that are in them, in the order in which they are read."""
    for block in blocks:
        yield block
        match block:
            case Details():
                yield from inner(block.blocks)
            case Tabs() | Choice():
                for part in block.parts:
                    yield from inner(part.blocks)


def blocks_of(document: ReportDocument) -> Iterator[Block]:
    yield from inner(document.head)
    for each in document.sections:
        yield from inner(each.blocks)


def all_of(kind: type[B], document: ReportDocument) -> list[B]:
    return [block for block in blocks_of(document) if isinstance(block, kind)]


def tables_of(document: ReportDocument) -> list[TableData]:
    return [block.table for block in all_of(TableBlock, document)]


def table(document: ReportDocument, caption: str) -> TableData:
    return next(each for each in tables_of(document) if each.caption == caption)


def charts_in(blocks: Sequence[Block]) -> list[str]:
    """Names of those that these blocks show, without those of findings."""
    return [name for block in inner(blocks) if isinstance(block, Figures) for name in block.charts]


def shown_charts(document: ReportDocument) -> set[str]:
    """Names of all that some block shows."""
    names = {name for block in all_of(Figures, document) for name in block.charts}
    for block in all_of(Findings, document):
        names |= {name for each in (*block.findings, *block.folded) for name in each.charts}
    return names


def chart(document: ReportDocument, name: str) -> ChartSpec:
    return next(each for each in document.charts if each.name == name)
