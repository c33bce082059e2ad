"""The report of a study: its sections, in the order of its shape."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

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

    SectionBuilder = Callable[[ReportContext], Section | None]

Scope = Literal["page", "text"]
"""page: everything. text: what fits into a wiki and a terminal, which fold nothing away."""

_BEGINNING = (sections.validity, sections.findings)
_END = (sections.courses, sections.target, sections.environment, sections.notes)
_TEXT_END = (sections.circumstances, sections.other_charts, sections.notes)
ARRANGEMENTS: dict[tuple[Scope, Shape], tuple[SectionBuilder, ...]] = {
    # Versions against one another, level by level.
    ("page", "ladder"): (*_BEGINNING, sections.verdicts, sections.ladder, sections.operations, *_END),
    ("text", "ladder"): (*_BEGINNING, sections.verdicts, sections.ladders, *_TEXT_END),
    # What each operation does, level by level.
    ("page", "operations"): (*_BEGINNING, sections.ladder, sections.operations, sections.verdicts, *_END),
    ("text", "operations"): (*_BEGINNING, sections.ladder, sections.operations, sections.verdicts, *_TEXT_END),
    # Each version against the one before and against the first.
    ("page", "chain"): (
        *_BEGINNING, sections.summary, sections.verdicts, sections.ladder, sections.operations, *_END,
    ),
    ("text", "chain"): (
        *_BEGINNING, sections.summary, sections.verdicts, sections.ladder, sections.operations, *_TEXT_END,
    ),
    # Who carries which rate of arrivals.
    ("page", "rates"): (
        *_BEGINNING, sections.summary, sections.ladder, sections.verdicts, sections.operations, *_END,
    ),
    ("text", "rates"): (*_BEGINNING, sections.summary, sections.verdicts, *_TEXT_END),
}  # fmt: skip


def study_document(
    analysis: Analysis, refs: tuple[str, ...] = (), *, scope: Scope = "page", charts: bool = True, command: str = ""
) -> ReportDocument:
    """refs: how it can be asked for again. charts: whether it has any. command: what makes it, for its notes."""
    of = ReportContext.of(analysis, command, charts=charts)
    made = [build(of) for build in ARRANGEMENTS[scope, shape_of(of.study)]]
    return ReportDocument(
        of.study.title or of.study.name or "Report",
        (of.study.question,) if of.study.question else (),
        _head(of),
        tuple(section for section in made if section is not None),
        of.pictures.specs(),
        config("page"),
        written_by(),
        refs,
    )


def _head(of: ReportContext) -> tuple[Block, ...]:
    return (Answers(answers(of.analysis)), Facts(status(of.study, of.cells), "status"))


def written_by() -> str:
    return f"Plimsoll {version('plimsoll')}"
