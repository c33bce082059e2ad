"""From a study to its verdicts. Pairs of runs answer each question, or the reason for no answer is given.

1. Validity: a blocking finding, or no valid run → invalid.
2. Enough requests for the percentile, in every run → or no verdict.
3. One pair: one run; the spread within runs does not predict others. Two: no verdict, without the bench's history.
4. The mean of ln(b/a), or of b − a for shares, with its t interval; equivalence by two one-sided tests.
5. All comparisons share one rate of false alarms (`family.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll.stats.cell import geometric_mean
from plimsoll.stats.compare import planning
from plimsoll.stats.compare.comparison import Comparison, Remark, RunsNeeded
from plimsoll.stats.compare.evidence import counted_failures, fewest_requests, gather, too_few
from plimsoll.stats.compare.family import holm, weights_of
from plimsoll.stats.compare.gate import VerdictGate
from plimsoll.stats.compare.lateness import generators_span, needs_service
from plimsoll.stats.compare.pairs import LEAST, log_ratios, paired
from plimsoll.stats.compare.prediction import earlier_rows, predicted
from plimsoll.stats.compare.questions import questions_of
from plimsoll.stats.compare.ratios import (
    effect_of,
    history_of,
    relative_step,
    rounding_spread,
    variance_within,
    within_runs,
)
from plimsoll.stats.compare.readings import Readings
from plimsoll.stats.compare.shares import FailureCount, beyond_earlier, difference
from plimsoll.stats.latency.ranks import above
from plimsoll.stats.machine import starved_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.record.cells import CellKey
    from plimsoll.stats.compare.evidence import Evidence
    from plimsoll.stats.compare.pairs import PairedResult
    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.machine import StarvedTarget
    from plimsoll.stats.study import Study

OWN_CHECKS = ("RUN",)
"""The check without a finding: the runs are valid."""
BY_SERVICE = Remark("service times")
LEAST_SAID = 0.001
"""A smaller widening of an interval is not mentioned."""
LEAST_FOR_PLANS = 4
"""Pairs from which the spread is known well enough to plan more."""
LEAST_FOR_FLIPS = 6
"""Pairs from which the exact test can reach 0.05 at all."""
_UNDECIDED = ("invalid", "no verdict", "one run")


def compare(study: Study, findings: Iterable[Finding], checks: Sequence[str] = ()) -> tuple[Comparison, ...]:
    """All comparisons of a study, in the order of `questions_of`.

    findings: blocking ones decide what is compared. checks: ids of all that could have blocked, for the number of
    passed checks in a verdict.
    """
    gate, starved = VerdictGate(findings, study), starved_cells(study)
    bench = _Bench(study, Readings(study), gate, (*OWN_CHECKS, *checks), starved)
    questions = list(questions_of(study))
    weights = weights_of(questions)
    answers = [_answer(bench, question, weight) for question, weight in zip(questions, weights, strict=True)]
    return _adjusted(answers, weights, bench)


@dataclass(frozen=True, slots=True, eq=False)
class _Bench:
    study: Study
    readings: Readings
    gate: VerdictGate
    checks: tuple[str, ...]
    starved: Mapping[CellKey, StarvedTarget]
    """Cells with a full machine of which the target uses a small part."""

    def alpha(self, pairs: int) -> float:
        """The p below which a difference is certain: 0.05, or that of the look with this many pairs."""
        looks = self.study.looks
        return planning.look_alphas(looks)[planning.look_of(pairs, self.study.repeats, looks) - 1]


def _answer(bench: _Bench, question: Question, weight: float) -> Comparison:
    """weight: its part of the study's chance of a false alarm."""
    evidence, refusal = gather(bench.study, bench.readings, bench.gate, question)
    if needs_service(bench.readings, question, evidence.pairs):
        bench = replace(bench, readings=bench.readings.by_service)
        evidence = replace(evidence, remarks=(*evidence.remarks, BY_SERVICE))
    full = _of_full_machine(bench, question)
    earlier = earlier_rows(bench.study, bench.readings, question)
    evidence = replace(evidence, earlier=earlier, remarks=(*evidence.remarks, *full))
    trials = [trial for pair in evidence.pairs for trial in pair]
    start = Comparison(
        metric=question.metric,
        a=question.a.variant,
        b=question.b.variant,
        against=question.against,
        endpoint=question.endpoint,
        level=question.b.level,
        operation=question.b.operation,
        word="no verdict",
        pairs=len(evidence.pairs),
        interleaved=bench.study.interleaved,
        warmup=bench.readings.warmup(trials),
        checks=_checks(bench, evidence.failed),
        remarks=evidence.remarks,
        primary=question.is_primary,
        alpha=weight * bench.alpha(len(evidence.pairs)),
    )
    if trials:
        start = _with_values(bench, question, evidence, start)
    if refusal is not None:
        return replace(start, word=refusal.word, reason=refusal.reason)
    if question.metric.kind == "errors":
        return _answer_share(bench, question, evidence, start)
    return _answer_ratio(bench, question, evidence, start)


