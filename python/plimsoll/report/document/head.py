"""What a report of an experiment begins with: the answer, what was measured, what speaks against the numbers."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.charts import trial_label
from plimsoll.report.document.blocks import Answer, Doubts, NamedValue
from plimsoll.report.document.tables import Chip, verdict_chip
from plimsoll.report.gate import judged
from plimsoll.report.numbers import counted, seconds, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import Cell
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Study

MOST_ANSWERS = 8
"""Comparisons that the beginning names one by one."""
MOST_DOUBTS = 8


def answers(analysis: Analysis) -> tuple[Answer, ...]:
    """A sentence for each comparison that the question is about. Of many, how they ended and those that are certain and
    matter; where there are none such, what was found."""
    chosen = judged(analysis)
    if chosen and len(chosen) <= MOST_ANSWERS:
        return tuple(_answer(analysis, each) for each in chosen)
    found = []
    if chosen:
        counts = Counter(words.WORDS[each.word] for each in chosen)
        parts = ", ".join(f"{counts[word]} {word}" for word in words.WORDS.values() if counts[word])
        found.append(Answer(f"Of {len(chosen)} comparisons: {parts}."))
    certain = sorted((each for each in chosen if each.better is not None), key=_distance)
    found += [_answer(analysis, each) for each in certain[:MOST_ANSWERS]]
    if len(certain) > MOST_ANSWERS:
        found.append(Answer(f"{len(certain) - MOST_ANSWERS} more of these are in the table of verdicts."))
    if not certain:
        stated = [each for each in analysis.findings if each.weight != "blocks"]
        found += [Answer(each.statement) for each in _first_of_each_rule(stated)[:MOST_ANSWERS]]
    return tuple(found)


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


def status(study: Study, cells: Sequence[Cell]) -> tuple[NamedValue, ...]:
    """What was measured, in a few numbers. What is not known is not told."""
    invalid = sum(bool(trial.invalid) for trial in study.trials)
    totals = [cell.total for cell in cells if cell.total is not None]
    counts = [total.requests for total in totals if total.requests is not None]
    failures = [total.failures for total in totals if total.failures is not None]
    durations = sorted({trial.duration for trial in study.trials if trial.duration is not None})
    found = [
        NamedValue("runs", f"{len(study.trials)}, {invalid} invalid" if invalid else f"{len(study.trials)}, all valid")
    ]
    if len(study.variants) > 1:
        found.append(NamedValue("variants", ", ".join(study.variants)))
    levels = [str(level) for level in study.levels if level is not None]
    if levels:
        found.append(NamedValue("levels" if len(levels) > 1 else "level", ", ".join(levels)))
    if durations:
        ends = [seconds(each) for each in (durations[0], durations[-1])]
        name = "measured in each run" if len(study.trials) > 1 else "measured"
        found.append(NamedValue(name, ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"))
    if counts:
        found.append(NamedValue("requests", words.count(sum(counts))))
    if counts and failures:
        failed = f"{words.count(sum(failures))} ({share(sum(failures), sum(counts))})" if sum(failures) else "none"
        found.append(NamedValue("failed", failed))
    return tuple(found)


def doubts(analysis: Analysis) -> Doubts:
    """Invalid runs, crashes and blocking findings, at most MOST_DOUBTS of them; then what the study warns of."""
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
    small = _small_doubts(analysis)
    if not lines:
        count = counted(len(study.trials), "run")
        return Doubts("No check speaks against these numbers", False, (), (f"{count}, all valid.", *small))
    return Doubts(
        "Some of these numbers must not be used" if bad else "Read with care", bad, tuple(lines), tuple(small)
    )


def _small_doubts(analysis: Analysis) -> list[str]:
    warned = sum(each.weight == "warning" for each in analysis.findings)
    small = []
    if warned:
        small.append(f"{counted(warned, 'warning')} below, among the findings.")
    if analysis.study.skipped:
        places = counted(len(analysis.study.skipped), "place")
        small.append(f"{places} of the source could not be read with certainty: see the notes.")
    return small
