"""What a page shows of an analysis, gathered for its templates; how it looks is theirs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.analysis.gate import judged
from plimsoll.report.charts import MOST_COURSES, TOTAL, cell_label, charts_of, trial_label
from plimsoll.report.footnotes import Notes, general
from plimsoll.report.numbers import counted, seconds, share
from plimsoll.report.page import overview
from plimsoll.report.page.tables import Chip, Table, failure_table, locust_tables, verdict_chip, verdict_table
from plimsoll.report.shape import changes_of, collected, shape_of
from plimsoll.stats.cells import cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.charts import Chart
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import Cell
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Study

MOST_ANSWERS = 8
"""Comparisons that the beginning names one by one."""
MOST_VERDICTS = 1500
MOST_ENDPOINT_ROWS = 8000
"""Of all tables of endpoints together: some 400 bytes each."""
MOST_FAILURES = 200
MOST_FORESTS = 24
MOST_DOUBTS = 8
MOST_ALIKE = 3
"""Findings of one rule that are shown; further ones are folded away."""


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    chip: Chip | None = None
    basis: str = ""


@dataclass(frozen=True, slots=True)
class Doubts:
    """What speaks against the numbers."""

    title: str
    bad: bool
    """Some of them must not be used."""
    lines: tuple[str, ...] = ()
    small: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownFinding:
    of: Finding
    weight: str
    place: str
    evidence: tuple[tuple[str, str], ...]
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class AtLevel:
    title: str
    requests: Table
    percentiles: Table
    charts: tuple[Chart, ...]
    more: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    levels: tuple[AtLevel, ...]
    charts: tuple[Chart, ...]
    ladder: tuple[Chart, ...]
    """Where there are several operations; a single one's have a section of their own."""
    failure_chart: Chart | None
    failure_table: Table | None
    failures_known: bool


@dataclass(frozen=True, slots=True)
class ShownCourse:
    id: str
    title: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Collected:
    title: str
    text: str


@dataclass(slots=True)
class Page:
    """Everything on a page of an analysis, in no order: that is the shape's."""

    title: str
    question: str = ""
    answers: list[Answer] = field(default_factory=list)
    status: list[tuple[str, str]] = field(default_factory=list)
    doubts: Doubts = field(default_factory=lambda: Doubts("", False))
    findings: list[ShownFinding] = field(default_factory=list)
    folded: list[ShownFinding] = field(default_factory=list)
    summary: Table | None = None
    summary_title: str = ""
    collected: list[Collected] = field(default_factory=list)
    overview: Chart | None = None
    verdicts: Table | None = None
    verdict_words: list[str] = field(default_factory=list)
    forests: list[Chart] = field(default_factory=list)
    ladder: list[Chart] = field(default_factory=list)
    more_ladder: list[Chart] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    courses: list[ShownCourse] = field(default_factory=list)
    courses_note: str = ""
    target: list[Chart] = field(default_factory=list)
    observed: Table | None = None
    environment: list[tuple[str, str]] = field(default_factory=list)
    generator: Table | None = None
    footnotes: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    charts: dict[str, Chart] = field(default_factory=dict)
    """All that are shown, by name."""
    contents: list[tuple[str, str]] = field(default_factory=list)
    """Sections to jump to: id and title."""