def _checks(bench: _Bench, failed: Iterable[str]) -> tuple[int, int]:
    return len(bench.checks) - len(set(failed).intersection(bench.checks)), len(bench.checks)


def _values(bench: _Bench, question: Question, evidence: Evidence) -> tuple[list[float], list[float]]:
    """Of a and of b, pair by pair. Every pair of the evidence has both."""
    sides: tuple[list[float], list[float]] = ([], [])
    for pair in evidence.pairs:
        for side, trial in zip(sides, pair, strict=True):
            measured = bench.readings.measured(trial, question.endpoint)
            value = question.metric.of(measured) if measured is not None else None
            assert value is not None
            side.append(value)
    return sides


def _earlier_values(question: Question, evidence: Evidence) -> list[float]:
    return [value for row in evidence.earlier if (value := question.metric.of(row)) is not None]


def _with_values(bench: _Bench, question: Question, evidence: Evidence, start: Comparison) -> Comparison:
    a, b = _values(bench, question, evidence)
    quantile = question.metric.quantile
    requests, is_counted = fewest_requests(bench.readings, question, evidence.pairs)
    is_share = question.metric.kind == "errors"
    if evidence.earlier:
        a = _earlier_values(question, evidence)
        start = replace(start, earlier=len(evidence.earlier))
    a_value, b_value = (fmean(each) if is_share else geometric_mean(each) or None for each in (a, b))
    cut = bench.readings.cut(question.b)
    slow = (Remark("still warming up", (cut,)),) if cut else ()
    return replace(
        start,
        a_value=a_value,
        b_value=b_value,
        ratio=b_value / a_value if a_value and b_value else None,
        requests=requests,
        is_counted=is_counted or requests is None,
        tail=above(requests, quantile) if requests and quantile is not None else None,
        remarks=(*slow, *start.remarks),
    )


def _answer_share(bench: _Bench, question: Question, evidence: Evidence, start: Comparison) -> Comparison:
    pairs = counted_failures(bench.readings, question, evidence.pairs)
    if not pairs:
        return replace(start, reason=Remark("failure counts not known"))
    alpha = bench.alpha(len(pairs))
    if evidence.earlier:
        counts = [FailureCount(row.failures or 0, row.requests) for row in evidence.earlier if row.requests]
        found = beyond_earlier(counts, pairs[-1][1], question.metric.delta)
    else:
        found = difference(pairs, question.metric.delta, alpha)
    begun = replace(
        start,
        pairs=len(pairs),
        difference=found.value,
        difference_low=found.low,
        difference_high=found.high,
        p=found.p,
        p_flip=found.p_flip,
        requests=min(each.requests for pair in pairs for each in pair),
        within_run=found.word is None,
        at_least=found.beyond and found.word is not None,
        remarks=(*start.remarks, *_of_look(bench, len(pairs))),
    )
    if found.word is not None:
        return replace(begun, word=found.word, resolves=(found.high - found.low) / 2)
    if len(pairs) == 1:
        return replace(begun, word="one run")
    return replace(begun, reason=_too_few_pairs(len(pairs)))


