"""The report of a search for capacity: the answer, the picture, the runs, what to be careful about, the evidence."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from plimsoll.load.durations import duration_text
from plimsoll.report.charts.target import capacity_chart
from plimsoll.report.document.blocks import (
    Answer,
    Details,
    Facts,
    NamedValue,
    Notes,
    Paragraph,
    Section,
    TableBlock,
    TableColumn,
    TableData,
    TableRow,
)
from plimsoll.report.numbers import counted, quantity, significant
from plimsoll.stats.capacity.estimate import CONFIDENCE, capacity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.charts.chart import Chart
    from plimsoll.stats.capacity.estimate import Capacity
    from plimsoll.stats.capacity.probe import CapacityProbe, CapacitySearch
    from plimsoll.stats.study import LoadUnit, Study
    from plimsoll.stats.thresholds.grammar import Threshold

PER_ARRIVAL = 0.05
"""As many requests as arrivals, within this share: then a rate is said in requests."""
LATE_MS = 0.1
"""The generator's share of a p99 that is worth a word."""


def capacity_answers(study: Study) -> tuple[Answer, ...]:
    """One to three sentences."""
    search = _search(study)
    found = capacity(search.probes)
    objective = ", ".join(each.text for each in search.slo)
    runs = f"with {objective}, in runs of {duration_text(search.seconds)}"
    what = "users" if search.unit == "users" else f"{_rate_of(study)}/s"
    if found.ending == "unmet":
        least = f"{_load(found.high or 0.0, search.unit)}, the lowest load that was tried"
        return (Answer(f"This service does not meet {objective} even at {least}."),)
    sentences = [f"{_carries(found, what, runs)}."]
    if found.generator:
        sentences.append(f"Above that the load generator was the limit, not the service ({found.generator}).")
    elif found.ending == "unbroken":
        sentences.append("Nothing that was tried broke the objective.")
    elif found.broken:
        sentences.append(f"Above that {_listed([_subject(each) for each in found.broken])} broke the objective.")
    if found.grows is not None:
        load, growth = found.grows
        at = _load(load, search.unit)
        sentences.append(
            f"A longer run may carry less: the backlog was still growing at {at}, "
            f"by {growth:.2g} {_rate_of(study)} per second."
            if growth
            else f"The backlog did not grow in runs up to {at}; longer runs (--time) show whether that lasts."
        )
    return tuple(map(Answer, sentences))


def _carries(found: Capacity, what: str, runs: str) -> str:
    low, high = (f"{each:.12g}" if each is not None else "" for each in (found.low, found.high))
    match found.ending:
        case "found":
            return f"This service carries {_rough(found.load)} {what} ({_rough(found.low)}–{_rough(found.high)}) {runs}"
        case "bracket" if low and high:
            return f"This service carries between {low} and {high} {what} {runs}; the runs between disagree"
        case "bracket" if low or high:
            return f"This service carries {f'at least {low}' if low else f'less than {high}'} {what} {runs}"
        case "bracket":
            return (
                f"No load can be named that this service carries {runs}: at all loads some runs met it, others did not"
            )
        case "unbroken":
            return f"This service carries at least {low} {what} {runs}"
        case _:
            return f"No answer {runs}: no run counts"


def capacity_picture(study: Study) -> Chart:
    """The runs by load, with the value of the criterion that decides."""
    search = _search(study)
    found = capacity(search.probes)
    decides = (found.broken or search.slo)[0]
    points: list[dict[str, float | str]] = [
        {"load": each.load, "value": one.value, "state": _state(each), "phase": each.phase, "run": each.run}
        for each in search.probes
        for one in each.results
        if one.criterion == decides and one.value is not None
    ]
    what = _subject(decides)
    return capacity_chart(
        "capacity",
        capacity_answers(study)[0].text.removesuffix("."),
        points,
        limit=decides.limit,
        load=(found.load, found.low, found.high),
        words={
            "level": "users" if search.unit == "users" else "arrivals per second",
            "what": f"{what} ({decides.unit})" if decides.unit else what,
            "unit": decides.unit,
        },
    )


