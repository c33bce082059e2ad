"""A recorded run as a trial of a study."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol, cast

from plimsoll.record import FAILURES, NO_REQUESTS, RESPONDED, TRACEPARENT, UNANSWERED
from plimsoll.record.observed import ObservedSource
from plimsoll.stats.generator import LinkUse, by_machine
from plimsoll.stats.latency.milliseconds import ms_at
from plimsoll.stats.study import PLIMSOLL, FailureKind, GeneratorHealth, Measured, TargetWork, Trial
from plimsoll.stats.validity import throughput_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from plimsoll.record import Failure
    from plimsoll.record.cells import CellKey
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.record.observed import ObservedWork
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.seconds import Key
    from plimsoll.stats.study import Course, GeneratorCourse, Series, WorkKind
    from plimsoll.stats.view import EndpointView, RunView

QUANTILES = (0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999)
"""Stored in a trial without its histogram."""
ANSWERED = RESPONDED & FAILURES
"""Failures with a response."""

_STATUS = re.compile(r"(?:^|status |HTTPError\(')([1-5]\d\d)\b")


class StudyRun(Protocol):
    """The circumstances of a recorded run, as returned by the store."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def manifest(self) -> Manifest: ...
    @property
    def facts(self) -> RunFacts: ...
    @property
    def notes(self) -> list[str]: ...


