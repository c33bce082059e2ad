"""What a report of an experiment begins with: the answer, what was measured, what speaks against the numbers."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from plimsoll.load.durations import duration_text
from plimsoll.report import words
from plimsoll.report.charts import trial_label
from plimsoll.report.document.blocks import Answer, Chip, Doubts, NamedValue
from plimsoll.report.document.verdict_tables import verdict_chip
from plimsoll.report.gate import judged
from plimsoll.report.numbers import count, counted, share
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Study

MOST_ANSWERS = 6
"""Comparisons that the beginning names one by one."""
MOST_DOUBTS = 8
_OF_TARGET = ("CRASH", "OVERLOAD", "SERIAL", "SAT", "ERR", "RETRO", "LEAK")
"""Rules whose findings answer what a service does under load; the weightiest first."""


def answers(analysis: Analysis) -> tuple[Answer, ...]:
    """A few sentences on what the question is about: the certain and relevant differences, the worse ones first. Where
    nothing is compared, what was found of the target."""
    chosen = judged(analysis)
    if not chosen:
        found = [Answer(_nothing_compared(analysis)), *_of_target(analysis.findings)]
    elif all(each.word == "one run" for each in chosen) and (told := _one_run_each(chosen)):
        found = [told]
    elif len(chosen) <= MOST_ANSWERS:
        found = [_answer(analysis, each) for each in chosen]
    else:
        found = _of_many(analysis, chosen)
    blocking = Counter(each.id for each in analysis.findings if each.weight == "blocks")
    if blocking:
        rules = ", ".join(f"{name} ({number})" if number > 1 else name for name, number in blocking.items())
        found.append(Answer(f"Findings that block verdicts: {rules}."))
    return tuple(found)


def _one_run_each(chosen: Sequence[Comparison]) -> Answer | None:
    """What two runs measured, in one sentence; None where there are several pairs, levels or operations."""
    places = {(each.operation, each.level, each.a, each.b) for each in chosen}
    endpoints = {each.endpoint for each in chosen}
    total = next((each for each in (TOTAL, ("", "")) if each in endpoints), None)
    if len(places) > 1 or (total is None and len(endpoints) > 1):
        return None
    told = [
        f"{'requests/s' if each.metric.kind == 'throughput' else each.metric.text} {words.values(each)}"
        for each in chosen
        if each.endpoint == (total or each.endpoint) and words.values(each)
        if each.metric.kind == "throughput" or each.metric.quantile in (0.5, 0.99)
    ]
    if not told:
        return None
    _, _, a, b = places.pop()
    noise = "one run each, so how much of that is noise is unknown: repeat both, or use an experiment"
    return Answer(f"{b} against {a}: {', '.join(told)}; {noise}.")


def answer_text(answer: Answer) -> str:
    """In one line: p99 of GET /todos/, index against baseline: DIFFERENT: slower (200 → 240 ms ×1.20 [1.18, 1.22])."""
    if answer.chip is None:
        return answer.text
    return f"{answer.text}: {answer.chip.text}{f' ({answer.basis})' if answer.basis else ''}."


def _answer(analysis: Analysis, comparison: Comparison) -> Answer:
    ratio = words.ratio(comparison)
    basis = " ".join(part for part in (words.values(comparison), ratio) if part)
    chip = verdict_chip(analysis, comparison)
    shown = "; ".join(filter(None, (basis, comparison.reason)))
    return Answer(words.subject(comparison), Chip(chip.text, chip.tone), shown)


def _of_many(analysis: Analysis, chosen: Sequence[Comparison]) -> list[Answer]:
    worse = [each for each in chosen if each.better is False]
    better = [each for each in chosen if each.better]
    rest = Counter(each.word for each in chosen if each.better is None)
    parts = [
        *([f"{len(worse)} {words.WORDS['different']} for the worse"] if worse else []),
        *([f"{len(better)} {words.WORDS['different']} for the better"] if better else []),
        *(f"{rest[word]} {text}" for word, text in words.WORDS.items() if rest[word]),
    ]
    found = [Answer(f"Of {counted(len(chosen), 'comparison')}: {', '.join(parts)}.")]
    for group, what in ((worse, "worse"), (better, "better")):
        most = MOST_ANSWERS // 2
        found += [_answer(analysis, each) for each in sorted(group, key=_distance)[:most]]
        if len(group) > most:
            found.append(Answer(f"{len(group) - most} more for the {what} are in the table of verdicts."))
    return found


def _distance(comparison: Comparison) -> float:
    """The largest difference first."""
    return -abs(math.log(comparison.ratio)) if comparison.ratio else 0.0


def _nothing_compared(analysis: Analysis) -> str:
    study = analysis.study
    invalid = sum(bool(trial.invalid) for trial in study.trials)
    counts = (
        (len(study.trials), "run"),
        (len(study.variants), "variant"),
        (len([each for each in study.levels if each is not None]), "level"),
        (len([each for each in study.operations if each]), "operation"),
    )
    what = ", ".join(counted(number, thing) for number, thing in counts if number)
    return f"{what}; nothing is compared." + (f" {counted(invalid, 'run')} INVALID." if invalid else "")


def _of_target(findings: Sequence[Finding]) -> list[Answer]:
    """Findings that say what the target does under load, not how far the numbers can be trusted."""
    found = [each for rule in _OF_TARGET for each in findings if each.id == rule and each.weight != "blocks"]
    shown = [Answer(each.statement) for each in found[:MOST_ANSWERS]]
    more = len(found) - len(shown)
    return [*shown, *([Answer(f"{more} more of the kind are among the findings.")] if more > 0 else [])]


def status(study: Study, cells: Sequence[CellSummary]) -> tuple[NamedValue, ...]:
    """What was measured, in a few numbers. What is not known is left out."""
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
        ends = [duration_text(each) for each in (durations[0], durations[-1])]
        name = "measured in each run" if len(study.trials) > 1 else "measured"
        found.append(NamedValue(name, ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"))
    if counts:
        found.append(NamedValue("requests", count(sum(counts))))
    if counts and failures:
        failed = f"{count(sum(failures))} ({share(sum(failures), sum(counts))})" if sum(failures) else "none"
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