def capacity_sections(study: Study, command: str) -> tuple[Section, ...]:
    """What follows the answer and its picture. command: what makes the report."""
    search = _search(study)
    found = capacity(search.probes)
    evidence = Details("How it was found", tuple(Paragraph(each) for each in _evidence(found, search)))
    facts = [("measured by", study.command), ("source", study.source), *study.about.items()]
    known = tuple(NamedValue(name, text) for name, text in facts if text)
    return (
        Section("runs", "Runs", (TableBlock(_table(search)),)),
        Section("care", "What to be careful about", tuple(Paragraph(each) for each in _cautions(found, search, study))),
        Section(
            "evidence",
            "Evidence",
            (evidence, Facts(known), *([Notes((), (f"Made by: {command}",))] if command else [])),
        ),
    )


def _cautions(found: Capacity, search: CapacitySearch, study: Study) -> list[str]:
    lines = []
    if not search.is_finished:
        done = counted(len(search.probes), "run")
        lines.append(f"The search is not finished: this rests on {done}. Repeat its command with --resume to go on.")
    if found.ending == "found":
        lines.append(
            f"At {_rough(found.load)} half of the runs break the objective. "
            f"Stay below {_rough(found.low)} to meet it in most."
        )
    if found.ending == "bracket":
        lines.append("The runs disagree too much for an interval: make them longer (--time), or make more (--confirm).")
    if found.grows is None:
        lines.append(f"Whether a longer run than {duration_text(search.seconds)} carries as much was not measured.")
    reasons = Counter(each.invalid[0] for each in search.probes if each.invalid)
    lines += [f"{counted(number, 'run')} did not count: {reason}" for reason, number in reasons.most_common()]
    owed = max((each.owed for each in search.probes), default=0.0)
    if owed >= LATE_MS and any(each.subject.is_time for each in search.slo):
        lines.append(
            f"The load generator was late by up to {quantity(owed, 'ms')} (p99 of a run), which is part of the times."
        )
    return lines + list(study.warnings)


def _evidence(found: Capacity, search: CapacitySearch) -> list[str]:
    phases = Counter(each.phase for each in search.probes if not each.invalid)
    parts = _listed([f"{phases[name]} to {name}" for name in ("double", "halve", "confirm") if phases[name]])
    lines = [f"{counted(phases.total(), 'run')}: {parts}." if parts else "No run counts."]
    if found.ending == "found":
        lines.append(
            "The share of runs that meet the objective is fitted to all of these as a logistic curve over ln(load). "
            f"The answer is where it is one half, with its {100 * CONFIDENCE:g} % interval by the likelihood ratio."
        )
    return lines


def _table(search: CapacitySearch) -> TableData:
    """A row per run, by load."""
    columns = (
        TableColumn("Users" if search.unit == "users" else "Rate"),
        *(TableColumn(_subject(each)) for each in search.slo),
        TableColumn("Objective", is_text=True),
        TableColumn("Phase", is_text=True, use="extra"),
        TableColumn("Run", is_text=True),
    )
    rows = [
        TableRow(
            (
                _load(each.load, search.unit),
                *(quantity(one.value, one.criterion.unit, at_least=one.at_least) for one in each.results),
                _state(each),
                each.phase,
                each.run,
            )
        )
        for each in sorted(search.probes, key=lambda each: each.load)
    ]
    return TableData("The runs by load", columns, tuple(rows))


def _search(study: Study) -> CapacitySearch:
    assert study.search is not None
    return study.search


def _state(probe: CapacityProbe) -> str:
    return "does not count" if probe.invalid else "met" if probe.passed else "broken"


def _subject(threshold: Threshold) -> str:
    return f"{threshold.subject} of {threshold.endpoint}" if threshold.endpoint else str(threshold.subject)


def _rate_of(study: Study) -> str:
    """requests, where each arrival is one; else arrivals."""
    ratios = [
        each.total.rate / each.level.value
        for each in study.trials
        if each.level is not None and each.total is not None and each.total.rate is not None
    ]
    return "requests" if ratios and abs(statistics.median(ratios) - 1) <= PER_ARRIVAL else "arrivals"


def _load(load: float, unit: LoadUnit) -> str:
    return counted(round(load), "user") if unit == "users" else f"{load:.12g}/s"


def _rough(load: float | None) -> str:
    return "" if load is None else significant(load, 3)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
