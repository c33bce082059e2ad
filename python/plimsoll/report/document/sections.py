"""The sections of a report of an experiment, each from what the analysis has for it. In which order they stand is its
shape's business."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.report.charts import MOST_COURSES, cell_label, charts_of, trial_label
from plimsoll.report.document import blocks
from plimsoll.report.document.before_after import before_after_table
from plimsoll.report.document.blocks import (
    Choice,
    Details,
    Facts,
    Figures,
    NamedValue,
    Panel,
    Paragraph,
    Preformatted,
    Section,
    TableBlock,
    Tabs,
)
from plimsoll.report.document.cautions import cautions
from plimsoll.report.document.findings import shown_findings
from plimsoll.report.document.footnotes import Footnotes, general
from plimsoll.report.document.overview import generator_table
from plimsoll.report.document.pictures import ShownCharts, main_ones
from plimsoll.report.document.summary import summary_table
from plimsoll.report.document.tables import MOST_AT_A_GLANCE, failure_table, locust_tables, shown
from plimsoll.report.document.target_side import observed_table, slowest_table, work_tables
from plimsoll.report.document.verdict_tables import verdict_table
from plimsoll.say.answer.shape import changes_of, collected, facts_of
from plimsoll.say.comparisons import WORDS
from plimsoll.say.numbers import counted
from plimsoll.stats.cells import cells_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from plimsoll.report.charts import Chart
    from plimsoll.report.document.blocks import Block
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary
    from plimsoll.stats.study import Level, Study

    SectionBuilder = Callable[["ReportContext"], Section | None]

MOST_VERDICTS = 1500
MOST_ENDPOINT_ROWS = 8000
"""Of all tables of endpoints together: some 400 bytes each."""
MOST_FAILURES = 200
MOST_FORESTS = 24
MOST_ANSWERING = 2
"""Charts beside the answer."""
MOST_OPEN = 4
"""Levels that are all open at first; of more, the first one is."""


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What a report is about, and what its sections have in common."""

    analysis: Analysis
    cells: Sequence[CellSummary]
    pictures: ShownCharts
    notes: Footnotes
    """To single numbers; the last section shows those that the others before it have made."""

    command: str = ""
    """What makes this very report, for its notes."""

    @classmethod
    def of(cls, analysis: Analysis, command: str = "", *, charts: bool = True) -> Self:
        """charts: whether it has any."""
        drawn = charts_of(analysis) if charts else ()
        return cls(analysis, cells_of(analysis.study), ShownCharts(drawn), Footnotes(), command)

    @property
    def study(self) -> Study:
        return self.analysis.study

    def without_pictures(self) -> Self:
        """The same for sections that are read as text."""
        return replace(self, pictures=ShownCharts(()))


def summary(of: ReportContext) -> Section:
    """The table that answers, with a chart or two."""
    charts = _answering(of)
    block = of.pictures.block(charts, wide=len(charts) == 1)
    side_by_side = before_after_table(of.analysis)
    tables = (*([shown(side_by_side)] if side_by_side else []), shown(summary_table(of.analysis, of.cells)))
    return Section("summary", "Summary", (*tables[:1], *block, *tables[1:]))


def _answering(of: ReportContext) -> list[Chart]:
    """Over several levels throughput and latency; at one level the ratios that were asked for, or the percentiles."""
    main, _ = main_ones([chart for chart in of.pictures.all if not chart.name.startswith("parts")])
    ladders = [chart for chart in main if chart.kind.startswith("ladder")]
    if ladders:
        return ladders[:MOST_ANSWERING]
    ratios = [chart for chart in main if chart.kind == "verdicts"]
    if ratios and len(of.analysis.judged) <= MOST_AT_A_GLANCE:
        return ratios[:1]
    return [chart for chart in main if chart.kind == "percentiles"][:MOST_ANSWERING]


def careful(of: ReportContext) -> Section:
    return Section("careful", "", (cautions(of.analysis),), label="Be careful")


def findings(of: ReportContext) -> Section | None:
    if not of.analysis.findings:
        return None
    return Section("findings", "Findings", (shown_findings(of.analysis.findings, of.pictures),))


def collected_texts(of: ReportContext) -> Section | None:
    """Facts of the variants, and what hooks collected from the target: query plans."""
    facts = tuple(
        NamedValue(f"{variant}, {name}", _values(values))
        for variant in of.study.variants
        for name, values in facts_of(of.study, variant).items()
    )
    texts = tuple(
        Details(f"{name} of {variant}", (Preformatted(text),))
        for variant in of.study.variants
        for name, text in collected(of.study, variant).items()
    )
    found: tuple[Block, ...] = (*((Facts(facts),) if facts else ()), *texts)
    return Section("collected", "Variant by variant", found) if found else None


