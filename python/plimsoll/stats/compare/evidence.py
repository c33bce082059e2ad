"""The evidence for a question: the pairs of valid runs, and why others are excluded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.compare.readings import requests_of
from plimsoll.stats.latency.ranks import above, comparable_requests, least_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.comparison import VerdictWord
    from plimsoll.stats.compare.gate import VerdictGate
    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.compare.readings import Pair, Readings
    from plimsoll.stats.compare.shares import FailureCount
    from plimsoll.stats.study import Measured, Study, Trial


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question has no answer."""

    word: VerdictWord
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    pairs: tuple[Pair, ...]
    """Of valid runs, the endpoint measured in both. Without any, or if a check forbids an answer, all with values: they
    are shown."""
    failed: frozenset[str]
    """Ids of the checks that failed for some run, or for all."""
    remarks: tuple[str, ...] = ()
    earlier: tuple[Measured, ...] = ()
    """Of earlier runs of a that predict b, if there are enough; then the pair stands for no more than b."""


def gather(study: Study, readings: Readings, gate: VerdictGate, question: Question) -> tuple[Evidence, Refusal | None]:
    """The counted pairs. A refusal if there are none, or if a check forbids any answer."""
    cells = [readings.cell(variant, question.level, question.operation) for variant in (question.a, question.b)]
    for variant, trials in zip((question.a, question.b), cells, strict=True):
        if not trials:
            at = f" at {question.level}" if question.level is not None else ""
            return Evidence((), frozenset()), Refusal("no verdict", f"{variant} was not run{at}")
    pairs = readings.pairs(question.a, question.b, question.level, question.operation)
    if not pairs:
        return Evidence((), frozenset()), Refusal("no verdict", "none of the runs belong to the same repeat")
    general = gate.of_question(question)
    faults = {id(trial): _faults(trial, gate, question) for pair in pairs for trial in pair}
    sound = [pair for pair in pairs if not any(faults[id(trial)] for trial in pair)]
    failed = frozenset([each.id for each in general] + [name for each in faults.values() for name, _ in each])
    reasons = [each.statement for each in general] + [reason for each in faults.values() for _, reason in each]
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


def too_few(quantile: float, requests: int, counted: bool) -> str:
    """Why a percentile of so few requests is not compared; "" if they suffice."""
    if requests >= least_requests(quantile):
        return ""
    name, about = f"p{quantile * 100:.10g}", "" if counted else "≈"
    tail = above(requests, quantile) if requests else 0
    rests = "the single largest" if tail == 1 else f"the {tail} largest" if tail else "none"
    return (
        f"{name} rests on {rests} of {about}{requests} requests; {least_requests(quantile):_} are needed, "
        f"{comparable_requests(quantile):_} to compare well"
    ).replace("_", "\u00a0")


def _faults(trial: Trial, gate: VerdictGate, question: Question) -> list[tuple[str, str]]:
    """Why a run does not count, each with the id of its check."""
    faults = [("RUN", reason) for reason in trial.invalid]
    return faults + [(each.id, each.statement) for each in gate.of_trial(trial, question)]


def _has_value(readings: Readings, question: Question, trial: Trial) -> bool:
    measured = readings.measured(trial, question.endpoint)
    return measured is not None and question.metric.of(measured) is not None


def _missing(readings: Readings, question: Question, pair: Pair) -> str:
    for trial in pair:
        measured = readings.measured(trial, question.endpoint)
        if measured is None:
            return f"{trial.variant} has no {question.label}"
        if question.metric.of(measured) is None:
            return f"{_what(question, measured)} is not known of {trial.variant}"
    return "it is not known of both in the same repeat"


def _what(question: Question, measured: Measured) -> str:
    if question.metric.kind == "errors":
        return "how many failed"
    return f"the {question.metric.text}" + (", as nothing was timed," if measured.timed == 0 else "")


def _remarks(
    study: Study,
    cells: Sequence[tuple[Trial, ...]],
    pairs: Sequence[Pair],
    sound: Sequence[Pair],
    reasons: Sequence[str],
) -> list[str]:
    remarks = []
    if sound and len(sound) < len(pairs):
        remarks.append(f"{len(pairs) - len(sound)} of {len(pairs)} pairs left out: {reasons[0]}")
    alone = sum(map(len, cells)) - 2 * len(pairs)
    if alone:
        remarks.append(f"{alone} run{'s' * (alone != 1)} without a partner left out")
    if len(sound) > 1 and not study.interleaved:
        remarks.append("not interleaved: what else changed between the runs is in the difference")
    return remarks


def _failed(readings: Readings, question: Question, trial: Trial) -> FailureCount | None:
    from plimsoll.stats.compare.shares import FailureCount

    measured = readings.measured(trial, question.endpoint)
    if measured is None or measured.failures is None or not measured.requests:
        return None
    return FailureCount(measured.failures, measured.requests)