def _answer_ratio(bench: _Bench, question: Question, evidence: Evidence, start: Comparison) -> Comparison:
    metric, pairs = question.metric, evidence.pairs
    a_value, b_value = start.a_value, start.b_value
    if a_value is None or b_value is None:
        return replace(start, reason=Remark("zero"))
    requests, counted = fewest_requests(bench.readings, question, pairs)
    if metric.quantile is not None and requests is not None:
        if (reason := too_few(metric.quantile, requests, counted)) is not None:
            return replace(start, reason=reason)
    elif metric.quantile is not None:
        start = replace(start, remarks=(*start.remarks, Remark("requests not known")))
    a, b = _values(bench, question, evidence)
    floor = rounding_spread(question, pairs, a_value, b_value)
    if evidence.earlier:
        logs = list(map(math.log, _earlier_values(question, evidence)))
        found: PairedResult | None = predicted(logs, math.log(b_value), floor=floor)
    else:
        history = history_of(bench.study, question)
        found = paired(log_ratios(a, b), floor=floor, history=history, alpha=bench.alpha(len(pairs)))
    late = generators_span(bench.readings, question, pairs)
    begun = replace(
        start,
        effect=effect_of(bench.readings, question, pairs),
        step=_step(question, evidence, start) or None,
        remarks=(*start.remarks, *_of_values(bench, question, evidence, start)),
    )
    if found is None:
        span = within_runs(bench.readings, question, pairs[0])
        low, high = (None, None) if span is None else (span[0] * math.exp(-late.below), span[1] * math.exp(late.above))
        return replace(begun, word="one run", low=low, high=high, within_run=span is not None)
    if len(pairs) < LEAST and not (found.with_history or evidence.earlier):
        return replace(begun, reason=_too_few_pairs(len(pairs)))
    found = replace(found, below=late.below, above=late.above)
    begun = _with_interval(bench, begun, found)
    word, at_least = found.verdict(math.log1p(metric.delta))
    return _with_plan(bench, question, evidence, found, replace(begun, word=word, at_least=at_least))


def _with_interval(bench: _Bench, start: Comparison, found: PairedResult) -> Comparison:
    low, high = found.interval
    remarks = list(_of_look(bench, found.pairs))
    if found.with_history:
        remarks.append(Remark("history", (found.spread, found.freedom)))
    if found.p_flip is not None and found.p <= found.alpha < found.p_flip and found.pairs >= LEAST_FOR_FLIPS:
        remarks.append(Remark("signs disagree", (found.p_flip,)))
    wider = math.expm1(max(found.below, found.above))
    if wider >= LEAST_SAID:
        remarks.append(Remark("wider", (wider,)))
    return replace(
        start,
        low=math.exp(low),
        high=math.exp(high),
        spread=found.spread,
        p=found.p,
        p_flip=found.p_flip,
        resolves=math.expm1((high - low) / 2),
        remarks=(*start.remarks, *remarks),
    )


def _with_plan(
    bench: _Bench, question: Question, evidence: Evidence, found: PairedResult, answer: Comparison
) -> Comparison:
    """Adds the runs needed for a better result, if the spread is known well enough."""
    if answer.word not in ("different", "not distinguishable") or answer.earlier:
        return answer
    if found.pairs < LEAST_FOR_PLANS and not found.with_history:
        return answer
    delta, alpha = question.metric.delta, answer.alpha or found.alpha
    more = max(0, planning.pairs_needed(found.spread, delta, alpha) - found.pairs)
    powered = planning.pairs_for_power(found.spread, delta, alpha=alpha)
    powered_more = max(0, math.ceil(powered) - found.pairs) if powered is not None else None
    if not more and not powered_more:
        return answer
    pace = _pace(bench, evidence)
    within = variance_within(bench.readings, question, evidence.pairs)
    needed = RunsNeeded(
        pairs=more,
        minutes=planning.minutes(more, *pace) if pace is not None else None,
        powered=powered_more,
        longer=within is not None and planning.longer_runs(within, found.spread),
    )
    best = None
    if needed.longer and within is not None and pace is not None:
        best = planning.best_duration(within, pace[0], found.spread, pace[1])
    advice = (Remark("better length", (best,)),) if best is not None else ()
    return replace(answer, needed=needed, remarks=(*answer.remarks, *advice))