class StudyReading(Protocol):
    """What was read of it, as a `RunReading` has it."""

    @property
    def view(self) -> RunView: ...
    @property
    def observed(self) -> tuple[Series, ...]: ...
    @property
    def users_by_second(self) -> NDArray[np.float64] | None: ...
    @property
    def generator(self) -> GeneratorCourse | None: ...
    @property
    def traffic(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...
    def course(self, key: Key) -> Course: ...


def trial_of(
    run: StudyRun,
    reading: StudyReading,
    cell: CellKey,
    *,
    order: int | None = None,
    crashed: str | None = None,
    facts: Mapping[str, str | float] | None = None,
    invalid: tuple[str, ...] = (),
) -> Trial:
    """All data of a run for statistics. reading: of this run. facts: more data from the experiment. invalid: why the
    run counts in no comparison.

    Sums and percentiles are those of `RunView`, without the warm-up; a `Course` has every second, and its `measured`
    are all from the end of the warm-up on, so the last one may be a fraction of a second, or contain only late
    responses: `trial.warmup + trial.duration` is the end.
    """
    view = reading.view
    manifest = run.manifest
    target = run.facts.observed or {}
    users, ramp = _users(view, manifest)
    kinds, added, steady = _kinds(view), throughput_share(view, manifest) or 0.0, view.steady
    return Trial(
        id=run.id,
        variant=cell.variant,
        level=cell.level,
        operation=cell.operation,
        repeat=cell.repeat,
        order=order,
        users=users,
        offered=view.offered_rate if manifest.is_open else None,
        think=_think(manifest),
        duration=view.duration or None,
        ramp=ramp,
        warmup=float(view.warmup),
        endpoints=tuple(_measured(endpoint, reading, kinds, added, steady) for endpoint in view.endpoints),
        total=_measured(view.total, reading, kinds, added, steady),
        precision=replace(PLIMSOLL, times_of=cast("Any", view.times_of)),
        invalid=invalid,
        notes=tuple(run.notes),
        is_stopped=run.status == "stopped",
        generator=_generator(view, manifest),
        machines=tuple(by_machine(view.generator, run.facts, view.duration)),
        lag=view.generator.lag if view.generator.lag.count else None,
        users_by_second=reading.users_by_second,
        generator_course=reading.generator,
        link=_link(run, reading),
        observed=reading.observed,
        cores={source: float(known.cores) for source, known in target.items() if known.cores is not None},
        work=tuple(_work(target)),
        slowest=tuple(slow.request for slow in target.get(TRACEPARENT, ObservedSource()).slowest or ()),
        edits=run.facts.edits or (),
        crashed=crashed,
        scenario=_digest(manifest),
        replayed=_replayed(manifest),
        facts=facts or {},
    )


def _link(run: StudyRun, reading: StudyReading) -> LinkUse | None:
    """None where the bytes of a second, or the speed of the interface that they went over, are not known."""
    link, traffic = run.manifest.machine.link, reading.traffic
    if link is None or traffic is None or run.facts.cluster is not None:
        return None
    return LinkUse(link.interface, link.mbit_s, *traffic)


def _work(observed: Mapping[str, ObservedSource]) -> Iterator[TargetWork]:
    """observed: by source."""
    for source, known in observed.items():
        kinds: tuple[tuple[WorkKind, tuple[ObservedWork, ...] | None], ...] = (
            ("transaction", known.transactions), ("call", known.calls), ("part", known.parts),
        )  # fmt: skip
        for kind, works in kinds:
            for work in works or ():
                yield TargetWork(
                    kind, work.service, work.name, work.calls, work.ms, view=work.view, failed=work.failed,
                    p50=work.p50, p95=work.p95, max=work.max,
                )  # fmt: skip
        for statement in known.statements or ():
            yield TargetWork("statement", source, statement.query, statement.calls, statement.ms, rows=statement.rows)


def _measured(
    totals: EndpointView,
    reading: StudyReading,
    kinds: Mapping[tuple[str, str], tuple[FailureKind, ...]],
    throughput_share: float,
    steady: range | None,
) -> Measured:
    """throughput_share: the generator's share of the run's throughput, the same for every endpoint. steady: the seconds
    whose throughput counts."""
    view = reading.view
    times = totals.response_of(view.timed)
    all_times = totals.interval_of(view.timed)
    key, waits = (totals.method, totals.name), totals.outcomes.get(UNANSWERED)
    ended = [interval for interval in totals.outcomes.values() if interval.outcome not in NO_REQUESTS]
    connected = sum(interval.connected for interval in ended)
    return Measured(
        *key,
        requests=totals.requests,
        failures=totals.failures,
        # Equal services with a different latency carry the same load: what the first seconds lack is no throughput.
        rate=view.rate(totals, steady) if view.duration else None,
        mean=_value(times.mean),
        min=_value(times.min),
        max=_value(times.max),
        quantiles={
            q: time.value for q, time in zip(QUANTILES, times.quantiles(QUANTILES), strict=True) if time is not None
        },
        size=totals.body_bytes / totals.completed if totals.completed else None,
        outcomes={name: interval.count for name, interval in sorted(totals.outcomes.items()) if interval.count},
        kinds=kinds.get(key, ()),
        mean_success=_value(totals.response_of({"success"}).mean),
        mean_failure=_value(totals.response_of(ANSWERED).mean),
        censored=times.censored,
        unanswered=totals.unanswered,
        overdue=totals.overdue,
        waits=waits.response if waits is not None and waits.timed else None,
        service_waits=waits.service if waits is not None and waits.timed else None,
        connected=connected,
        connecting=sum(interval.connect_sum for interval in ended) / connected / 1e6 if connected else None,
        histogram=all_times.response,
        service=all_times.service,
        on_time=all_times.on_time,
        throughput_share=throughput_share,
        course=reading.course(key),
    )


def _value(time: Milliseconds | None) -> float | None:
    return None if time is None else time.value


def _kinds(view: RunView) -> dict[tuple[str, str], tuple[FailureKind, ...]]:
    """By endpoint, the most frequent first; and of all together, as the endpoint of `view.total`."""
    found: dict[tuple[str, str], dict[tuple[str, str], Failure]] = {}
    for failure in view.failures:
        for key in ((failure.method, failure.name), (view.total.method, view.total.name)):
            alike = found.setdefault(key, {})
            if known := alike.get((failure.outcome, failure.message)):
                known.add(failure)
            else:
                alike[failure.outcome, failure.message] = replace(failure)
    return {
        key: tuple(
            FailureKind(kind.outcome, kind.text, kind.count, status_of(kind.outcome, kind.message), kind.message)
            for kind in sorted(alike.values(), key=lambda kind: -kind.count)
        )
        for key, alike in found.items()
    }


def status_of(outcome: str, message: str) -> int | None:
    """The HTTP status in the message of a failure."""
    found = _STATUS.search(message) if outcome == "http" else None
    return int(found[1]) if found else None


def _generator(view: RunView, manifest: Manifest) -> GeneratorHealth:
    generator = view.generator
    in_flight = generator.in_flight_by_second()
    samples = [count for second, count in in_flight.items() if second < view.whole_seconds.stop]
    return GeneratorHealth(
        lag_p99=ms_at(generator.lag, 0.99),
        delay_p99=ms_at(generator.delay, 0.99),
        cpu_max=generator.cpu_max if generator.workers else None,
        achieved=generator.begun / generator.offered if generator.offered else None,
        dropped=max(generator.dropped, view.total.dropped),
        in_flight=fmean(samples) if samples else None,
        open_files=manifest.limits.open_files,
    )


def _users(view: RunView, manifest: Manifest) -> tuple[float | None, float]:
    """Their number, and for how many seconds after the warm-up they were still starting."""
    if manifest.is_open:
        return None, 0.0
    planned = manifest.users
    ramp = (planned or 0) / (manifest.spawn_rate or math.inf)
    by_second = view.generator.users_by_second()
    # The second in which the run ends has fewer: they are stopping.
    end = view.whole_seconds.stop - 1
    counts = [count for second, count in by_second.items() if second < end]
    if not counts:
        return planned, max(0.0, ramp - view.warmup)
    most = max(counts)
    reached = counts.index(most)
    if min(counts[reached:]) < most:
        # A shape moves them up and down: Little's law holds for their mean.
        return fmean(counts), 0.0
    seconds = reached + 1.0 if reached else 0.0
    # They are counted at the end of whole seconds; the spawn rate determines the exact moment.
    return float(most), max(0.0, min(seconds, ramp - view.warmup)) if ramp > view.warmup else seconds


def _think(manifest: Manifest) -> float | None:
    """Mean seconds between a reply and the next request of a native user. A locustfile's waits are not recorded."""
    flows = (manifest.plan.scenario or {}).get("flows") or ()
    if not flows:
        return None
    steps = [(flow.get("weight") or 1.0, step.get("think")) for flow in flows for step in flow.get("steps") or ()]
    total = sum(weight for weight, _ in steps)
    return sum(weight * _mean_think(think) for weight, think in steps) / total if total else None


def _mean_think(think: Mapping[str, Any] | None) -> float:
    if not think:
        return 0.0
    if "between" in think:
        return fmean(think["between"])
    return float(think.get("constant") or think.get("exponential") or 0.0)


def _replayed(manifest: Manifest) -> dict[tuple[str, str], float] | None:
    """Requests by endpoint, if rows of a feeder name the flows and a phase has the times: weights count the rows."""
    scenario = manifest.plan.scenario
    load = manifest.plan.load
    kinds = set() if load is None else {phase.shape.kind for phase in load.phases}
    if scenario is None or not isinstance(scenario.get("choice"), dict) or kinds != {"replay"}:
        return None
    logged: dict[tuple[str, str], float] = {}
    for flow in scenario["flows"]:
        for step in flow["steps"]:
            key = (str(step["method"]), str(step["name"]))
            logged[key] = logged.get(key, 0.0) + float(flow.get("weight") or 0.0)
    return logged


def _digest(manifest: Manifest) -> str | None:
    """Of the users' behaviour: the same for trials at other levels, with other times and other addresses."""
    plan = manifest.plan
    scenario = plan.scenario
    files = [file.sha256 for file in manifest.scenario.files]
    if scenario is None and not files:
        return None
    if scenario is not None:
        files = []
        targets = [{**address, "url": None} for address in scenario.get("targets") or ()]
        scenario = {**scenario, "targets": targets}
    chosen = {name: getattr(plan, name) for name in ("arguments", "tags", "exclude_tags", "equal_weights")}
    text = json.dumps([files, scenario, chosen], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