def gathered(analysis: Analysis) -> Page:
    study = analysis.study
    notes = Notes()
    charts = charts_of(analysis)
    cells = cells_of(study)
    page = Page(study.name or "Report", study.question)
    page.answers = _answers(analysis)
    page.status = _status(study, cells)
    page.doubts = _doubts(analysis)
    seen = Counter[tuple[str, str]]()
    for each in analysis.findings:
        seen[each.weight, each.id] += 1
        alike = seen[each.weight, each.id] > MOST_ALIKE
        (page.folded if alike else page.findings).append(_finding(each, charts))
    page.charts = {chart.name: chart for chart in charts}
    _verdicts(page, analysis, charts)
    ladder = [chart for chart in charts if chart.kind.startswith("ladder")]
    if len(study.operations) == 1:
        page.ladder, page.more_ladder = _main_ones(ladder)
    page.operations = [_operation(analysis, name, cells, charts, notes) for name in study.operations]
    page.courses = _courses(study, charts)
    if len(study.trials) > MOST_COURSES:
        page.courses_note = f"The first {MOST_COURSES} of {len(study.trials)} runs; `plimsoll show` has each."
    page.target = [chart for chart in charts if chart.kind == "target"]
    page.observed = overview.observed_table(study)
    shape = shape_of(study)
    if shape == "chain":
        page.summary_title = "Step by step"
        page.summary = overview.chain_table(analysis, cells, notes)
        page.collected = _collected(study)
    elif shape == "rates":
        page.summary_title = "Rates"
        page.summary = overview.rates_table(study, cells, notes)
    page.environment = _environment(study)
    page.generator = overview.generator_table(study)
    page.footnotes = general(analysis)
    page.marks = notes.lines()
    page.contents = _contents(page)
    return page


def _answers(analysis: Analysis) -> list[Answer]:
    """A sentence for each comparison that the question is about. Of many, how they ended and those that are certain and
    matter; where there are none such, what was found."""
    chosen = judged(analysis)
    if chosen and len(chosen) <= MOST_ANSWERS:
        return [_answer(analysis, each) for each in chosen]
    answers = []
    if chosen:
        counts = Counter(words.WORDS[each.word] for each in chosen)
        parts = ", ".join(f"{counts[word]} {word}" for word in words.WORDS.values() if counts[word])
        answers.append(Answer(f"Of {len(chosen)} comparisons: {parts}."))
    certain = sorted((each for each in chosen if each.better is not None), key=_distance)
    answers += [_answer(analysis, each) for each in certain[:MOST_ANSWERS]]
    if len(certain) > MOST_ANSWERS:
        answers.append(Answer(f"{len(certain) - MOST_ANSWERS} more of these are in the table of verdicts."))
    if not certain:
        found = [each for each in analysis.findings if each.weight != "blocks"]
        answers += [Answer(each.statement) for each in _first_of_each_rule(found)[:MOST_ANSWERS]]
    return answers


def _answer(analysis: Analysis, comparison: Comparison) -> Answer:
    basis = " ".join(part for part in (words.values(comparison), words.ratio(comparison)) if part)
    chip = verdict_chip(analysis, comparison)
    told = "; ".join(filter(None, (basis, comparison.reason)))
    return Answer(words.subject(comparison), Chip(chip.text, chip.tone), told)


def _distance(comparison: Comparison) -> float:
    """The largest difference first."""
    return -abs(math.log(comparison.ratio)) if comparison.ratio else 0.0


def _first_of_each_rule(findings: Sequence[Finding]) -> list[Finding]:
    seen: dict[str, Finding] = {}
    for each in findings:
        seen.setdefault(each.id, each)
    return list(seen.values())


