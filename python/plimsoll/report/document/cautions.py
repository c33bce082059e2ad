"""What a reader must be careful about: one line for each reason, with how often it holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.report.document.blocks import Doubts
from plimsoll.say import few_requests
from plimsoll.say.answer.limits import elsewhere
from plimsoll.say.findings import said
from plimsoll.say.names import listed
from plimsoll.say.numbers import counted
from plimsoll.say.remarks import warnings
from plimsoll.stats.thresholds.slo import is_about_any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.findings.finding import Finding

MOST = 12
"""Lines."""
MOST_NAMES = 5
"""Endpoints that a line names."""
_NUMBER = re.compile(r"\d[\d\u00a0.,]*")


def cautions(analysis: Analysis) -> Doubts:
    """Invalid runs first, then strange percentiles, crashes, warnings by rule, and percentiles of too few requests."""
    study = analysis.study
    invalid = [reason for trial in study.trials for reason in trial.invalid]
    crashed = [trial for trial in study.trials if trial.crashed]
    affected = sum(bool(trial.invalid) for trial in study.trials)
    title = "Be careful"
    if affected:
        title = f"{affected} of {counted(len(study.trials), 'run')} did not get the load that was asked for"
    lines = [
        *_alike(invalid),
        *few_requests.strange(study),
        *dict.fromkeys(f"The target of {trial.variant} ended by itself: {trial.crashed}." for trial in crashed),
        *_findings(finding for finding in analysis.findings if finding.weight != "insight"),
        *_left_out(analysis),
        *few_requests.not_compared(analysis),
        *_unmatched(analysis),
        *warnings(analysis),
    ]
    if study.skipped:
        lines.append(f"{counted(len(study.skipped), 'place')} of the source could not be read: see the evidence.")
    if not lines:
        return Doubts("Nothing speaks against these numbers", bad=False)
    left_out = len(lines) - MOST
    more = (f"{left_out} more lines are among the evidence.",) if left_out > 0 else ()
    return Doubts(title, bad=bool(invalid), lines=tuple(lines[:MOST]), small=more)


def _alike(reasons: Iterable[str]) -> Iterator[str]:
    """Reasons that differ by their numbers only are one line, with the first of them."""
    groups: dict[str, list[str]] = {}
    for reason in reasons:
        groups.setdefault(_NUMBER.sub("#", reason), []).append(reason)
    for group in groups.values():
        yield f"{group[0]} ({counted(len(group), 'run')})."


def _findings(findings: Iterable[Finding]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.id, finding.weight), []).append(finding)
    for (name, _), group in groups.items():
        text = said(group[0])
        yield f"{' '.join(filter(None, (text.statement, elsewhere(group), text.advice)))} ({name})"


def _left_out(analysis: Analysis) -> Iterator[str]:
    """How much of each run the comparisons leave out, and the tables do not."""
    declared = {(trial.level, trial.operation): trial.warmup for trial in analysis.study.trials}
    cuts = {
        place: cut
        for row in analysis.comparisons
        if (cut := row.warmup - declared.get(place := (row.level, row.operation), row.warmup)) > 0
    }
    if not cuts:
        return
    places = f" at {counted(len(cuts), 'place')}" if len(declared) > 1 else ""
    yield (
        f"Comparisons leave out the first {max(cuts.values()):g} s of each run{places}, as some run was still getting "
        "faster; the tables have all seconds, so they may show another change. A longer warm-up avoids it."
    )


def _unmatched(analysis: Analysis) -> Iterator[str]:
    """Metrics that the question is about, and objectives, of endpoints that there are not."""
    compared = {row.endpoint for row in analysis.comparisons}
    for metric in analysis.study.primary:
        if compared and not any(metric.is_about(endpoint) for endpoint in compared):
            text = f"{metric.text} of {metric.endpoint}"
            yield f"{text} is a primary metric, but no endpoint has this name: {_names(compared)}."
    endpoints = analysis.study.endpoints()
    for criterion in analysis.study.slo:
        if endpoints and not is_about_any(criterion, endpoints):
            yield f"No endpoint has the name in {criterion}, so no load is judged by it: {_names(endpoints)}."


def _names(endpoints: Iterable[tuple[str, str]]) -> str:
    names = [" ".join(filter(None, endpoint)) for endpoint in sorted(endpoints)]
    return listed([*names[:MOST_NAMES], *([f"{len(names) - MOST_NAMES} more"] if names[MOST_NAMES:] else [])])
