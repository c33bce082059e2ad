"""The report of a study: its sections, in the order of its shape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from plimsoll.report.charts.chart import config
from plimsoll.report.document import sections
from plimsoll.report.document.blocks import Answer, Doubts, Paragraph, ReportDocument, written_by
from plimsoll.report.document.capacity import capacity_picture, capacity_sections
from plimsoll.report.document.opening import threshold_text
from plimsoll.report.document.pictures import ShownCharts
from plimsoll.report.document.run import run_document
from plimsoll.report.document.sections import ReportContext
from plimsoll.report.document.setup import setup_text
from plimsoll.report.gate import gate_word, regressions, unexplained
from plimsoll.report.sources import RunSource, StudySource
from plimsoll.say.answer import answer_of
from plimsoll.say.answer.shape import Shape, shape_of
from plimsoll.say.gates import gate_title, newest_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.report.document.blocks import Block
    from plimsoll.report.document.sections import SectionBuilder
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.capacity.probe import CapacitySearch

Scope = Literal["page", "text"]
"""page: everything. text: for a wiki and a terminal; details and evidence are folded."""

_TABLES: dict[Shape, tuple[SectionBuilder, ...]] = {
    "ladder": (sections.ladder, sections.operations),
    "operations": (sections.operations, sections.ladder),
    "chain": (sections.collected_texts, sections.ladder, sections.operations),
    "rates": (sections.ladder, sections.operations),
}
"""The details of each shape of report, the most asked for first."""
_BEFORE = (sections.summary, sections.careful)
_EVIDENCE = (sections.verdicts, sections.findings)


def arrangement(scope: Scope, shape: Shape) -> tuple[SectionBuilder, ...]:
    """The sections in their order: the answer's table, what to be careful about, details, evidence."""
    if scope == "page":
        return (
            *_BEFORE, *_TABLES[shape], sections.courses, sections.target, *_EVIDENCE, sections.environment,
            sections.notes,
        )  # fmt: skip
    return (*_BEFORE, sections.details_of((*_TABLES[shape], sections.target)), sections.evidence)


def document_of(
    source: RunSource | StudySource, *, scope: Scope = "page", charts: bool = True, command: str = ""
) -> ReportDocument:
    """That of a run or of an analysis. scope: of an analysis."""
    if not isinstance(source, RunSource) and source.run is None:
        return study_document(source.analysis, scope=scope, charts=charts, command=command)
    run = source if isinstance(source, RunSource) else source.run
    assert run is not None
    # Before the view, which is then that of the reading.
    reading = run.reading
    document = run_document(
        run.view,
        run.run,
        run.assessment,
        reading,
        is_growing=run.run is not None and run.run.status == "running",
        charts=charts,
        command=command,
    )
    remark = "" if isinstance(source, RunSource) else source.remark
    return replace(document, lines=(*document.lines, remark)) if remark else document


def study_document(
    analysis: Analysis, refs: tuple[str, ...] = (), *, scope: Scope = "page", charts: bool = True, command: str = ""
) -> ReportDocument:
    """refs: how it can be asked for again. charts: whether it has any. command: what makes it, for its notes."""
    if analysis.study.search is not None:
        return _search_document(analysis, analysis.study.search, refs, charts=charts, command=command)
    of = ReportContext.of(analysis, command, charts=charts)
    made = [build(of) for build in arrangement(scope, shape_of(of.study))]
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


def _search_document(
    analysis: Analysis, search: CapacitySearch, refs: tuple[str, ...], *, charts: bool, command: str
) -> ReportDocument:
    """Of a search for capacity."""
    study = analysis.study
    pictures = ShownCharts([capacity_picture(study, search)] if charts else [])
    return ReportDocument(
        study.name,
        (study.question,),
        (Answer(answer_of(analysis)), *pictures.block(pictures.all, wide=True)),
        capacity_sections(study, search, command),
        pictures.specs(),
        config("page"),
        written_by(),
        refs,
    )


def _head(of: ReportContext) -> tuple[Block, ...]:
    return (*_gate(of.analysis), Answer(answer_of(of.analysis)), Paragraph(setup_text(of.study), "soft"))


def _gate(analysis: Analysis) -> Iterator[Block]:
    """Of a run after earlier ones: how a gate ends, its thresholds, and which versions these are."""
    newest = analysis.study.newest
    if newest is not None:
        source = StudySource(analysis)
        word, worse = gate_word(source), len(regressions(analysis))
        title = gate_title(word, newest.thresholds, worse, len(unexplained(analysis)))
        lines = map(threshold_text, newest.thresholds)
        yield Doubts(title, word in ("Failed", "Invalid"), tuple(lines), (newest_text(newest),))
