"""The page of a study: its sections, in the order of its shape."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from plimsoll.report.charts.chart import config
from plimsoll.report.document import sections
from plimsoll.report.document.blocks import Answers, Facts, ReportDocument
from plimsoll.report.document.head import answers, status
from plimsoll.report.document.sections import ReportContext
from plimsoll.report.document.shape import Shape, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.report.document.blocks import Block, Section
    from plimsoll.stats.analysis import Analysis

    Maker = Callable[[ReportContext], Section | None]

_BEGINNING = (sections.validity, sections.findings)
_END = (sections.courses, sections.target, sections.environment, sections.notes)
ARRANGEMENTS: dict[Shape, tuple[Maker, ...]] = {
    # Versions against one another, level by level.
    "ladder": (*_BEGINNING, sections.verdicts, sections.ladder, sections.operations, *_END),
    # What each operation does, level by level.
    "operations": (*_BEGINNING, sections.ladder, sections.operations, sections.verdicts, *_END),
    # Each version against the one before and against the first.
    "chain": (
        *_BEGINNING, sections.summary, sections.verdicts, sections.ladder, sections.operations, *_END,
    ),
    # Who carries which rate of arrivals.
    "rates": (
        *_BEGINNING, sections.summary, sections.ladder, sections.verdicts, sections.operations, *_END,
    ),
}  # fmt: skip


def study_document(analysis: Analysis, refs: tuple[str, ...] = ()) -> ReportDocument:
    """refs: how it can be asked for again."""
    of = ReportContext.of(analysis)
    made = [make(of) for make in ARRANGEMENTS[shape_of(of.study)]]
    return ReportDocument(
        of.study.name or "Report",
        (of.study.question,) if of.study.question else (),
        _head(of),
        tuple(section for section in made if section is not None),
        of.pictures.specs(),
        config("page"),
        written_by(),
        refs,
    )


def _head(of: ReportContext) -> tuple[Block, ...]:
    told = answers(of.analysis)
    return (*((Answers(told),) if told else ()), Facts(status(of.study, of.cells), "status"))


def written_by() -> str:
    return f"Plimsoll {version('plimsoll')}"