def details_of(builders: Sequence[SectionBuilder]) -> SectionBuilder:
    """One section with what these make, each folded."""

    def details(of: ReportContext) -> Section | None:
        plain = of.without_pictures()
        made = [section for build in builders if (section := build(plain)) is not None]
        folded = tuple(Details(section.title, section.blocks) for section in made)
        return Section("details", "Details", folded) if folded else None

    return details


def evidence(of: ReportContext) -> Section:
    """Every comparison and finding with what it rests on, and how to read them; folded."""
    builders = (verdicts, findings, circumstances, notes)
    plain = of.without_pictures()
    made = [section for build in builders if (section := build(plain)) is not None]
    return Section("evidence", "Evidence", tuple(Details(section.title, section.blocks) for section in made))


def _values(values: Sequence[str | float]) -> str:
    """The same for all runs, or each run's."""
    texts = [each if isinstance(each, str) else f"{each:.6g}" for each in values]
    return texts[0] if len(set(texts)) == 1 else f"{', '.join(texts)} ({counted(len(texts), 'run')})"


def verdicts(of: ReportContext) -> Section | None:
    comparisons = of.analysis.comparisons
    if not comparisons:
        return None
    forests = [chart for chart in of.pictures.all if chart.kind == "verdicts"]
    first = [chart for chart in forests if chart.name == "verdicts"]
    others = [chart for chart in forests if chart.name != "verdicts"][:MOST_FORESTS]
    used = {each.word for each in comparisons}
    table = TableBlock(
        verdict_table(of.analysis, MOST_VERDICTS, of.notes),
        "verdict-table",
        has_filter=True,
        words=tuple(text for word, text in WORDS.items() if word in used),
    )
    overview = of.pictures.block(first, wide=True)
    folded = _folded("All ratios as charts", of.pictures.block(others))
    return Section("verdicts", "Verdicts", (*overview, table, *folded))


def ladder(of: ReportContext) -> Section | None:
    """All endpoints together over the levels, in charts. Of several operations, each has its own."""
    if len(of.study.operations) != 1 or len(of.study.levels) < 2:
        return None
    main, more = main_ones([chart for chart in of.pictures.all if chart.kind.startswith("ladder")])
    answering = _answering(of)
    # The summary shows them.
    main = [chart for chart in main if chart not in answering]
    found: tuple[Block, ...] = (*of.pictures.block(main), *_folded("Endpoint by endpoint", of.pictures.block(more)))
    return Section("ladder", "Over the levels", found, label="Levels") if found else None


def operations(of: ReportContext) -> Section | None:
    parts = [Panel(name or "all", _operation(of, name)) for name in of.study.operations]
    if len(parts) > 1:
        return Section("operations", "Operations", (Tabs("Operations", tuple(parts)),))
    return Section("operations", "Endpoints", parts[0].blocks) if parts else None


def _operation(of: ReportContext, name: str) -> tuple[Block, ...]:
    own = [cell for cell in of.cells if cell.operation == name]
    main, more, parts = curves_of(of, name)
    ladder_of_its_own: tuple[Block, ...] = ()
    if len(of.study.operations) > 1:
        ladder_of_its_own = of.pictures.block(_ladder_of(of, name))
    return (
        *ladder_of_its_own,
        *_failures(of, name, own),
        *of.pictures.block([*(chart for chart in (*main, *more) if not chart.level), *parts]),
        *_levels(of, name, own, main, more),
    )


def curves_of(of: ReportContext, operation: str) -> tuple[list[Chart], list[Chart], list[Chart]]:
    """Percentile curves: of all endpoints together, of single ones, and where the time went."""
    curves = [chart for chart in of.pictures.all if chart.kind == "percentiles" and chart.operation == operation]
    parts = [chart for chart in curves if chart.name.startswith("parts")]
    main, more = main_ones([chart for chart in curves if chart not in parts])
    return main, more, parts


def _ladder_of(of: ReportContext, operation: str) -> list[Chart]:
    charts = [each for each in of.pictures.all if each.kind.startswith("ladder") and each.operation == operation]
    return main_ones(charts)[0]


def failure_figure(of: ReportContext, operation: str) -> tuple[Figures, ...]:
    charts = [each for each in of.pictures.all if each.kind == "failures" and each.operation == operation]
    return of.pictures.block(charts[:1], wide=True)


def _failures(of: ReportContext, operation: str, cells: Sequence[CellSummary]) -> tuple[Block, ...]:
    labelled = [(cell_label(of.study, cell.variant, cell.level), cell) for cell in cells]
    table = failure_table(labelled, MOST_FAILURES, _place(of, operation))
    if table is not None:
        return (*failure_figure(of, operation), shown(table))
    counts = [cell.main.failures if cell.main is not None else None for cell in cells]
    if all(each is None for each in counts):
        return ()
    if None in counts:
        return (Paragraph("No request failed where failures were counted.", "soft"),)
    return (Paragraph("No request failed.", "soft"),)


