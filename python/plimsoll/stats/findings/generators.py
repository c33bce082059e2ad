"""GEN: runs limited by the load generator. RETRANS: a machine of it whose network loses more than that of others.
REPLAY: runs that send a log again. NAMES: runs with more names than it counts separately. CORRECTED: latencies that
were changed afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record import OTHERS
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import whole
from plimsoll.stats.findings.subject import Subject, run
from plimsoll.stats.names import NamePattern, name_pattern
from plimsoll.stats.study import PLIMSOLL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.stats.study import GeneratorHealth, Study, Trial

ACHIEVED = 0.98
"""Of the offered arrivals: below this, the load was not the reported one."""
LATE_MS = 1.0
LATE_SHARE = 0.05
"""Lag is part of the latency: at most this many ms, or this share of the target's p50 if that is more."""
SAME_MIX = 0.01
"""Of the requests may be of other endpoints than in the log."""
SENT = 0.99
"""Of the requests of the log are sent, or the run is not the log's load."""
CPU = 0.80
"""Of a core: a queue with fixed service (M/D/1) waits two services at 80 %, 4.5 at 90 %."""

LEAST_AGAIN = 20
"""Retransmissions: fewer are a few bursts."""
AGAIN = 0.001
"""Of them for each request: each costs 200 ms or more on Linux, so they decide the 99.9th percentile."""
AGAIN_TIMES = 5
"""As many as on the other machines: losses on the common way to the target, or at the target, are alike for all."""


@dataclass(frozen=True, slots=True)
class GeneratorFaults:
    """What a generator was short of; None where it was not."""

    achieved: float | None = None
    """Share of the arrivals that were begun."""
    lag_p99_ms: float | None = None
    limit_ms: float | None = None
    """Of that lag."""
    cpu: float | None = None
    """Most of a core that it used."""

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.achieved, self.lag_p99_ms, self.cpu))


@dataclass(frozen=True, slots=True)
class SaturatedGenerator(Finding):
    """A run limited by the load generator. The numbers are those of `GeneratorFaults`."""

    id = "GEN"
    subject: Subject
    achieved: float | None
    lag_p99_ms: float | None
    limit_ms: float | None
    cpu: float | None


@dataclass(frozen=True, slots=True)
class LossyMachine(Finding):
    """A machine of the generator that sends TCP segments again more often than the others."""

    id = "RETRANS"
    subject: Subject
    machine: str
    retransmissions: float
    for_each_request: float
    """Of them."""
    of_others: float
    """The same of the other machines together."""


@dataclass(frozen=True, slots=True)
class FoldedNames(Finding):
    """Runs with more names than are counted separately."""

    id = "NAMES"
    names: float
    """Fewest names that a run counted separately."""
    requests: float
    """Counted under `OTHERS`."""
    runs: float | None
    """Runs with them; None in a study of one run."""
    pattern: NamePattern | None
    """Of most names."""


@dataclass(frozen=True, slots=True)
class CorrectedTimes(Finding):
    """Latencies that were changed afterwards."""

    id = "CORRECTED"
    runs: float


def generators(study: Study) -> Iterable[Finding]:
    """For runs of other tools: ours are judged second by second when they are read (`stats.validity`), with more data;
    the results are in `Trial.invalid`."""
    for trial in study.trials:
        if trial.invalid or trial.generator is None or trial.precision.tool == PLIMSOLL.tool:
            continue
        faults = saturated(trial.generator, _median(trial))
        if faults:
            yield SaturatedGenerator(
                run(study, trial),
                achieved=faults.achieved,
                lag_p99_ms=faults.lag_p99_ms,
                limit_ms=faults.limit_ms,
                cpu=faults.cpu,
                where=Where.of(trial, None, trial.id),
                # With late requests the load is still the requested one: the lateness widens comparisons.
                weight="blocks" if faults.achieved is not None else "warning",
            )