def _pace(bench: _Bench, evidence: Evidence) -> tuple[float, float] | None:
    """Measured seconds of a run, and its additional seconds."""
    durations = [trial.duration for pair in evidence.pairs for trial in pair if trial.duration is not None]
    gap = bench.study.gap
    return (fmean(durations), gap) if durations and gap is not None else None


def _step(question: Question, evidence: Evidence, start: Comparison) -> float:
    """The coarser of the two tools' steps at these values, relative."""
    assert start.a_value is not None
    assert start.b_value is not None
    sides = zip(evidence.pairs[0], (start.a_value, start.b_value), strict=True)
    return max(relative_step(question, trial.precision, value) for trial, value in sides)


def _of_values(bench: _Bench, question: Question, evidence: Evidence, start: Comparison) -> Iterable[Remark]:
    assert start.a_value is not None
    assert start.b_value is not None
    step = _step(question, evidence, start) * max(start.a_value, start.b_value)
    if step and abs(start.b_value - start.a_value) <= step * (1 + 1e-9):
        yield Remark("rounding step")
    quantile = question.metric.quantile
    if quantile is None:
        return
    for trial in (trial for pair in evidence.pairs for trial in pair):
        measured = bench.readings.measured(trial, question.endpoint)
        if measured is not None and measured.is_at_least(quantile):
            yield Remark("given up on")
            return


def _of_full_machine(bench: _Bench, question: Question) -> Iterable[Remark]:
    """Of the one of the two whose target has less of its machine. Shares of failures have no such remark."""
    found = [bench.starved[cell] for cell in (question.a, question.b) if cell in bench.starved]
    if found and question.metric.kind != "errors":
        least = min(found, key=lambda target: target.target_cores)
        yield Remark("full machine", (least.busy_cores, least.cores, least.target_cores))


def _of_look(bench: _Bench, pairs: int) -> Iterable[Remark]:
    if bench.study.looks > 1:
        looks = bench.study.looks
        look = planning.look_of(pairs, bench.study.repeats, looks)
        yield Remark("look", (look, looks, bench.alpha(pairs)))


def _too_few_pairs(pairs: int) -> Remark:
    return Remark("few pairs", (pairs,))


def _adjusted(answers: Sequence[Comparison], weights: Sequence[float], bench: _Bench) -> tuple[Comparison, ...]:
    """Adds q. A difference by p but not by q is not established."""
    family = [place for place, each in enumerate(answers) if each.p is not None and each.word not in _UNDECIDED]
    adjusted = list(answers)
    qs = holm([answers[place].p or 0.0 for place in family], [weights[place] for place in family])
    for place, q in zip(family, qs, strict=True):
        answer = replace(answers[place], q=q)
        if q > bench.alpha(answer.pairs) and answer.word in ("different", "negligible"):
            answer = replace(
                answer,
                word="equivalent" if answer.word == "negligible" else "not distinguishable",
                at_least=False,
                remarks=(*answer.remarks, Remark("family", (len(family),))),
            )
        adjusted[place] = answer
    return tuple(answer if _is_open(answer) else replace(answer, needed=None) for answer in adjusted)


def _is_open(answer: Comparison) -> bool:
    return answer.word == "not distinguishable" or (answer.word == "different" and not answer.at_least)
