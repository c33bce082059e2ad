"""The four shapes of a report: what stands between the findings and the notes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from plimsoll.report.analysis import tables
from plimsoll.report.analysis.chain import chain
from plimsoll.report.analysis.document import Heading, Paragraph, Table
from plimsoll.report.document.shape import shape_of
from plimsoll.report.numbers import NONE, amount, counted, share
from plimsoll.report.render.text_table import TextColumn, one_line
from plimsoll.report.words import TOTAL
from plimsoll.stats.cells import cell_of
from plimsoll.stats.study import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plimsoll.report.analysis.document import Block
    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.report.document.shape import Shape
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import Cell, EndpointCell
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.study import Level, Study


def body(analysis: Analysis, notes: Footnotes) -> Iterator[Block]:
    return SHAPES[shape_of(analysis.study)](analysis, notes)


def ladder(analysis: Analysis, notes: Footnotes) -> Iterator[Block]:
    """Throughput, latency and failures over the levels, then every comparison level by level."""
    study = analysis.study
    for operation in study.operations:
        if operation:
            yield Heading(operation, 2)
        yield from _overview(analysis, operation, notes, depth=3 if operation else 2)
        own = [each for each in analysis.comparisons if each.operation == operation]
        yield from _level_by_level(study, own, notes, depth=3 if operation else 2)


def operations(analysis: Analysis, notes: Footnotes) -> Iterator[Block]:
    """A section per operation: the ladder in short, and Locust's two tables per level."""
    study = analysis.study
    for operation in study.operations:
        depth = 3 if operation else 2
        if operation:
            yield Heading(operation, 2)
        if len(study.levels) > 1:
            yield from _overview(analysis, operation, notes, depth)
        found = [cell_of(study, variant, level, operation) for level in study.levels for variant in study.variants]
        cells = [cell for cell in found if cell.trials]
        for cell in cells:
            yield Heading(_title(cell, study), depth)
            if cell.total is None and not cell.endpoints:
                yield Paragraph(tables.reason(cell) if cell.reasons else "nothing was measured")
                continue
            yield tables.requests(cell)
            yield tables.percentiles(cell)
        if (kinds := tables.failures(cells)) is not None:
            yield Heading("Failures", depth)
            yield kinds
        own = [each for each in analysis.comparisons if each.operation == operation]
        yield from _level_by_level(study, own, notes, depth)


def rates(analysis: Analysis, notes: Footnotes) -> Iterator[Block]:
    """Implementations × rates of arrivals."""
    study = analysis.study
    for operation in study.operations:
        depth = 3 if operation else 2
        if operation:
            yield Heading(operation, 2)
        yield Heading("Who carries which rate", depth)
        yield _carried(study, operation, notes)
        own = [each for each in analysis.comparisons if each.operation == operation]
        yield from _level_by_level(study, own, notes, depth)


SHAPES: Mapping[Shape, Callable[[Analysis, Footnotes], Iterator[Block]]] = {
    "ladder": ladder,
    "operations": operations,
    "chain": chain,
    "rates": rates,
}


def highest(study: Study) -> Metric:
    """The highest percentile that the study is about; p99 when it is about none."""
    found = [metric.quantile for metric in (*study.primary, *study.metrics) if metric.quantile is not None]
    return Metric("quantile", max(found, default=0.99))


def _main(cell: Cell) -> EndpointCell | None:
    """All endpoints together, or the only one."""
    return cell.total or (cell.endpoints[0] if len(cell.endpoints) == 1 else None)


def _overview(analysis: Analysis, operation: str, notes: Footnotes, depth: int) -> Iterator[Block]:
    """A table each for throughput, latency and failures of all endpoints together: a row per level, a column per
    variant; and the verdict, where there are two. Those of which nothing is known are left out."""
    study, tail = analysis.study, highest(analysis.study)
    contents: list[tuple[str, Metric, Callable[[EndpointCell], str]]] = [
        ("Throughput (requests/s)", Metric("throughput"), lambda row: NONE if row.rate is None else amount(row.rate)),
        ("p50 (ms)", Metric("quantile", 0.5), lambda row: tables.milliseconds(row.quantile(0.5))),
        (f"{tail.text} (ms)", tail, lambda row: tables.milliseconds(row.quantile(tail.quantile or 0.99))),
        ("Failed requests", Metric("errors"), tables.failed),
    ]
    if len(study.variants) == 1:
        yield Heading("Over the levels", depth)
        yield _levels(study, operation, [(title, shown) for title, _, shown in contents], notes)
        return
    for title, metric, shown in contents:
        verdicts = _of_total(analysis, operation, metric)
        rows = []
        for level in study.levels:
            cells = [cell_of(study, variant, level, operation) for variant in study.variants]
            found = [verdicts[level]] if level in verdicts else []
            judgement = [cell for each in found for cell in (tables.ratio_cell(each), tables.verdict_cell(each, notes))]
            texts = [str(level or "all"), *(_cell(cell, shown, notes) for cell in cells)]
            rows.append((*texts, *(judgement or (NONE, NONE) if verdicts else ())))
        if any(text != NONE for row in rows for text in row[1 : 1 + len(study.variants)]):
            yield Heading(title, depth)
            columns = (
                TextColumn("Level"),
                *(TextColumn(one_line(variant), right=True, least=7) for variant in study.variants),
            )
            yield Table((*columns, *((tables.RATIO, TextColumn("Verdict")) if verdicts else ())), tuple(rows))