def saturated(health: GeneratorHealth, median: float | None) -> GeneratorFaults:
    """median: of the target, in ms."""
    limit = max(LATE_MS, LATE_SHARE * median) if median is not None else LATE_MS
    is_late = health.lag_p99 is not None and health.lag_p99 > limit
    return GeneratorFaults(
        achieved=health.achieved if health.achieved is not None and health.achieved < ACHIEVED else None,
        lag_p99_ms=health.lag_p99 if is_late else None,
        limit_ms=limit if is_late else None,
        cpu=health.cpu_max if health.cpu_max is not None and health.cpu_max > CPU else None,
    )


def lossy_machines(study: Study) -> Iterable[Finding]:
    """At most one for each run: the machine that retransmits most often."""
    for trial in study.trials:
        counts = {
            row.machine: (row.retransmissions, row.requests)
            for row in trial.machines
            if row.retransmissions is not None and row.requests
        }
        if len(counts) < 2:
            continue
        machine = max(counts, key=lambda name: counts[name][0] / counts[name][1])
        again, requests = counts.pop(machine)
        share = again / requests
        of_others = sum(count for count, _ in counts.values()) / sum(number for _, number in counts.values())
        if again >= LEAST_AGAIN and share >= max(AGAIN, AGAIN_TIMES * of_others):
            yield LossyMachine(
                run(study, trial),
                machine=machine,
                retransmissions=float(again),
                for_each_request=share,
                of_others=of_others,
                where=Where.of(trial, None, trial.id),
                weight="warning",
            )


def names(study: Study) -> Iterable[Finding]:
    found = [(trial, row) for trial in study.trials for row in trial.endpoints if row.key == OTHERS and row.requests]
    if not found:
        return
    known = {row.name for trial, _ in found for row in trial.endpoints if row.key != OTHERS}
    yield FoldedNames(
        names=float(min(len(trial.endpoints) - 1 for trial, _ in found)),
        requests=float(sum(row.requests or 0 for _, row in found)),
        runs=None if len(study.trials) == 1 else float(len(found)),
        pattern=name_pattern(sorted(known)),
        where=Where(endpoint=OTHERS),
        weight="warning",
    )


def corrected(study: Study) -> Iterable[Finding]:
    trials = [each for each in study.trials if each.precision.clock == "corrected" and each.model == "open"]
    if not trials:
        return
    yield CorrectedTimes(float(len(trials)), where=Where(kinds=("quantile", "mean")), weight="warning")


def _median(trial: Trial) -> float | None:
    row = whole(trial)
    return row.quantile(0.5) if row is not None else None


@dataclass(frozen=True, slots=True)
class ReplayedLog(Finding):
    """A run whose requests are those of a log."""

    id = "REPLAY"
    subject: Subject
    logged: float
    """Requests of the log."""
    sent: float
    """Requests of them that were sent."""
    mix_difference: float
    """The share of the sent requests, 0 to 1, that would have to be of another endpoint to have the log's mix."""
    lag_p99_ms: float | None
    """99 % of the requests were sent at most so much after the time that the log gives them; None: unknown."""


def replays(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        if trial.replayed is None or trial.warmup:
            continue
        logged = sum(trial.replayed.values())
        sent = _sent(trial)
        total = sum(sent.values())
        if not total:
            continue
        difference = _difference(trial.replayed, sent)
        is_log = total >= SENT * logged and difference <= SAME_MIX
        yield ReplayedLog(
            run(study, trial),
            logged=float(logged),
            sent=float(total),
            mix_difference=difference,
            lag_p99_ms=trial.generator.lag_p99 if trial.generator is not None else None,
            where=Where.of(trial, None, trial.id),
            weight="insight" if is_log else "warning",
        )


def _sent(trial: Trial) -> dict[tuple[str, str], int]:
    """Requests of each endpoint."""
    return {measured.key: int(measured.requests or 0) for measured in trial.endpoints}


def _difference(logged: Mapping[tuple[str, str], float], sent: Mapping[tuple[str, str], float]) -> float:
    """The total variation distance of two mixes, 0 to 1."""
    all_logged, all_sent = sum(logged.values()), sum(sent.values())
    keys = logged.keys() | sent.keys()
    return sum(abs(logged.get(key, 0) / all_logged - sent.get(key, 0) / all_sent) for key in keys) / 2
