"""The report of a search for capacity behind its answer: the picture, the runs, what to be careful about, evidence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plimsoll.report.charts.target import capacity_chart
from plimsoll.report.document.blocks import (
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
from plimsoll.say.answer.capacity import exact_load, rough_load, sentences, subject
from plimsoll.say.durations import duration_text
from plimsoll.say.names import listed
from plimsoll.say.numbers import counted, quantity
from plimsoll.stats.capacity.estimate import CONFIDENCE, capacity

if TYPE_CHECKING:
    from plimsoll.report.charts.chart import Chart
    from plimsoll.stats.capacity.estimate import Capacity
    from plimsoll.stats.capacity.probe import CapacityProbe, CapacitySearch
    from plimsoll.stats.study import Study

LATE_MS = 0.1
"""The generator's share of a time that is worth a word."""


def capacity_picture(study: Study, search: CapacitySearch) -> Chart:
    """The runs by load, with the value of the criterion that decides."""
    found = capacity(search.probes)
    decides = (found.broken or search.slo)[0]
    points: list[dict[str, float | str]] = [
        {"load": each.load, "value": one.value, "state": _state(each), "phase": each.phase, "run": each.run}
        for each in search.probes
        for one in each.results
        if one.criterion == decides and one.value is not None
    ]
    what = subject(decides)
    return capacity_chart(
        "capacity",
        sentences(study, search)[0].removesuffix("."),
        points,
        limit=decides.limit,
        load=(found.load, found.low, found.high),
        words={
            "level": "users" if search.unit == "users" else "arrivals per second",
            "what": f"{what} ({decides.unit})" if decides.unit else what,
            "unit": decides.unit,
        },
    )


def capacity_sections(study: Study, search: CapacitySearch, command: str) -> tuple[Section, ...]:
    """What follows the answer and its picture. command: what makes the report."""
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
            f"At {rough_load(found.load)} half of the runs break the objective. "
            f"Stay below {rough_load(found.low)} to meet it in most."
        )
    if found.ending == "bracket":
        lines.append("The runs disagree too much for an interval: make them longer (--time), or make more (--confirm).")
    if found.grows is None:
        lines.append(f"Whether a longer run than {duration_text(search.seconds)} carries as much was not measured.")
    reasons = Counter(each.invalid[0] for each in search.probes if each.invalid)
    lines += [f"{counted(number, 'run')} did not count: {reason}" for reason, number in reasons.most_common()]
    share = max((each.share for each in search.probes), default=0.0)
    if share >= LATE_MS:
        lines.append(f"The load generator may have added up to {quantity(share, 'ms')} to the times of a run.")
    return lines + list(study.warnings)


def _evidence(found: Capacity, search: CapacitySearch) -> list[str]:
    phases = Counter(each.phase for each in search.probes if not each.invalid)
    parts = listed([f"{phases[name]} to {name}" for name in ("double", "halve", "confirm") if phases[name]])
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
        *(TableColumn(subject(each)) for each in search.slo),
        TableColumn("Objective", is_text=True),
        TableColumn("Phase", is_text=True, use="extra"),
        TableColumn("Run", is_text=True),
    )
    rows = [
        TableRow(
            (
                exact_load(each.load, search.unit),
                *(quantity(one.value, one.criterion.unit, at_least=one.at_least) for one in each.results),
                _state(each),
                each.phase,
                each.run,
            )
        )
        for each in sorted(search.probes, key=lambda each: each.load)
    ]
    return TableData("The runs by load", columns, tuple(rows))


def _state(probe: CapacityProbe) -> str:
    return "does not count" if probe.invalid else "met" if probe.passed else "broken"