def _levels(
    study: Study, operation: str, contents: Sequence[tuple[str, Callable[[EndpointCell], str]]], notes: Footnotes
) -> Table:
    """Of one variant: a row per level."""
    columns = (TextColumn("Level"), *(TextColumn(title, right=True) for title, _ in contents))
    cells = [cell_of(study, study.variants[0], level, operation) for level in study.levels]
    rows = [
        (str(cell.level or "all"), *(_cell(cell, shown, notes) for _, shown in contents))
        for cell in cells
        if cell.trials
    ]
    return Table(columns, tuple(rows))


def _of_total(analysis: Analysis, operation: str, metric: Metric) -> dict[Level | None, Comparison]:
    """The verdict by level on all endpoints together, or on the only one; none when there are several pairs."""
    if len(analysis.study.variants) != 2:
        return {}
    keys = analysis.study.endpoints(operation)
    wanted = {("", ""), ("", TOTAL)} | (set(keys) if len(keys) == 1 else set())
    same = (metric.kind, metric.quantile)
    return {
        each.level: each
        for each in reversed(analysis.comparisons)
        if each.operation == operation and each.endpoint in wanted and (each.metric.kind, each.metric.quantile) == same
    }


def _cell(cell: Cell, shown: Callable[[EndpointCell], str], notes: Footnotes) -> str:
    row = _main(cell)
    if row is not None:
        return shown(row)
    return notes.missing(tables.reason(cell)) if cell.reasons else NONE


def _carried(study: Study, operation: str, notes: Footnotes) -> Table:
    tail = highest(study)
    titles = ("Rate", "Success rate", f"{tail.text} (ms)", "Max (ms)", "Achieved/offered", "Runs")
    columns = (TextColumn("Implementation", least=8), *(TextColumn(title, right=True) for title in titles))
    rows = []
    for variant in study.variants:
        for level in study.levels:
            cell = cell_of(study, variant, level, operation)
            if cell.trials:
                runs = f"{len(cell.valid)} of {len(cell.trials)}" if cell.reasons else str(len(cell.trials))
                rows.append((one_line(variant), str(level or NONE), *_carried_by(cell, tail, notes), runs))
    return Table(columns, tuple(rows))


def _carried_by(cell: Cell, tail: Metric, notes: Footnotes) -> tuple[str, ...]:
    row = _main(cell)
    if not cell.valid:
        return (notes.missing(tables.reason(cell)),) * 4
    if row is None:
        return (NONE,) * 4
    achieved = NONE if cell.achieved is None else share(cell.achieved, 1)
    crashed = next((trial.crashed for trial in cell.trials if trial.crashed), None)
    mark = notes.mark(f"The target of {cell.variant} at {cell.level} ended by itself: {crashed}") if crashed else ""
    return (
        f"{tables.succeeded(row)}{mark}",
        tables.milliseconds(row.quantile(tail.quantile or 0.99)),
        tables.milliseconds(row.max, bool(row.censored)),
        achieved,
    )


def _level_by_level(study: Study, comparisons: Sequence[Comparison], notes: Footnotes, depth: int) -> Iterator[Block]:
    """A table per level and pair of variants."""
    pairs = {(each.a, each.b) for each in comparisons}
    for (level, a, b), group in itertools.groupby(comparisons, key=lambda each: (each.level, each.a, each.b)):
        names = f"{b} against {a}" if len(pairs) > 1 or level is None else ""
        where = f"at {level}" if level is not None else ""
        title = f"{names} {where}".strip()
        yield Heading(title[:1].upper() + title[1:] if not names else title, depth)
        yield tables.compared(study, list(group), notes)


def _title(cell: Cell, study: Study) -> str:
    """50 users, index, 5 runs."""
    number = counted(len(cell.trials), "run")
    runs = f"{len(cell.valid)} of {number} valid" if cell.reasons else number if len(cell.trials) > 1 else ""
    parts = [
        str(cell.level) if cell.level is not None else "",
        cell.variant if len(study.variants) > 1 or cell.level is None else "",
        runs,
    ]
    return ", ".join(part for part in parts if part)
