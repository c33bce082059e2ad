"""What the target carries and how it gives way, in sentences: from findings and from the cells themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.say.findings import said
from plimsoll.say.names import code, listed
from plimsoll.say.numbers import amount, counted, number, short_percent, whole_percent
from plimsoll.stats.cells import cells_of
from plimsoll.stats.findings.saturation import NotSaturated, Saturation
from plimsoll.stats.findings.serial import SerialBottleneck
from plimsoll.stats.findings.target.leaks import TargetCrash
from plimsoll.stats.machine import starved
from plimsoll.stats.study import TOTAL
from plimsoll.stats.thresholds.slo import broken_in
from plimsoll.stats.validity import ACHIEVED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary
    from plimsoll.stats.findings.finding import Finding, Where
    from plimsoll.stats.study import Level, Study

_OF_TARGET = ("CRASH", "SERIAL", "SAT", "ERR", "RETRO", "OVERLOAD", "LEAK", "LINK")
"""Rules whose findings say what a service does under load; the weightiest first."""
_BREAKS = ("CRASH", "LEAK")
"""Of these, what the rates that a target carries do not say."""
ANSWERED = 0.95
"""Share of the arrivals that a target answers while they come: one that carries them answers as many as there are."""
CHANCE = 2.0
"""Standard deviations of a count by which the share may be lower by chance."""
LARGE_PART = 1 / 3
"""An endpoint with this share of the requests of its operation counts like all of them."""


def of_target(
    analysis: Analysis, most: int, topics: Collection[tuple[str, str]] = (), rules: Sequence[str] = _OF_TARGET
) -> Iterator[str]:
    """One sentence for each of the rules, from those of its findings that are about the whole: all endpoints, one with
    a large part of the requests, or one of topics, which the question names."""
    is_open = (("RETRO", "insight"), ("LEAK", "insight"))  # a decrease that is not certain, growth that ends
    found = [
        each
        for each in analysis.findings
        if (each.id, each.weight) not in is_open and _is_whole(analysis.study, each, topics)
    ]
    for rule in [rule for rule in rules if any(each.id == rule for each in found)][:most]:
        alike = [each for each in found if each.id == rule]
        if rule == "SAT":
            yield _knees(analysis.study, alike)
        elif rule == "SERIAL" and len(alike) > 1:
            yield _capacities(alike)
        else:
            yield _first_of(alike)


def _first_of(findings: Sequence[Finding]) -> str:
    """Its statement, and of which other variants the same is said: by findings that compare as it does, or do not. Of
    those with other figures only that there is one."""
    first = findings[0]
    compared = first.where.variant, first.where.against
    alike = [each for each in findings if (each.where.against is None) == (first.where.against is None)]
    names = dict.fromkeys(each.where.variant for each in alike)
    others = [code(name) for name in names if name and name not in compared]
    statement = said(first).statement
    if not others:
        return statement
    if not is_one_statement(alike):
        return f"{statement} A finding of this kind, with figures of its own, is also about {listed(others)}."
    return f"{statement} The same holds for {listed(others)}."


def elsewhere(findings: Sequence[Finding]) -> str:
    """That there are more findings of the kind of the first one; "" if there are none."""
    more = len(findings) - 1
    if not more:
        return ""
    if is_one_statement(findings):
        return f"The same holds in {counted(more, 'more place')}."
    whose = "its own, is" if more == 1 else "their own, are"
    return f"{counted(more, 'more finding')} of this kind, with figures of {whose} below."


def is_one_statement(findings: Sequence[Finding]) -> bool:
    """Whether they say the same, figures included, of whatever variant, endpoint and level."""
    names = {name for finding in findings for name in _names(finding.where)}
    statements = set()
    for finding in findings:
        statement = said(finding).statement
        for name in sorted(names, key=len, reverse=True):
            statement = statement.replace(name, "")
        statements.add(statement)
    return len(statements) == 1


def _names(where: Where) -> Iterator[str]:
    endpoint = " ".join(filter(None, where.endpoint or ()))
    yield from filter(None, (where.variant, where.against, endpoint, str(where.level or ""), where.operation))


def _is_whole(study: Study, finding: Finding, topics: Collection[tuple[str, str]]) -> bool:
    where = finding.where
    if where.endpoint in (None, TOTAL, ("", "")) or where.endpoint in topics:
        return True
    own = [each for each in study.trials if where.operation in (None, each.operation)]
    counts = [(each.key == where.endpoint, each.requests or 0) for trial in own for each in trial.endpoints]
    part = sum(number for is_it, number in counts if is_it)
    return part > 0 and part >= LARGE_PART * sum(number for _, number in counts)


def _capacities(findings: Sequence[Finding]) -> str:
    """Of operations that each have one serial bottleneck."""
    rates = (
        f"{_who(finding)} {amount(finding.capacity_per_s)}/s"
        for finding in findings
        if isinstance(finding, SerialBottleneck)
    )
    return f"Throughput is flat while latency grows with the users: {listed(rates)}; more users only wait longer."


def _knees(study: Study, findings: Sequence[Finding]) -> str:
    """What each variant or operation carries: up to its knee, or up to the highest level."""
    if len(findings) == 1 and len(study.variants) == 1:
        return said(findings[0]).statement
    unit = " users" if any(level is not None and level.unit == "users" for level in study.levels) else "/s"
    limited: dict[tuple[float, ...], list[tuple[str, str]]] = {}
    whole: dict[float, list[tuple[str, str]]] = {}
    for each in findings:
        if isinstance(each, Saturation):
            limited.setdefault(each.bracket, []).append((_who(each), amount(each.capacity_per_s)))
        elif isinstance(each, NotSaturated):
            whole.setdefault(each.last, []).append((_who(each), amount(each.last_per_s)))
    texts = []
    for bracket, carrying in limited.items():
        names, rates = (listed(column) for column in zip(*carrying, strict=True))
        verb, whose = ("carries", "its") if len(carrying) == 1 else ("carry", "their")
        lags = f"at {bracket[1]:g} {whose} throughput lags ({rates} requests/s at most)"
        texts.append(f"{names} {verb} {bracket[0]:g}{unit}, {lags}")
    for last, carrying in whole.items():
        names, rates = (listed(column) for column in zip(*carrying, strict=True))
        verb, limits = ("carries", "its limit is") if len(carrying) == 1 else ("carry", "their limits are")
        texts.append(f"{names} {verb} {last:g}{unit}, the highest level ({rates} requests/s), so {limits} above that")
    found = {each.where.variant for each in findings}
    if open_ones := [code(each) for each in study.variants if each not in found and None not in found]:
        texts.append(f"for {listed(open_ones)} the levels do not show it")
    return f"{'; '.join(texts)}."


def _who(finding: Finding) -> str:
    return code(finding.where.operation or finding.where.variant or "all")


def carried(analysis: Analysis) -> Iterator[str]:
    """Of the open model, and of any study with an objective, a sentence for each operation: the highest level that each
    variant carries, and what happens at the next one."""
    study, cells = analysis.study, cells_of(analysis.study)
    for operation in study.operations:
        ladders = []
        for variant in study.variants:
            own = [cell for cell in cells if (cell.variant, cell.operation) == (variant, operation)]
            ladders.append([cell for cell in own if cell.trials and cell.level is not None])
        overloaded = {
            (each.where.variant, each.where.level)
            for each in analysis.findings
            if each.id == "OVERLOAD" and each.where.operation in (None, operation)
        }
        if texts := list(_carried(study, [ladder for ladder in ladders if ladder], overloaded)):
            of = f"{operation}: " if len(study.operations) > 1 else ""
            yield f"{of}{'; '.join(texts)}."


def broken(analysis: Analysis, known: Collection[str]) -> Iterator[str]:
    """Of the open model: targets that ended by themselves, or whose memory grows, unless a known sentence says so."""
    new = [
        finding
        for finding in analysis.findings
        if not (isinstance(finding, TargetCrash) and any(finding.how in text for text in known))
    ]
    return of_target(replace(analysis, findings=tuple(new)), len(_BREAKS), rules=_BREAKS)


def _carried(
    study: Study, ladders: Sequence[Sequence[CellSummary]], overloaded: Collection[tuple[str | None, Level | None]]
) -> Iterator[str]:
    """ladders: the cells of each variant, by level. Variants that carry the highest rate stand together. overloaded:
    variants and levels whose backlog grows."""
    whole: dict[Level | None, list[CellSummary]] = {}
    limited = []
    for cells in ladders:
        faults = [_fault(study, cell, is_overloaded=(cell.variant, cell.level) in overloaded) for cell in cells]
        first = next((index for index, fault in enumerate(faults) if fault is not None), None)
        name = code(cells[0].variant)
        if first is None:
            whole.setdefault(cells[-1].level, []).append(cells[-1])
        elif (target := starved(cells[first].valid)) is not None:
            used = f"the target used {number(round(target.target_cores, 2))} of {counted(target.cores, 'core')}"
            known = f"{name} carries {cells[first - 1].level}{_p99([cells[first - 1]])}, whether more"
            limited.append(
                f"{known if first else f'what {name} carries'} is not known: at {cells[first].level} this machine was "
                f"full, and {used}"
            )
        elif first == 0:
            limited.append(f"{name} does not carry {cells[0].level}: {faults[0]}")
        else:
            below = cells[first - 1]
            limited.append(f"{name} carries {below.level}{_p99([below])}, at {cells[first].level} {faults[first]}")
    for level, highest in whole.items():
        names = listed(code(cell.variant) for cell in highest)
        most = "rate tried" if level is not None and level.unit == "/s" else "level"
        yield f"{names} {'carries' if len(highest) == 1 else 'carry'} {level}, the highest {most}{_p99(highest)}"
    yield from limited


def _p99(cells: Sequence[CellSummary]) -> str:
    values = [cell.main.quantile(0.99) if cell.main is not None else None for cell in cells]
    known = [amount(value) for value in values if value is not None]
    return f" (p99 {listed(known)} ms)" if len(known) == len(values) else ""


def _fault(study: Study, cell: CellSummary, *, is_overloaded: bool) -> str | None:
    """Why a rate does not count as carried."""
    if crashed := next((trial.crashed for trial in cell.trials if trial.crashed), None):
        return f"the target ended by itself ({crashed})"
    if cell.achieved is not None and cell.achieved < ACHIEVED:
        return f"only {short_percent(cell.achieved)} of the arrivals begin in time"
    if (found := broken_in(study.slo, cell)) is not None:
        criterion, value = found
        unit = f" {criterion.unit}" if criterion.unit else ""
        return f"{criterion.subject} is {amount(value)}{unit}, which breaks {code(str(criterion))}"
    row = cell.main
    if row is not None and row.requests and row.failures and row.failures / row.requests > study.tolerance:
        return f"{short_percent(row.failures / row.requests)} of the requests fail"
    answered = _answered(cell)
    if answered is not None and row is not None and row.rate is not None:
        return f"only {amount(row.rate)} requests/s are answered while they come, {whole_percent(answered)} of them"
    return "the backlog grows for as long as it lasts" if is_overloaded else None


def _answered(cell: CellSummary) -> float | None:
    """The share of the requests that are answered while they come, if it is too low for a rate that is carried; of the
    median run."""
    shares = []
    for trial in cell.valid or cell.trials:
        row = trial.total
        if row is None or not row.rate or not trial.offered or not trial.duration or not row.requests:
            return None
        # An arrival may be more than one request, or none. Then all that were answered, later too, are the measure.
        share = max(row.rate / trial.offered, row.rate * trial.duration / row.requests)
        by_chance = CHANCE / math.sqrt(row.rate * trial.duration)
        shares.append(share if share < ANSWERED - by_chance else 1.0)
    shares.sort()
    middle = shares[len(shares) // 2] if shares else 1.0
    return middle if middle < 1 else None


def single(analysis: Analysis) -> Iterator[str]:
    """Of a study with one cell: its numbers."""
    cells = cells_of(analysis.study)
    row = cells[0].main if cells else None
    if row is None:
        return
    parts = [f"p{100 * q:g} {amount(value)} ms" for q in (0.5, 0.99) if (value := row.quantile(q)) is not None]
    if row.rate is not None:
        parts.append(f"{amount(row.rate)} requests/s")
    if row.requests and row.failures is not None:
        parts.append(f"{short_percent(row.failures / row.requests)} failed" if row.failures else "none failed")
    if parts:
        yield f"{', '.join(parts)}."
