"""The checks of a run in words: a function for each class of `plimsoll.stats.validity`, with a text for each state."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

from plimsoll.say.causes import cause_text, silent_seconds
from plimsoll.say.durations import ms, rough_ms
from plimsoll.say.events import event_text
from plimsoll.say.numbers import counted, number, percent_reached
from plimsoll.stats.generator import LATE_MS
from plimsoll.stats.latency.milliseconds import CLEAN_MS, CLEAN_PART
from plimsoll.stats.latency.omission import QUANTILES
from plimsoll.stats.validity.check import ACHIEVED
from plimsoll.stats.validity.lateness import (
    LEAST_FOR_P99,
    CpuCheck,
    DelayCheck,
    GrowingLag,
    LagCheck,
    LateArrivals,
)
from plimsoll.stats.validity.load import (
    ClockCheck,
    CoordinatorCheck,
    DroppedCheck,
    EndedCheck,
    ExhaustedCheck,
    OfferedCheck,
    WorkersCheck,
)
from plimsoll.stats.validity.record import (
    LITTLE_MEAN,
    LITTLE_SAMPLES,
    LittleCheck,
    OtherCount,
    PercentilesCheck,
    StoredCheck,
)
from plimsoll.stats.validity.standstill import SILENCE_MS, IdleUsers, SilenceCheck

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.latency.omission import Omission
    from plimsoll.stats.validity.check import ValidityCheck
    from plimsoll.stats.validity.lateness import UncleanFigure
    from plimsoll.stats.validity.record import NoLittle

_ENDINGS = {
    "finished": "the run went on to its end",
    "stopped": "The run was stopped before its end.",
    "running": "the run has not ended",
    "interrupted": "the run was cut off before its end: seconds may be missing",
    "failed": "the run failed before its end",
}
"""By the status of a run."""

UNDECIDED = "without what the load generator may have added the objective was met, with it broken"
"""Why a probe of a search for capacity does not count, whose load was right."""


@singledispatch
def check_text(check: ValidityCheck) -> str:
    """One line. A remark is a sentence or two, with full stops; the others may follow a colon."""
    raise TypeError(f"{type(check).__name__} has no sentence: no function for it is registered")


def check_texts(checks: Iterable[ValidityCheck]) -> list[str]:
    return [check_text(check) for check in checks]


def unclean_text(figure: UncleanFigure) -> str:
    """A figure with too large a share of the generator."""
    if figure.name == "throughput":
        return f"throughput, up to {percent_reached(figure.share)} too low"
    return f"{_figure(figure)} {ms(figure.value)}, up to {rough_ms(figure.share)} of it the generator's"


def omission_lines(omission: Omission) -> list[str]:
    """What a closed model hid: what happened, what it changes, and how to measure it. No full stops."""
    figures = ", ".join(
        f"p{100 * q:g} {ms(omission.modelled[q])} instead of {ms(omission.recorded[q])}" for q in QUANTILES[:2]
    )
    # As the option reads it: without a space between its digits.
    rate = f"{omission.rate:.0f}" if omission.rate >= 10 else f"{omission.rate:.2g}"
    return [
        f"coordinated omission: the target stalled, and while {number(omission.stalls)} exchanges took over "
        f"{ms(omission.stall_ms)} their users sent about {number(omission.missed)} requests less",
        f"modelled for clients who do not wait for each other: {figures}",
        f"to measure it instead, run the open model: --rate {rate}/s",
    ]


@check_text.register
def ended(check: EndedCheck) -> str:
    return _ENDINGS.get(check.status, f"it is not known how the run ended: its status is {check.status!r}")


@check_text.register
def offered(check: OfferedCheck) -> str:
    if check.state == "n/a":
        return "the closed model offers no rate that could be missed"
    if check.value is None:
        return "no arrival was due after the warm-up"
    rates = f"{number(check.begun_per_s)}/s of {number(check.offered_per_s)}/s offered were begun in time"
    achieved = percent_reached(check.value)
    if check.state == "ok":
        return f"{rates} ({achieved})"
    return (
        f"only {rates} ({achieved}, less than {percent_reached(ACHIEVED)}): the others waited for a user or were "
        "dropped; more users (--max-users), or a rate that the target can keep up with"
    )


@check_text.register
def dropped(check: DroppedCheck) -> str:
    if check.state == "n/a":
        return "in the closed model nothing is due that could be dropped"
    if not check.value:
        return "no arrival was dropped"
    return f"{counted(check.value, 'arrival')} dropped: due, but never sent; more users (--max-users), or a lower rate"


@check_text.register
def workers(check: WorkersCheck) -> str:
    if check.value is None:
        return "it is not known whether a worker was lost"
    if not check.value:
        return "no worker was lost"
    another = "another one took its place"
    if check.lost:
        parts = [*map(event_text, check.lost), *([another] if check.replaced else [])]
    else:
        parts = [f"{counted(check.value, 'worker')} lost: a part of the load was missing "]
        if len(check.replaced) >= check.value and not check.is_load_taken_over:
            parts[0] += f"until {another}"
        else:
            parts[0] += "until the others took it over" if check.is_load_taken_over else "from then on"
            parts += [another] if check.replaced else []
    if check.replaced:
        parts[-1] += f" with second {', '.join(str(replacement.to_second) for replacement in check.replaced)}"
    if check.incomplete_from is not None:
        end = "on" if math.isinf(check.incomplete_to) else f"to {check.incomplete_to - 1:.0f}"
        parts.append(f"what was measured is incomplete from second {check.incomplete_from} {end}")
    return "; ".join(parts)


@check_text.register
def coordinator(check: CoordinatorCheck) -> str:
    process = "the process that coordinates the run"
    if check.resumed:
        text = f"{process} was lost, and another one continued it: "
        text += ", ".join(
            f"no full load from second {event.from_second} to {event.to_second}" for event in check.resumed
        )
        if missing := [worker for event in check.resumed for worker in event.incomplete]:
            first = min(worker.from_second for worker in missing)
            text += f"; what {counted(len(missing), 'worker')} measured from second {first} until then is incomplete"
        return text
    if check.load_cut_s is not None:
        return f"the load ended early, after {check.load_cut_s:.1f} s: {process} stood still"
    if check.value is None:
        return f"it is not known whether {process} stood still"
    if check.state == "ok":
        return f"{process} was always there"
    return f"{process} stood still for {check.value:.1f} s; the workers went on with their load"


@check_text.register
def clock(check: ClockCheck) -> str:
    if check.value is None:
        return "it is not known whether the clock was set"
    if check.state == "ok":
        return "the clock was not set"
    at = f" (second {', '.join(map(str, check.seconds))})" if check.seconds else ""
    return (
        f"the clock was set by {ms(check.value)}{at}: receive stamps around that moment are wrong by as much; "
        "no time synchronisation that steps while a run goes on"
    )


@check_text.register
def exhausted(check: ExhaustedCheck) -> str:
    if check.value is None:
        return "no worker reported whether files, ports and memory sufficed"
    if not check.value:
        return "files, ports and memory sufficed"
    return (
        f"{counted(check.value, 'exchange')} failed because files, ports or memory of the generator ran out; "
        "`plimsoll doctor` says which"
    )


@check_text.register
def lag(check: LagCheck) -> str:
    if check.value is None:
        return f"too few requests to judge lag ({check.requests} of {LEAST_FOR_P99})"
    if check.figure is None or check.cause is None:
        return (
            f"99 % of the requests left within {rough_ms(check.value)}: the generator's share of each time is at most "
            f"{percent_reached(CLEAN_PART)} or {ms(CLEAN_MS)}"
        )
    share, the = check.figure.share, "The " if check.figure.name == "mean" else ""
    return (
        f"Requests left up to {rough_ms(max(check.value, share))} late: {cause_text(check.cause)}. "
        f"{the}{_figure(check.figure)} may be up to {rough_ms(share)} too high."
    )


@check_text.register
def late_arrivals(check: LateArrivals) -> str:
    return (
        f"{number(check.late)} of {counted(check.offered, 'arrival')} left more than {LATE_MS // 1000} s after they "
        f"were due, up to {ms(check.longest_ms)}, from second {check.first_second} to second {check.last_second}: "
        f"{cause_text(check.cause)}"
    )


@check_text.register
def delay(check: DelayCheck) -> str:
    if check.replies < LEAST_FOR_P99:
        return f"too few replies to judge delay ({check.replies} of {LEAST_FOR_P99})"
    late = f"99 % of the replies were read within {rough_ms(check.p99_ms)}"
    if check.value is None:
        return f"{late}, which is part of no time"
    part = percent_reached(check.value)
    if check.cause is None:
        return f"{late}; lag and delay cost at most {part} of the throughput"
    return f"Throughput may be up to {part} too low: {cause_text(check.cause)}."


@check_text.register
def cpu(check: CpuCheck) -> str:
    if check.value is None:
        return "no worker reported its CPU for a whole second"
    used = f"used more than {percent_reached(check.full)} CPU in {percent_reached(check.value)} of their seconds"
    if check.state == "ok":
        return f"workers {used}"
    if check.cause is None:
        return f"Workers {used}, and sent and read in time all the same."
    return f"Workers {used}: {cause_text(check.cause)}."


@check_text.register
def growing_lag(check: GrowingLag) -> str:
    return (
        f"a worker was never idle, and requests left later and later ({rough_ms(check.before_ms)} to "
        f"{rough_ms(check.after_ms)} late): {cause_text(check.cause)}, a lower load, or another machine"
    )


@check_text.register
def silence(check: SilenceCheck) -> str:
    if check.state == "unknown":
        return "no worker reported whether it stood still"
    if check.cause is None:
        return f"no worker stood still for more than {SILENCE_MS} ms"
    return f"A {_stood_still(check)}: {cause_text(check.cause)}. Nothing was sent or read meanwhile."


@check_text.register
def idle_users(check: IdleUsers) -> str:
    assert check.value is not None
    return (
        f"a {_stood_still(check)}, and its {counted(check.users, 'user')} did nothing meanwhile: "
        f"{number(round(check.missing_s))} of {number(check.asked_s)} seconds of users' time are missing "
        f"({percent_reached(check.value)}); {cause_text(check.cause)}"
    )


@check_text.register
def percentiles(check: PercentilesCheck) -> str:
    match check.contradiction:
        case None:
            order = "min ≤ p50 ≤ p90 ≤ p99 ≤ p99.9 ≤ max at every endpoint"
            return "nothing was timed" if check.value is None else order
        case OtherCount(times, exchanges):
            disorder = f"{times} times of {exchanges} exchanges"
        case (low, value), (high, bound):
            disorder = f"{low} {ms(value)} is above {high} {ms(bound)}"
    return f"times contradict each other ({check.endpoint}: {disorder}): the record is damaged"


@check_text.register
def stored(check: StoredCheck) -> str:
    expected, actual = check.expected, check.actual
    if expected is None or actual is None:
        return check.lost or "the run does not say how much it recorded"
    of = f"{counted(expected.exchanges, 'exchange')} and {counted(expected.reports, 'report')} of workers"
    if check.state == "ok":
        return f"all of the run is stored: {of}"
    kept = f"{number(actual.exchanges)} and {number(actual.reports)}"
    return f"of {of}, the store has {kept}: a part of the record was lost or changed"


@check_text.register
def little(check: LittleCheck) -> str:
    if check.not_applied is not None:
        return f"Little's law is not applied: {_no_little(check.not_applied)}"
    figures = f"the times add up to {number(check.timed)} in flight, {number(check.counted)} were counted"
    if check.state == "ok":
        return f"Little's law: {figures} (within ±{check.limit:.3g})"
    apart = f"Little's law: {figures} (more than ±{check.limit:.3g} apart)"
    if check.state == "failed":
        return f"{apart}: exchanges were not recorded"
    return f"{apart}. Exchanges came and went between two counts."


def _no_little(reason: NoLittle) -> str:
    match reason:
        case "varies", _:
            return "what was in flight changes too much between samples"
        case "few samples", (samples,):
            return f"{counted(samples, 'sample')} of what was in flight, at least {LITTLE_SAMPLES} are needed"
        case "few in flight", (mean,):
            return f"{mean:.3g} in flight on average, at least {LITTLE_MEAN:.0f} are needed"
        case "own client", _:
            return "a client of the user's own timed exchanges that the engine did not count"
        case "late counts", _:
            return "a worker often stood still, and counted late"
        case "long exchanges", (longest, run):
            return f"exchanges took up to {longest:.3g} s, the run only {run:.3g} s"
    raise ValueError(f"no sentence for {reason}")


def _figure(figure: UncleanFigure) -> str:
    """p99 of GET /todos/."""
    return f"{figure.name} of {figure.endpoint}" if figure.endpoint else figure.name


def _stood_still(check: SilenceCheck) -> str:
    longest = max(silence.ms for silence in check.silences)
    return f"worker stood still for up to {ms(longest)} ({silent_seconds(check.silences)})"
