"""Is the target healthy? Only thresholds set limits; without them the observations are reported.

The first of these that applies:

1. Nothing ended yet: unknown.
2. Silence: requests are in flight, and no reply came for at least `SILENCE` s and `SILENCES` times the p99 of the
   response times so far. Or no request reaches the target, or user code fails: `stats.headline.causes`.
3. A threshold does not hold so far.
4. Requests fail. Bad when more than `TOLERANCE` of them certainly do (the lower end of Wilson's 95 % interval of the
   share, JASA 22, 1927), which is the onset of the rule ERR of the findings; else a warning.
5. One endpoint is slow, and users wait mostly for it: `stats.headline.waiting`. Or one became slower in the course of
   the run, and not for a lack of CPU or a backlog of arrivals: `stats.headline.growing`.
6. It has become slower: the p50 of the last seconds is at least `SLOWER` times that of the whole run, both of at least
   `LEAST` requests. The 95 % interval of the median of 100 lognormal times reaches from 0.78 to 1.28 of it with σ = 1
   (ranks 40 and 61): a factor of two is no chance.
7. It stalled, and the closed model hid the stall: `stats.omission`.
8. In doubt: a check of the generator failed that the times depend on (`TIMES`).
9. The network interface of the load generator is full: `stats.headline.link`.
10. Requests had no response at the end, so many or for so long that p99 is not known, or that at least `WAITED` of all
   had waited for `LEAST_S` seconds.
11. Open model: not all offered arrivals started in time, so it does not keep up, or has too few users; or its backlog
   grows (`stats.capacity.backlog`).
12. In doubt: another check failed, so there was less load, or less of it is known.
13. Healthy if thresholds say so, else nothing conspicuous: p99 (the slowest, of fewer than `LEAST` requests) and how
    many requests did not fail.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.record import UNANSWERED
from plimsoll.stats.headline.causes import RECENT, RaisingCode, UnreachableTarget, raising, unreachable
from plimsoll.stats.headline.generator import is_early
from plimsoll.stats.headline.growing import GrowingTimes, growing_times
from plimsoll.stats.headline.link import FilledLink, filled_link
from plimsoll.stats.headline.waiting import SlowEndpoint, slow_endpoint
from plimsoll.stats.latency.omission import Omission, omission
from plimsoll.stats.latency.patience import LEAST_S
from plimsoll.stats.study import TOLERANCE
from plimsoll.stats.trial import status_of
from plimsoll.stats.validity import LEAST_FOR_P99 as LEAST
from plimsoll.stats.validity import OF_RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record import Failure
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.latency.milliseconds import Latency, Milliseconds
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.validity import Validity
    from plimsoll.stats.view import RunView

SILENCE = 3
SILENCES = 2.0
SLOWER = 2.0
WAITED = 0.1
OF_GENERATOR = frozenset({"cpu", "clock", "exhausted"})
OF_ARRIVALS = frozenset({"offered", "dropped"})
TIMES = OF_GENERATOR | {"percentiles", "little"}
_UNSENT = re.compile(r"cannot\sbe\ssent:")
"""How the message of a request begins that could not even be made."""
_Z = 1.96
"""Of 95 %."""


@dataclass(frozen=True, slots=True)
class SilentTarget:
    """Nothing was answered for some time."""

    seconds: int
    in_flight: int
    has_answered: bool
    """Before that."""


@dataclass(frozen=True, slots=True)
class NoRequests:
    """No request has ended."""

    warmup: int
    """The first second that counts, if it is yet to come; else 0."""
    unanswered: int
    """Requests without a response at the end of the run."""


@dataclass(frozen=True, slots=True)
class BrokenThresholds:
    results: tuple[ThresholdResult, ...]
    of: int


@dataclass(frozen=True, slots=True)
class FailingRequests:
    failures: int
    requests: int
    kinds: tuple[tuple[str | int, int], ...]
    """The most frequent first, with their numbers: statuses if messages have one, "unsent", else outcomes."""
    endpoint: tuple[str, str] | None
    """(method, name), if all known failures are of one."""
    is_certain: bool
    """More than `TOLERANCE` certainly fail."""
    sound: tuple[int, int] | None
    """Requests of the last seconds, and the number of these seconds, if the run goes on and none of them failed."""


@dataclass(frozen=True, slots=True)
class SlowerTarget:
    """p50 of the last seconds, and of the run."""

    now: Milliseconds
    usual: Milliseconds


@dataclass(frozen=True, slots=True)
class UnansweredRequests:
    count: int
    of: int
    of_users: bool
    """`of` is the number of users; else of requests."""
    endpoint: tuple[str, str] | None
    """(method, name), if all are of one."""


@dataclass(frozen=True, slots=True)
class OverloadedTarget:
    growth: float
    """Of the backlog, in requests per second."""
    rate: float
    """Arrivals per second."""


@dataclass(frozen=True, slots=True)
class CheckedTarget:
    """What the checks of the run leave of an answer."""

    doubt: Literal["times", "late", "record", "load"] | None
    """late: not all that was offered was begun in time. Others: in doubt, as a check of this failed. None: healthy."""


TargetCause = (
    SilentTarget
    | UnreachableTarget
    | NoRequests
    | RaisingCode
    | BrokenThresholds
    | FailingRequests
    | SlowEndpoint
    | GrowingTimes
    | SlowerTarget
    | Omission
    | FilledLink
    | UnansweredRequests
    | OverloadedTarget
    | CheckedTarget
)


@dataclass(frozen=True, slots=True)
class TargetHealth:
    """What leads, and what is said beside it."""

    cause: TargetCause
    is_over: bool
    requests: int
    failures: int
    tail: Milliseconds | None
    """The p99; the slowest of fewer than `LEAST` requests; None if nothing was timed."""
    has_p99: bool
    median: Milliseconds | None
    rate: float | None
    """Requests per second; None in the first moment."""
    timeouts: int
    failing: FailingRequests | None
    slow: SlowEndpoint | None
    growing: GrowingTimes | None
    thresholds: tuple[ThresholdResult, ...]


def target(
    view: RunView,
    manifest: Manifest,
    thresholds: Sequence[ThresholdResult],
    current: Latency | None,
    validity: Validity,
) -> TargetHealth:
    times, failing, slow = view.total.response_of(view.timed), _failing(view), slow_endpoint(view)
    growing = _growing(view, manifest, validity)
    has_p99 = times.count + times.waited >= LEAST
    cause = (
        _silence(view)
        or unreachable(view, manifest)
        or _nothing(view)
        or _users_fault(view, failing)
        or _broken(thresholds)
        or failing
        or slow
        or growing
        or _slower(view, current)
        or _stall(view, manifest)
        or _shortcoming(view, manifest, validity)
    )
    return TargetHealth(
        cause=cause,
        is_over=view.length is not None,
        requests=view.total.requests,
        failures=view.total.failures,
        tail=times.quantile(0.99) if has_p99 else times.max,
        has_p99=has_p99,
        median=times.quantile(0.5),
        rate=view.rate(view.total) if view.duration else None,
        timeouts=view.total.response.censored,
        failing=failing,
        slow=slow,
        growing=growing,
        thresholds=tuple(thresholds),
    )


def _growing(view: RunView, manifest: Manifest, validity: Validity) -> GrowingTimes | None:
    """Not if the generator slowed down, or if the load is more than the target can do: a queue grows then."""
    growing = growing_times(view, manifest)
    if growing is None or _failed(view, validity) & (OF_GENERATOR | OF_ARRIVALS):
        return None
    return None if manifest.is_open and _backlog(view) else growing


def _failed(view: RunView, validity: Validity) -> set[str]:
    """Names of checks."""
    return {check.name for check in validity.checks if check.state == "failed" and not is_early(check, view)}


def _shortcoming(view: RunView, manifest: Manifest, validity: Validity) -> TargetCause:
    """What lies with the generator, the requests without a response, or the load; nothing of a healthy target."""
    failed = _failed(view, validity)
    if failed & TIMES:
        return CheckedTarget("times")
    if (link := filled_link(view, manifest)) is not None:
        return link
    if (unanswered := _unanswered(view, manifest)) is not None:
        return unanswered
    if failed & OF_ARRIVALS:
        return CheckedTarget("late")
    if manifest.is_open and (backlog := _backlog(view)):
        return OverloadedTarget(*backlog)
    return CheckedTarget(("record" if OF_RECORD.issuperset(failed) else "load") if failed else None)


def _backlog(view: RunView) -> tuple[float, float] | None:
    """As `growth_in` says. It needs numpy, which takes a tenth of a second to load: only if the backlog has grown."""
    state = view.generator
    flying, waiting = state.in_flight_by_second(), state.waiting_by_second()
    known = [flying[second] + waiting.get(second, 0) for second in view.whole_seconds if second in flying]
    if len(known) < 2 or max(known) <= 2 * known[0]:
        return None
    from plimsoll.stats.capacity.backlog import growth_in

    return growth_in(view)


def _silence(view: RunView) -> SilentTarget | None:
    if view.length is not None or not view.generator.in_flight:
        return None
    seconds = view.whole_seconds
    silent = 0
    for second in reversed(seconds):
        if second < len(view.total.requests_by_second) and view.total.requests_by_second[second]:
            break
        silent += 1
    usual = view.total.response.quantile(0.99)
    if silent < SILENCE or silent < SILENCES * (usual.value if usual else 0.0) / 1000:
        return None
    return SilentTarget(silent, view.generator.in_flight, bool(view.total.requests))


def _nothing(view: RunView) -> NoRequests | None:
    if view.total.requests:
        return None
    is_over = view.length is not None
    return NoRequests(view.warmup if view.last_second < view.warmup else 0, view.total.unanswered if is_over else 0)


def _users_fault(view: RunView, failing: FailingRequests | None) -> RaisingCode | None:
    """A few exceptions are said after failed requests."""
    found = raising(view)
    return found if found is not None and (found.is_frequent or failing is None) else None


def _broken(thresholds: Sequence[ThresholdResult]) -> BrokenThresholds | None:
    broken = tuple(result for result in thresholds if not result.passed and not result.within_share)
    return BrokenThresholds(broken, len(thresholds)) if broken else None


def _failing(view: RunView) -> FailingRequests | None:
    failures, requests = view.total.failures, view.total.requests
    if not failures:
        return None
    counted = view.counted_failures
    endpoints = {(failure.method, failure.name) for failure in counted}
    recent = view.whole_seconds[-RECENT:]
    lately, ended = view.total.failed_within(recent), view.total.completed_within(recent)
    is_sound = view.length is None and not lately and len(recent) > 1 and ended
    return FailingRequests(
        failures,
        requests,
        _kinds(view, counted),
        endpoints.pop() if len(endpoints) == 1 else None,
        is_certain=_wilson_low(failures, requests) > TOLERANCE,
        sound=(ended, len(recent)) if is_sound else None,
    )


def _kinds(view: RunView, failures: Sequence[Failure]) -> tuple[tuple[str | int, int], ...]:
    counts = {interval.outcome: interval.count for interval in view.total.failed_outcomes}
    messages = Counter[str]()
    kinds = Counter[str | int]()
    for failure in failures:
        kind = status_of(failure.outcome, failure.message) or ("unsent" if _UNSENT.match(failure.message) else None)
        if kind is not None and failure.outcome in counts:
            kinds[kind] += failure.count
            messages[failure.outcome] += failure.count
    for outcome, many in counts.items():
        if many > messages[outcome]:
            kinds[outcome] += many - messages[outcome]
    return tuple(kinds.most_common())


def _slower(view: RunView, current: Latency | None) -> SlowerTarget | None:
    before = view.total.response_of(view.timed)
    if current is None or min(current.count, before.count) < LEAST:
        return None
    now, usual = current.quantile(0.5), before.quantile(0.5)
    if now is None or usual is None or now.value < SLOWER * usual.value:
        return None
    return SlowerTarget(now, usual)


def _stall(view: RunView, manifest: Manifest) -> Omission | None:
    hidden = omission(view, manifest)
    return hidden if hidden is not None and hidden.is_significant else None


def _unanswered(view: RunView, manifest: Manifest) -> UnansweredRequests | None:
    """What is to be said of the requests without a response at the end of a run."""
    times, waits = view.total.response_of(view.timed), view.total.outcomes.get(UNANSWERED)
    if view.length is None or waits is None or not waits.timed:
        return None
    long = waits.response.counts_above([round(LEAST_S * 1e6)])[0]
    tail = times.quantile(0.99)
    is_hidden = tail is not None and tail.at_least and not times.censored and long
    offered = view.total.completed + view.total.unanswered
    if not is_hidden and long < WAITED * offered:
        return None
    most = max(view.endpoints, key=lambda endpoint: endpoint.unanswered)
    users = manifest.users if manifest.model == "closed" else None
    return UnansweredRequests(
        waits.count,
        users or offered,
        of_users=bool(users),
        endpoint=(most.method, most.name) if most.unanswered == view.total.unanswered else None,
    )


def _wilson_low(k: int, n: int) -> float:
    """Without a library that takes a second to load during a run."""
    share, square = k / n, _Z * _Z
    middle = share + square / (2 * n)
    return (middle - _Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n))) / (1 + square / n)