def _levels(
    of: ReportContext, operation: str, cells: Sequence[CellSummary], main: Sequence[Chart], more: Sequence[Chart]
) -> tuple[Block, ...]:
    levels = [level for level in of.study.levels if any(cell.level == level for cell in cells)]
    found: list[Block] = []
    for place, level in enumerate(levels):
        blocks = _at_level(of, operation, [cell for cell in cells if cell.level == level], level, main, more)
        is_open = place == 0 or len(levels) <= MOST_OPEN
        found += blocks if level is None else (Details(str(level), blocks, is_open, is_level=True),)
    return tuple(found)


def _at_level(
    of: ReportContext,
    operation: str,
    cells: Sequence[CellSummary],
    level: Level | None,
    main: Sequence[Chart],
    more: Sequence[Chart],
) -> tuple[Block, ...]:
    """Locust's two tables, and the curves of that level."""
    variants = len(of.study.variants)
    most = max(50, MOST_ENDPOINT_ROWS // max(1, 2 * len(of.cells))) * variants
    place = _place(of, operation, level)
    requests, percentiles = locust_tables(cells, most, names_variant=variants > 1, place=place)
    at = str(level) if level is not None else ""
    folded = of.pictures.block(chart for chart in more if at and chart.level == at)
    return (
        shown(requests),
        shown(percentiles),
        *of.pictures.block(chart for chart in main if at and chart.level == at),
        *_folded("Percentile curves endpoint by endpoint", folded),
    )


def courses(of: ReportContext) -> Section | None:
    """Second by second, one run at a time."""
    parts = []
    for trial in of.study.trials[:MOST_COURSES]:
        own = [each for each in of.pictures.all if each.kind.startswith("course") and each.trial == trial.id]
        if own:
            parts.append(Panel(trial_label(of.study, trial), of.pictures.block(own)))
    if not parts:
        return None
    blocks: list[Block] = [Choice("run", tuple(parts))] if len(parts) > 1 else [*parts[0].blocks]
    if len(of.study.trials) > MOST_COURSES:
        note = f"The first {MOST_COURSES} of {len(of.study.trials)} runs; `plimsoll show` has each."
        blocks.append(Paragraph(note, "note"))
    return Section("course", "Second by second", tuple(blocks), label="Time")


def target(of: ReportContext) -> Section | None:
    observed = observed_table(of.study)
    tables = tuple(shown(each) for each in (slowest_table(of.study), *work_tables(of.study), observed) if each)
    charts = of.pictures.block(chart for chart in of.pictures.all if chart.kind == "target")
    if not tables and not charts:
        return None
    return Section("target", "The target's side", (*tables, *charts), label="Target")


def environment(of: ReportContext) -> Section | None:
    """With a row for each run."""
    generator = generator_table(of.study)
    return measured(_circumstances(of), () if generator is None else (shown(generator),))


def circumstances(of: ReportContext) -> Section | None:
    """The same in short."""
    return measured(_circumstances(of))


def _circumstances(of: ReportContext) -> tuple[NamedValue, ...]:
    study = of.study
    known = [
        ("source", study.source),
        ("measured by", study.command),
        ("order", "repeats ran next to one another, in random order" if study.interleaved else ""),
        *((f"changed in {variant}", text) for variant, text in changes_of(study).items()),
        *study.about.items(),
    ]
    return tuple(NamedValue(name, text) for name, text in known if text)


def measured(facts: tuple[NamedValue, ...], more: tuple[Block, ...] = ()) -> Section | None:
    """How it was. None when nothing is known."""
    blocks = (*((Facts(facts),) if facts else ()), *more)
    return Section("environment", "How it was measured", blocks, label="Environment") if blocks else None


def notes(of: ReportContext, first: Sequence[str] = ()) -> Section:
    """first: lines before those that the numbers ask for. To be made after all other sections."""
    block = blocks.Notes(tuple(of.notes.lines()), (*first, *general(of.analysis, of.command)))
    return Section("notes", "How to read this", (block,), label="Notes")


def _place(of: ReportContext, operation: str, level: Level | None = None) -> str:
    """ " of upload at 50 users": captions that are the same would not tell one table from another."""
    of_operation = f" of {operation}" if len(of.study.operations) > 1 and operation else ""
    return of_operation + (f" at {level}" if level is not None else "")


def _folded(summary: str, blocks: tuple[Block, ...]) -> tuple[Details, ...]:
    return (Details(summary, blocks),) if blocks else ()
