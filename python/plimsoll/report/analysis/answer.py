"""The beginning of every report: the question, a short answer, the findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from plimsoll.report.analysis.document import Bullet, Bullets, Heading, Paragraph, Verbatim
from plimsoll.report.gate import judged
from plimsoll.report.numbers import counted
from plimsoll.report.words import (
    WEIGHTS,
    WORDS,
    RunLength,
    details,
    direction,
    evidence,
    headline,
    in_short,
    subject,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.report.analysis.document import Block
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding

MOST_ANSWERS = 6
"""Comparisons that the short answer names one by one."""
_ANSWERS = ("CRASH", "SERIAL", "SAT", "ERR", "RETRO", "LEAK")
"""Rules whose findings answer what a service does under load; the weightiest first."""
MOST_ALIKE = 3
"""Findings of one rule that are shown; further ones are folded away."""
MOST_VERDICTS = 24
"""Comparisons whose verdict is shown with all that it rests on."""


def beginning(analysis: Analysis) -> Iterator[Block]:
    """Title, question, short answer, findings, warnings."""
    study = analysis.study
    yield Heading(study.name or "Report", 1)
    if study.question:
        yield Paragraph(study.question)
    yield Heading("Short answer", 2)
    yield Bullets(tuple(Bullet(text) for text in short_answer(analysis)))
    if analysis.findings:
        yield Heading("Findings", 2)
        shown, folded = _findings(analysis.findings)
        yield Bullets(tuple(shown), tuple(folded))
    if study.warnings:
        yield Heading("Warnings", 2)
        yield Bullets(tuple(Bullet(text) for text in study.warnings))


def verdicts(analysis: Analysis) -> Iterator[Block]:
    """The primary comparisons at length, or all where there are few."""
    chosen = judged(analysis)
    if not chosen or len(chosen) > MOST_VERDICTS:
        return
    yield Heading("Verdicts", 2)
    lines: list[str] = []
    for place, group in _by_place(chosen):
        lines += ["", place] if lines else [place]
        for each in group:
            lines.append(headline(each))
            lines += [f"   {line}" for line in details(each, RunLength.of(analysis.study, each))]
    yield Verbatim(tuple(lines))


def short_answer(analysis: Analysis) -> list[str]:
    """A few sentences; the certain and relevant differences first."""
    chosen = judged(analysis)
    blocking = Counter(each.id for each in analysis.findings if each.weight == "blocks")
    lines = _named(chosen) if chosen else [_nothing_compared(analysis), *_told_of_the_target(analysis.findings)]
    if blocking:
        rules = ", ".join(f"{name} ({number})" if number > 1 else name for name, number in blocking.items())
        lines.append(f"Findings that block verdicts: {rules}.")
    return lines


def sentence(comparison: Comparison) -> str:
    """p99 of GET /todos/ at 50 users, index against baseline: DIFFERENT, at least 5 % (×1.20 [1.18, 1.22]), slower."""
    way = direction(comparison)
    return f"{subject(comparison)}: {in_short(comparison)}{f', {way}' if way else ''}."


def _named(chosen: Sequence[Comparison]) -> list[str]:
    if len(chosen) <= MOST_ANSWERS:
        return [sentence(each) for each in chosen]
    worse = [each for each in chosen if each.better is False]
    better = [each for each in chosen if each.better]
    rest = Counter(each.word for each in chosen if each.better is None)
    parts = [
        *([f"{len(worse)} {WORDS['different']} for the worse"] if worse else []),
        *([f"{len(better)} {WORDS['different']} for the better"] if better else []),
        *(f"{rest[word]} {text}" for word, text in WORDS.items() if rest[word]),
    ]
    lines = [f"Of {counted(len(chosen), 'comparison')}: {', '.join(parts)}."]
    for group, what in ((worse, "worse"), (better, "better")):
        ordered = sorted(group, key=lambda each: -abs((each.ratio or 1) - 1))
        lines += [sentence(each) for each in ordered[: MOST_ANSWERS // 2]]
        if len(group) > MOST_ANSWERS // 2:
            lines.append(f"… and {len(group) - MOST_ANSWERS // 2} more for the {what}, in the tables below.")
    return lines


def _nothing_compared(analysis: Analysis) -> str:
    study = analysis.study
    invalid = sum(bool(trial.invalid) for trial in study.trials)
    what = ", ".join(
        counted(number, thing)
        for number, thing in (
            (len(study.trials), "run"),
            (len(study.variants), "variant"),
            (len([each for each in study.levels if each is not None]), "level"),
            (len([each for each in study.operations if each]), "operation"),
        )
        if number
    )
    return f"{what}; nothing is compared." + (f" {counted(invalid, 'run')} INVALID." if invalid else "")


def _told_of_the_target(findings: Sequence[Finding]) -> list[str]:
    """The findings that say what it does under load, not how far the numbers can be trusted."""
    found = [each for rule in _ANSWERS for each in findings if each.id == rule and each.weight != "blocks"]
    lines = [each.statement for each in found[:MOST_ANSWERS]]
    more = len(found) - len(lines)
    return [*lines, *([f"… and {more} more of the kind, in the findings."] if more > 0 else [])]


def _findings(findings: Sequence[Finding]) -> tuple[list[Bullet], list[Bullet]]:
    """Those to show and those to fold away: of many of one rule, the first few stand for all. What a rule asks is said
    once."""
    seen: Counter[tuple[str, str]] = Counter()
    said: set[str] = set()
    shown: list[Bullet] = []
    folded: list[Bullet] = []
    for each in findings:
        seen[each.weight, each.id] += 1
        (shown if seen[each.weight, each.id] <= MOST_ALIKE else folded).append(_bullet(each, said))
    return shown, folded


def _bullet(finding: Finding, said: set[str]) -> Bullet:
    told = [("Rule", finding.rule), ("What to do", finding.advice)]
    below = [
        *([f"Evidence: {evidence(finding.evidence)}."] if finding.evidence else []),
        *(f"{title}: {text}" for title, text in told if text and text not in said),
    ]
    said.update(text for _, text in told)
    return Bullet(finding.statement, f"{finding.id}, {WEIGHTS[finding.weight]}:", tuple(below))


def _by_place(comparisons: Sequence[Comparison]) -> list[tuple[str, list[Comparison]]]:
    """Under a line each: new against old, upload, at 240 users."""
    groups: defaultdict[str, list[Comparison]] = defaultdict(list)
    for each in comparisons:
        level = f"at {each.level}" if each.level is not None else ""
        parts = (f"{each.b} against {each.a}", each.operation, level)
        groups[", ".join(part for part in parts if part)].append(each)
    return list(groups.items())