def _status(study: Study, cells: Sequence[Cell]) -> list[tuple[str, str]]:
    invalid = sum(bool(trial.invalid) for trial in study.trials)
    totals = [cell.total for cell in cells if cell.total is not None]
    counts = [total.requests for total in totals if total.requests is not None]
    failures = [total.failures for total in totals if total.failures is not None]
    durations = sorted({trial.duration for trial in study.trials if trial.duration is not None})
    found = [("runs", f"{len(study.trials)}, {invalid} invalid" if invalid else f"{len(study.trials)}, all valid")]
    if len(study.variants) > 1:
        found.append(("variants", ", ".join(study.variants)))
    levels = [str(level) for level in study.levels if level is not None]
    if levels:
        found.append(("levels" if len(levels) > 1 else "level", ", ".join(levels)))
    if durations:
        ends = [seconds(each) for each in (durations[0], durations[-1])]
        found.append(("measured in each run", ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"))
    if counts:
        found.append(("requests", words.count(sum(counts))))
    if counts and failures:
        failed = f"{words.count(sum(failures))} ({share(sum(failures), sum(counts))})" if sum(failures) else "none"
        found.append(("failed", failed))
    return found


def _doubts(analysis: Analysis) -> Doubts:
    study = analysis.study
    lines = []
    for trial in study.trials:
        label = trial_label(study, trial)
        lines += [f"INVALID, {label}: {reason}" for reason in trial.invalid]
        if trial.crashed:
            lines.append(f"The target ended by itself, {label}: {trial.crashed}")
    lines += [each.statement for each in analysis.findings if each.weight == "blocks"]
    bad = bool(lines)
    if len(lines) > MOST_DOUBTS:
        left_out = len(lines) - MOST_DOUBTS
        lines[MOST_DOUBTS:] = [f"… and {left_out} more: among the findings, and in the table of runs."]
    lines += study.warnings
    warned = sum(each.weight == "warning" for each in analysis.findings)
    small = []
    if warned:
        small.append(f"{counted(warned, 'warning')} below, among the findings.")
    if study.skipped:
        places = counted(len(study.skipped), "place")
        small.append(f"{places} of the source could not be read with certainty: see the notes.")
    if not lines:
        count = counted(len(study.trials), "run")
        return Doubts("No check speaks against these numbers", False, (), (f"{count}, all valid.", *small))
    return Doubts(
        "Some of these numbers must not be used" if bad else "Read with care", bad, tuple(lines), tuple(small)
    )


_LADDER_IDS = frozenset({"SAT", "RETRO", "SERIAL", "ELAST", "USL", "PRE-KNEE", "CAP", "LITTLE"})
_COURSE_IDS = frozenset({"COLD", "NONSTATIONARY", "STALL", "CRASH"})
_EVIDENT = {
    "BIMODAL": ("histogram",),
    "ERR": ("failures",),
    "LEAK": ("target",),
    **dict.fromkeys(_LADDER_IDS, ("ladder_throughput", "ladder_latency")),
    **dict.fromkeys(_COURSE_IDS, ("course_rate", "course_times")),
}
"""Kinds of charts in which a finding of a rule is seen."""


def _finding(finding: Finding, charts: Sequence[Chart]) -> ShownFinding:
    evidence = tuple(
        (name.replace("_", " "), words.evidence({name: value}).removeprefix(f"{name} "))
        for name, value in finding.evidence.items()
    )
    return ShownFinding(
        finding, words.WEIGHTS[finding.weight], words.place(finding.where), evidence, tuple(_evident(finding, charts))
    )


def _evident(finding: Finding, charts: Sequence[Chart]) -> list[Chart]:
    """Pictures of what a finding states, at most two."""
    where = finding.where
    kinds = _EVIDENT.get(finding.id, ())
    found = []
    for chart in charts:
        fits = chart.kind in kinds and where.operation in (None, chart.operation)
        fits = fits and (not chart.trial or where.trial in (None, chart.trial))
        fits = fits and (not chart.trial or where.variant in (None, chart.variant))
        fits = fits and (not chart.level or where.level is None or str(where.level) == chart.level)
        is_total = chart.endpoint is None or not any(chart.endpoint) or _only(chart, charts)
        if fits and (is_total if where.endpoint is None else chart.endpoint in (None, where.endpoint)):
            found.append(chart)
    return found[:2]


def _only(chart: Chart, charts: Sequence[Chart]) -> bool:
    """Whether its endpoint is the only one of the operation that has charts."""
    own = {each.endpoint for each in charts if each.kind == chart.kind and each.operation == chart.operation}
    return len(own) == 1


def _main_ones(charts: Sequence[Chart]) -> tuple[list[Chart], list[Chart]]:
    """Those of all endpoints together, or of an operation's only one; and the others."""
    main = [chart for chart in charts if not any(chart.endpoint or TOTAL) or _only(chart, charts)]
    return main, [chart for chart in charts if chart not in main]


def _verdicts(page: Page, analysis: Analysis, charts: Sequence[Chart]) -> None:
    if not analysis.comparisons:
        return
    forests = [chart for chart in charts if chart.kind == "verdicts"]
    page.overview = next((chart for chart in forests if chart.name == "verdicts"), None)
    page.forests = [chart for chart in forests if chart.name != "verdicts"][:MOST_FORESTS]
    page.verdicts = verdict_table(analysis, MOST_VERDICTS)
    used = {each.word for each in analysis.comparisons}
    page.verdict_words = [text for word, text in words.WORDS.items() if word in used]


def _operation(
    analysis: Analysis, name: str, cells: Sequence[Cell], charts: Sequence[Chart], notes: Notes
) -> Operation:
    study = analysis.study
    own = [cell for cell in cells if cell.operation == name]
    names_variant = len(study.variants) > 1
    most = max(50, MOST_ENDPOINT_ROWS // max(1, 2 * len(cells))) * len(study.variants)
    curves = [chart for chart in charts if chart.kind == "percentiles" and chart.operation == name]
    parts = [chart for chart in curves if chart.name.startswith("parts")]
    many = len(study.operations) > 1
    ladder = _main_ones([c for c in charts if many and c.kind.startswith("ladder") and c.operation == name])[0]
    main, more = _main_ones([chart for chart in curves if chart not in parts])
    levels = []
    for level in study.levels:
        here = [cell for cell in own if cell.level == level]
        if not here:
            continue
        requests, percentiles = locust_tables(here, notes, most, names_variant=names_variant)
        at = str(level) if level is not None else ""
        levels.append(
            AtLevel(
                at,
                requests,
                percentiles,
                tuple(chart for chart in main if chart.level == at and chart.level),
                tuple(chart for chart in more if chart.level == at and chart.level),
            )
        )
    labelled = [(cell_label(study, cell.variant, cell.level), cell) for cell in own]
    failures = next((chart for chart in charts if chart.kind == "failures" and chart.operation == name), None)
    return Operation(
        name or "all",
        tuple(levels),
        (*(chart for chart in (*main, *more) if not chart.level), *parts),
        tuple(ladder),
        failures,
        failure_table(labelled, MOST_FAILURES),
        any(cell.total is not None and cell.total.failures is not None for cell in own),
    )


def _courses(study: Study, charts: Sequence[Chart]) -> list[ShownCourse]:
    found = []
    for trial in study.trials[:MOST_COURSES]:
        own = tuple(chart for chart in charts if chart.kind.startswith("course") and chart.trial == trial.id)
        if own:
            found.append(ShownCourse(trial.id, trial_label(study, trial), own))
    return found


def _collected(study: Study) -> list[Collected]:
    return [
        Collected(f"{name} of {variant}", text)
        for variant in study.variants
        for name, text in collected(study, variant).items()
    ]


def _environment(study: Study) -> list[tuple[str, str]]:
    told = [
        ("source", study.source),
        ("measured by", study.command),
        ("order", "repeats ran next to one another, in random order" if study.interleaved else ""),
        *((f"changed in {variant}", text) for variant, text in changes_of(study).items()),
        *study.about.items(),
    ]
    return [(name, text) for name, text in told if text]


def _contents(page: Page) -> list[tuple[str, str]]:
    sections = (
        ("validity", "Validity", True),
        ("findings", "Findings", page.findings),
        ("summary", page.summary_title, page.summary),
        ("verdicts", "Verdicts", page.verdicts),
        ("ladder", "Levels", page.ladder),
        ("operations", "Operations" if len(page.operations) > 1 else "Endpoints", page.operations),
        ("course", "Time", page.courses),
        ("target", "Target", page.target or page.observed),
        ("environment", "Environment", page.environment or page.generator),
        ("notes", "Notes", True),
    )
    return [(id, title) for id, title, is_there in sections if is_there]
