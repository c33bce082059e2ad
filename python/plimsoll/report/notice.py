"""What a message says when a run, an experiment or a comparison is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.redact import redact
from plimsoll.report.gate import REGRESSION, exit_code, regressions, reported
from plimsoll.say.answer import answer_of
from plimsoll.say.comparisons import direction, in_short, subject
from plimsoll.say.notices import comparison_lines, run_notice_title, search_notice_title, study_notice_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.report.sources import StudySource
    from plimsoll.say.notices import NoticeVerdict

_OF_CODES: dict[int, NoticeVerdict] = {0: "passed", REGRESSION: "failed"}
MOST_COMPARISONS = 10
"""Lines of a message: it points at a report, and does not replace it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message, without secrets."""

    title: str
    """One sentence."""
    verdict: NoticeVerdict
    lines: tuple[str, ...]
    """Sentences, each on a line of its own."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """The same for programs: JSON, by name."""


def study_notice(source: StudySource, code: int) -> Notice:
    """Of an experiment, a comparison, a search for capacity, or one run. code: the exit code of the command."""
    analysis = source.analysis
    if analysis.study.search is not None:
        return _search_notice(source, _OF_CODES.get(code, "invalid"))
    worse = regressions(analysis)
    verdict: NoticeVerdict = "failed" if worse else "invalid" if exit_code(source, None) else "passed"
    if source.run is not None and verdict == "passed":
        thresholds = source.run.assessment.thresholds
        verdict = "passed" if all(threshold.passed or threshold.within_share for threshold in thresholds) else "failed"
    answer = [redact(sentence) for sentence in answer_of(analysis)]
    shown = sorted(
        (
            comparison
            for comparison in reported(analysis)
            if comparison.better is not None or comparison.word == "invalid"
        ),
        key=lambda comparison: comparison.better is not False,
    )
    compared = [
        (redact(f"{subject(comparison)}{f', {direction(comparison)}' if comparison.better is not None else ''}"),
         redact(in_short(comparison)))
        for comparison in shown[:MOST_COMPARISONS]
    ]  # fmt: skip
    if source.run is not None:
        title = run_notice_title(source.name, redact(source.run.stored.manifest.name), verdict)
    else:
        title = study_notice_title(redact(source.name), verdict, len(worse))
    return Notice(
        title,
        verdict,
        (*answer, *comparison_lines(compared)),
        {
            "name": redact(source.name),
            "verdict": verdict,
            "answer": answer,
            "regressions": len(worse),
            "comparisons": [{"subject": subject, "result": result} for subject, result in compared],
        },
    )


def _search_notice(source: StudySource, verdict: NoticeVerdict) -> Notice:
    answer = [redact(sentence) for sentence in answer_of(source.analysis)]
    name = redact(source.name)
    details = {"name": name, "verdict": verdict, "answer": answer}
    return Notice(search_notice_title(name, verdict), verdict, tuple(answer), details)
