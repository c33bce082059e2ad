"""The evidence for a question: the pairs of valid runs, and why others are excluded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.compare.comparison import Remark
from plimsoll.stats.compare.readings import requests_of
from plimsoll.stats.latency.ranks import least_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.comparison import Reason, VerdictWord
    from plimsoll.stats.compare.gate import VerdictGate
    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.compare.readings import Pair, Readings
    from plimsoll.stats.compare.shares import FailureCount
    from plimsoll.stats.study import Measured, Study, Trial


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question has no answer."""

    word: VerdictWord
    reason: Reason


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    pairs: tuple[Pair, ...]
    """Of valid runs, the endpoint measured in both. Without any, or if a check forbids an answer, all with values: they
    are shown."""
    failed: frozenset[str]
    """Ids of the checks that failed for some run, or for all."""
    remarks: tuple[Remark, ...] = ()
    earlier: tuple[Measured, ...] = ()
    """Of earlier runs of a that predict b, if there are enough; then the pair stands for no more than b."""


def gather(study: Study, readings: Readings, gate: VerdictGate, question: Question) -> tuple[Evidence, Refusal | None]:
    """The counted pairs. A refusal if there are none, or if a check forbids any answer."""
    cells = [readings.cell(cell) for cell in (question.a, question.b)]
    for cell, trials in zip((question.a, question.b), cells, strict=True):
        if not trials:
            level = (str(cell.level),) if cell.level is not None else ()
            return Evidence((), frozenset()), Refusal("no verdict", Remark("not run", names=(cell.variant, *level)))
    pairs = readings.pairs(question.a, question.b)
    if not pairs:
        return Evidence((), frozenset()), Refusal("no verdict", Remark("no common repeat"))
    general = gate.of_question(question)
    faults = {id(trial): _faults(trial, gate, question) for pair in pairs for trial in pair}
    sound = [pair for pair in pairs if not any(faults[id(trial)] for trial in pair)]
    failed = frozenset([reason.id for reason in general] + [name for of_run in faults.values() for name, _ in of_run])
    reasons: list[Reason] = [*general, *(reason for of_run in faults.values() for _, reason in of_run)]
    is_refused = bool(general) or not sound
    shown = pairs if is_refused else sound
    usable = tuple(pair for pair in shown if all(_has_value(readings, question, trial) for trial in pair))
    evidence = Evidence(usable, failed, tuple(_remarks(study, cells, pairs, sound, reasons)))
    if is_refused:
        return evidence, Refusal("invalid", reasons[0])
    if not usable:
        return evidence, Refusal("no verdict", _missing(readings, question, sound[0]))
    return evidence, None


def counted_failures(
    readings: Readings, question: Question, pairs: Sequence[Pair]
) -> list[tuple[FailureCount, FailureCount]]:
    """Pair by pair, without those whose number of failures is unknown."""
    found = [tuple(_failed(readings, question, trial) for trial in pair) for pair in pairs]
    return [(a, b) for a, b in found if a is not None and b is not None]


def fewest_requests(readings: Readings, question: Question, pairs: Sequence[Pair]) -> tuple[int | None, bool]:
    """The fewest requests behind a value of any run, and whether they were counted, not derived from the rate or
    rounded by the source.

    None: unknown.
    """
    known: list[tuple[int, bool]] = []
    for trial in (trial for pair in pairs for trial in pair):
        measured = readings.measured(trial, question.endpoint)
        requests = requests_of(measured, trial.duration) if measured is not None else None
        if measured is None or requests is None:
            return None, False
        known.append((requests, measured.timed is not None and "requests" not in measured.rounding))
    return min(known) if known else (None, False)


def too_few(quantile: float, requests: int, counted: bool) -> Remark | None:
    """Why a percentile of so few requests is not compared; None if they suffice."""
    if requests >= least_requests(quantile):
        return None
    return Remark("few requests", (quantile, requests, counted))


def _faults(trial: Trial, gate: VerdictGate, question: Question) -> list[tuple[str, Reason]]:
    """Why a run does not count, each with the id of its check."""
    faults = [("RUN", Remark("run invalid", names=(reason,))) for reason in trial.invalid]
    return [*faults, *((reason.id, reason) for reason in gate.of_trial(trial, question))]


def _has_value(readings: Readings, question: Question, trial: Trial) -> bool:
    measured = readings.measured(trial, question.endpoint)
    return measured is not None and question.metric.of(measured) is not None


def _missing(readings: Readings, question: Question, pair: Pair) -> Remark:
    for trial in pair:
        measured = readings.measured(trial, question.endpoint)
        if measured is None:
            return Remark("no endpoint", names=(trial.variant, question.label))
        if question.metric.of(measured) is None:
            if question.metric.kind == "errors":
                return Remark("failures not known", names=(trial.variant,))
            names = trial.variant, question.metric.text
            return Remark("not timed" if measured.timed == 0 else "not known", names=names)
    return Remark("not known of both")


def _remarks(
    study: Study,
    cells: Sequence[tuple[Trial, ...]],
    pairs: Sequence[Pair],
    sound: Sequence[Pair],
    reasons: Sequence[Reason],
) -> list[Remark]:
    remarks = []
    if sound and len(sound) < len(pairs):
        remarks.append(Remark("pairs left out", (len(pairs) - len(sound), len(pairs)), reason=reasons[0]))
    alone = sum(map(len, cells)) - 2 * len(pairs)
    if alone:
        remarks.append(Remark("runs left out", (alone,)))
    if len(sound) > 1 and not study.interleaved:
        remarks.append(Remark("not interleaved"))
    return remarks


def _failed(readings: Readings, question: Question, trial: Trial) -> FailureCount | None:
    from plimsoll.stats.compare.shares import FailureCount

    measured = readings.measured(trial, question.endpoint)
    if measured is None or measured.failures is None or not measured.requests:
        return None
    return FailureCount(measured.failures, measured.requests)
