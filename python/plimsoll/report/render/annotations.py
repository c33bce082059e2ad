"""Findings and verdicts as workflow commands of GitHub Actions, which shows them on the run's page.

::error title=p99 of GET /todos/ at 50 users%3A slower::DIFFERENT, at least 5 %25 (×1.20 [1.18, 1.22])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll.plain_text import one_line
from plimsoll.report.gate import is_regression, reported, unexplained
from plimsoll.say.comparisons import WORDS, direction, in_short, place, ratio, subject, values
from plimsoll.say.findings import said
from plimsoll.say.gates import newest_text, noise_text, unexplained_text
from plimsoll.say.numbers import counted
from plimsoll.stats.compare.prediction import LEAST_EARLIER
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.report.sources import OutputRequest, StudySource
    from plimsoll.stats.compare.comparison import Comparison, VerdictWord
    from plimsoll.stats.findings.finding import Finding, FindingWeight
    from plimsoll.stats.thresholds.verdict import ThresholdResult

Grade = Literal["error", "warning", "notice"]

MOST = 10
"""Of one grade: GitHub shows no more of a step."""
_GRADES: dict[FindingWeight, Grade] = {"blocks": "error", "warning": "warning", "insight": "notice"}


def workflow_commands(source: StudySource, request: OutputRequest) -> str:
    """A line each, errors first: what became worse or is unknown, reasons to doubt, then the rest."""
    analysis = source.analysis
    messages = [
        *_of_thresholds(source.thresholds),
        *_of_comparisons(reported(analysis)),
        *_of_unexplained(unexplained(analysis)),
        *_of_noise(source),
        *_open(analysis.judged),
        *map(_of_finding, analysis.findings),
    ]
    lines = []
    for grade in ("error", "warning", "notice"):
        own = [(title, text) for own_grade, title, text in messages if own_grade == grade]
        shown = own if len(own) <= MOST else own[: MOST - 1]
        lines += [_line(grade, title, text) for title, text in shown]
        if len(own) > len(shown):
            lines.append(_line(grade, "and more", f"{len(own) - len(shown)} more: `plimsoll report` has all"))
    return "".join(f"{line}\n" for line in lines)


_OPEN: tuple[VerdictWord, ...] = ("one run", "no verdict")


def _of_thresholds(results: Iterable[ThresholdResult]) -> Iterator[tuple[Grade, str, str]]:
    for result in results:
        if result.outcome != "passed":
            yield (
                "error" if result.outcome == "broken" else "warning",
                f"{result.text}: {result.outcome}",
                result.detail,
            )


def _of_unexplained(comparisons: Iterable[Comparison]) -> Iterator[tuple[Grade, str, str]]:
    for comparison in comparisons:
        shown = " ".join(filter(None, (values(comparison), ratio(comparison))))
        yield "warning", f"{subject(comparison)}: unclear", unexplained_text(comparison, shown)


def _of_noise(source: StudySource) -> Iterator[tuple[Grade, str, str]]:
    """What the earlier runs say about it; why there are none."""
    if source.remark:
        yield "notice", "Nothing to compare", source.remark
    newest = source.analysis.study.newest
    if newest is not None:
        yield "notice", "Compared", newest_text(newest)
        judged = source.analysis.judged
        together = [comparison for comparison in judged if comparison.endpoint in (TOTAL, ("", ""))]
        yield "notice", "Noise of this runner", noise_text(newest, together or judged, LEAST_EARLIER)


def _of_comparisons(comparisons: tuple[Comparison, ...]) -> Iterator[tuple[Grade, str, str]]:
    """Nothing is said of what is not distinguishable: that is what one hopes to see."""
    for each in comparisons:
        if each.better is not None:
            grade: Grade = "notice" if each.better else "error" if is_regression(each) else "warning"
            yield grade, f"{subject(each)}: {direction(each)}", in_short(each)
        elif each.word == "invalid":
            yield "error", subject(each), in_short(each)


def _open(comparisons: tuple[Comparison, ...]) -> Iterator[tuple[Grade, str, str]]:
    for word in _OPEN:
        number = sum(each.word == word for each in comparisons)
        if number:
            yield "notice", WORDS[word], f"{number} of {counted(len(comparisons), 'comparison')}"


def _of_finding(finding: Finding) -> tuple[Grade, str, str]:
    where = place(finding.where)
    text = said(finding)
    return (
        _GRADES[finding.weight],
        f"{finding.id}{f' ({where})' if where else ''}",
        f"{text.statement} {text.advice}".strip(),
    )


def _line(grade: str, title: str, text: str) -> str:
    return f"::{grade} title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    """A text as the message of a command: GitHub decodes %25, and ends a command at the end of its line."""
    return one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    """A text as a property of a command, which ends at a colon or a comma."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
