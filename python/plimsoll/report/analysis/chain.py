"""A chain of versions as a journal: what each step changed, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.analysis import tables
from plimsoll.report.analysis.document import Bullet, Bullets, Heading, Paragraph, Table, Verbatim
from plimsoll.report.document.shape import changes_of, collected, told
from plimsoll.report.gate import is_primary
from plimsoll.report.numbers import NONE, counted
from plimsoll.report.render.text_table import TextColumn, one_line
from plimsoll.report.words import significant, unit_of, value
from plimsoll.stats.cells import cell_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.report.analysis.document import Block
    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.study import Against, Level, Metric, Study

_MOST_SUMMARIES = 4


def chain(analysis: Analysis, notes: Footnotes) -> Iterator[Block]:
    """What came of the primary metrics step by step, then a section per step."""
    study = analysis.study
    yield Heading("Step by step", 2)
    yield _steps(study)
    for operation in study.operations:
        for level in study.levels:
            own = [each for each in analysis.comparisons if (each.operation, each.level) == (operation, level)]
            for key, metric in _subjects(study, own):
                yield Heading(_title(study, metric, key, level, operation), 3)
                yield _summary(study, own, key, metric, level, operation, notes)
    for number, variant in enumerate(study.variants):
        yield from _step(analysis, number, variant, notes)


def _steps(study: Study) -> Table:
    changes = changes_of(study)
    columns = (TextColumn("Step", right=True), TextColumn("Variant", least=8), TextColumn("What changed", least=20))
    rows = [
        (str(number), one_line(variant), one_line(changes.get(variant, "")) or ("the baseline" if not number else NONE))
        for number, variant in enumerate(study.variants)
    ]
    return Table(columns, tuple(rows))


def _title(study: Study, metric: Metric, key: tuple[str, str], level: Level | None, operation: str) -> str:
    where = f" at {level}" if len(study.levels) > 1 and level is not None else ""
    unit = f" ({unit_of(metric)})" if unit_of(metric) else ""
    return f"{metric.text} of {tables.name_of(key)}{where}{f', {operation}' if operation else ''}{unit}"


def _subjects(study: Study, comparisons: Sequence[Comparison]) -> list[tuple[tuple[str, str], Metric]]:
    """What is told step by step: the primary metrics, or the first few there are."""
    chosen = [each for each in comparisons if is_primary(study, each)] or list(comparisons)
    found = dict.fromkeys((each.endpoint, each.metric) for each in chosen)
    return list(found)[:_MOST_SUMMARIES]


def _summary(
    study: Study,
    comparisons: Sequence[Comparison],
    key: tuple[str, str],
    metric: Metric,
    level: Level | None,
    operation: str,
    notes: Footnotes,
) -> Table:
    against = [each for each in _TITLES if each in study.against]
    columns = (
        TextColumn("Variant", least=8),
        TextColumn("Value", right=True),
        *(column for each in against for column in (TextColumn(f"Against {each}", right=True), TextColumn("Verdict"))),
        TextColumn("Bytes a reply", right=True),
    )
    rows = []
    for variant in study.variants:
        cell = cell_of(study, variant, level, operation)
        row = cell.endpoint(key)
        own = [each for each in comparisons if (each.b, each.endpoint, each.metric) == (variant, key, metric)]
        shown = notes.missing(tables.reason(cell)) if row is None and cell.reasons else NONE
        rows.append(
            (
                one_line(variant),
                value(metric, row.value(metric)) if row is not None else shown,
                *(text for each in against for text in _against(study, own, variant, each, notes)),
                significant(row.size, 3) if row is not None and row.size is not None else NONE,
            )
        )
    # The terminal has room for one verdict in a line; the sections of the steps have them all.
    return Table(columns, tuple(rows), spare=frozenset(range(4, len(columns))))


_TITLES: tuple[Against, ...] = ("previous", "baseline")


def _against(
    study: Study, own: Sequence[Comparison], variant: str, against: Against, notes: Footnotes
) -> tuple[str, str]:
    """Ratio and verdict."""
    place = study.variants.index(variant)
    if not place:
        return "", ""
    other = study.variants[0 if against == "baseline" else place - 1]
    found = next((each for each in own if each.a == other), None)
    return (NONE, NONE) if found is None else (tables.ratio_cell(found), tables.verdict_cell(found, notes))


def _step(analysis: Analysis, number: int, variant: str, notes: Footnotes) -> Iterator[Block]:
    """What it changed, how it compares, how large replies were, what was collected."""
    study = analysis.study
    yield Heading(f"{number}. {variant}", 2)
    changes = changes_of(study).get(variant)
    if changes:
        yield Paragraph(f"Changed: {changes}")
    comparisons = [each for each in analysis.comparisons if each.b == variant]
    groups = dict.fromkeys((each.a, each.level, each.operation) for each in comparisons)
    for a, level, operation in sorted(groups, key=lambda group: -study.variants.index(group[0])):
        own = [each for each in comparisons if (each.a, each.level, each.operation) == (a, level, operation)]
        which = _role(study, variant, a)
        where = f" at {level}" if len(study.levels) > 1 and level is not None else ""
        yield Heading(f"Against {a}{f', {which}' if which else ''}{where}{f' ({operation})' if operation else ''}", 3)
        yield tables.compared(study, own, notes)
    yield from _work(study, variant, notes)
    for name, text in collected(study, variant).items():
        yield Verbatim(tuple(text.rstrip().splitlines()), f"{name} of {variant}")


def _role(study: Study, variant: str, other: str) -> str:
    place = study.variants.index(variant)
    if place and study.variants[place - 1] == other:
        return "the step before"
    return "the baseline" if study.variants[0] == other != "baseline" else ""


def _work(study: Study, variant: str, notes: Footnotes) -> Iterator[Block]:
    """How much work its runs did: requests, failures, size of replies, and what was read of its data."""
    titles = ("# Requests", "Failed", "Requests/s", "Bytes a reply")
    columns = (
        TextColumn("Level"),
        TextColumn("Endpoint", least=12),
        *(TextColumn(title, right=True) for title in titles),
    )
    rows: list[tuple[str, ...]] = []
    for operation in study.operations:
        for level in study.levels:
            cell = cell_of(study, variant, level, operation)
            if cell.trials and not cell.valid:
                missing = notes.missing(tables.reason(cell))
                rows.append((str(level or ""), operation or NONE, *(missing,) * len(titles)))
            for row in (*cell.endpoints, *([cell.total] if cell.total else [])):
                rows.append(
                    (
                        str(level or ""),
                        tables.name_of(row.key),
                        NONE if row.requests is None else str(row.requests),
                        tables.failed(row),
                        NONE if row.rate is None else significant(row.rate, 3),
                        NONE if row.size is None else significant(row.size, 3),
                    )
                )
    if rows:
        yield Heading("Work", 3)
        yield Table(columns, tuple(rows))
    facts = [Bullet(_values(values), f"{name}:") for name, values in told(study, variant).items()]
    if facts:
        yield Bullets(tuple(facts))


def _values(values: Sequence[str | float]) -> str:
    """The same for all runs, or each run's."""
    texts = [each if isinstance(each, str) else f"{each:.6g}" for each in values]
    return texts[0] if len(set(texts)) == 1 else f"{', '.join(texts)} ({counted(len(texts), 'run')})"
