"""What limits the throughput now: the users' own pace, the target, the number of users, or the generator.

Little's law (J. D. C. Little, Operations Research 9, 1961) needs only counts: with L requests in flight and X answered
per second, one takes L / X; of N users of the closed model, N − L are between two requests, for (N − L) / X each. All
of it over the last ten whole seconds; requests in flight are counted at the end of each.

1. Unknown, if more than half of the requests fail: waiting for failures is not waiting for work.
2. The network interface of the load generator, if it is full: `stats.headline.link`.
3. The generator, if its CPU is over its limit and it is late because of that, or it stood still or sent seconds late;
   and in the closed model, if more than half of the time from one request of a user to its next, N / X, is the
   generator's own: its lag and its delay.
4. Closed model: the target, if users spend at least `BUSY` of their time waiting for it, the bound of the rule SERIAL
   of the findings; the users, if they spend more than half of it elsewhere; else both.
5. Open model: if arrivals wait and do not become fewer, or some were dropped: max_users, if all of them are busy, as N
   users carry no more than N per time that an iteration takes; else the target. If nothing waits, nothing limits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.stats.headline.causes import RECENT
from plimsoll.stats.headline.generator import is_early
from plimsoll.stats.headline.link import FilledLink, filled_link
from plimsoll.stats.little import BUSY
from plimsoll.stats.validity import LEAST_FOR_P99
from plimsoll.stats.validity.lateness import is_costly

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.headline.waiting import SlowEndpoint
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.validity import Validity, ValidityCheck
    from plimsoll.stats.view import RunView

EARLY = 3
"""Whole seconds needed for a statement."""
THINKING = 0.5
"""Maximum share of users' time in requests at which the users are the limit."""
ALL = 0.98
"""Of max_users in a request: at each count, a few are always between requests."""
WAITING = 0.01
"""Waiting arrivals, as a share of those of a second: fewer are a brief fluctuation."""
OWN = 0.5
"""Share of the time from one request of a user to its next that may be the generator's."""
FAILING = 0.5
"""Share of the requests that may fail."""


@dataclass(frozen=True, slots=True)
class RecentLoad:
    """Means over the last seconds."""

    users: float
    in_flight: float
    rate: float
    """Requests answered per second."""

    @property
    def took(self) -> float:
        """ms of a request: L / X."""
        return 1000 * self.in_flight / self.rate

    @property
    def pause(self) -> float:
        """ms between two requests of a user of the closed model: (N − L) / X."""
        return 1000 * max(0.0, self.users - self.in_flight) / self.rate


@dataclass(frozen=True, slots=True)
class RecentArrivals:
    """Of the open model, over the last seconds."""

    rate: float
    """Offered per second."""
    seconds: int
    """Between `first` and `last`."""
    first: int
    """Waiting at the start, …"""
    last: int
    """… and at the end."""
    dropped: int
    """In the whole run."""
    taken: float
    """Accepted by a user per second. Drops are known only for the whole run, so their share comes from that."""

    @property
    def are_waiting(self) -> bool:
        return self.last > WAITING * self.rate

    @property
    def are_held_up(self) -> bool:
        return bool(self.dropped) or self.last > max(WAITING * self.rate, self.first - 1)


@dataclass(frozen=True, slots=True)
class UnknownBottleneck:
    """Too early: too few whole seconds count, or the last ones have nothing to judge by."""

    reason: Literal["seconds", "answers", "users", "arrivals"]
    """What is missing."""
    seconds: int
    load: RecentLoad | None = None


@dataclass(frozen=True, slots=True)
class FailingLoad:
    """Most of the requests fail, so waiting for them says nothing."""

    share: float
    seconds: int


@dataclass(frozen=True, slots=True)
class FaultyGenerator:
    """The generator sends less than it should, by this check."""

    check: ValidityCheck


@dataclass(frozen=True, slots=True)
class SlowGenerator:
    """Users of the closed model spend most of their time waiting for the generator. All in ms."""

    cycle: float
    """From one request of a user to its next."""
    lag: float
    delay: float


@dataclass(frozen=True, slots=True)
class ClosedBottleneck:
    limit: Literal["target", "users", "both"]
    load: RecentLoad
    median: Milliseconds | None
    """Service time."""
    slow: SlowEndpoint | None


@dataclass(frozen=True, slots=True)
class OpenBottleneck:
    limit: Literal["target", "max_users", "nothing"]
    load: RecentLoad
    arrivals: RecentArrivals
    max_users: int | None


Bottleneck = (
    UnknownBottleneck | FailingLoad | FilledLink | FaultyGenerator | SlowGenerator | ClosedBottleneck | OpenBottleneck
)


def bottleneck(view: RunView, manifest: Manifest, validity: Validity, slow: SlowEndpoint | None) -> Bottleneck:
    """slow: the endpoint that users mostly wait for, if there is one."""
    seconds = _loaded(view, manifest)
    if len(seconds) < EARLY:
        return UnknownBottleneck("seconds", len(seconds))
    failed, ended = view.total.failed_within(seconds), view.total.completed_within(seconds)
    if failed > FAILING * ended:
        return FailingLoad(failed / ended, len(seconds))
    if (link := filled_link(view, manifest)) is not None:
        return link
    if (fault := _fault(view, manifest, validity)) is not None:
        return fault
    load = _load(view, seconds)
    if load is None:
        return UnknownBottleneck("answers", len(seconds))
    return _open(view, manifest, load, seconds) if manifest.is_open else _closed(view, load, seconds, slow)


def _loaded(view: RunView, manifest: Manifest) -> range:
    """The last whole seconds with load: at its end a run only waits for exchanges in progress."""
    seconds, state = view.whole_seconds, view.generator
    stop = seconds.stop
    while stop > seconds.start:
        last = range(max(seconds.start, stop - RECENT), stop)
        load = state.offered_by_second(last) if manifest.is_open else state.users_by_second(last)
        loaded = [second for second in last if load.get(second)]
        if loaded:
            return range(seconds.start, loaded[-1] + 1)[-RECENT:]
        stop = last.start
    return seconds[-RECENT:]


def _fault(view: RunView, manifest: Manifest, validity: Validity) -> FaultyGenerator | None:
    states = {"cpu": ("failed", "remark"), "lag": ("failed",), "silence": ("failed",)}
    for check in validity.checks:
        if check.name == "cpu" and check.state == "remark" and not is_costly(view, manifest):
            # It is full, and keeps up: what is waited for is not the generator.
            continue
        if check.state in states.get(check.name, ()) and not is_early(check, view):
            return FaultyGenerator(check)
    return None


def _own(view: RunView, load: RecentLoad) -> SlowGenerator | None:
    state = view.generator
    found = SlowGenerator(1000 * load.users / load.rate, state.lag.mean / 1000, state.delay.mean / 1000)
    is_own = state.lag.count >= LEAST_FOR_P99 and found.lag + found.delay > OWN * found.cycle
    return found if is_own else None


def _load(view: RunView, seconds: range) -> RecentLoad | None:
    users, in_flight = view.generator.users_by_second(seconds), view.generator.in_flight_by_second(seconds)
    reported = [second for second in seconds if second in users]
    rate = view.total.completed_within(seconds) / len(seconds)
    if not reported or not rate:
        return None
    return RecentLoad(
        sum(users[second] for second in reported) / len(reported),
        sum(in_flight[second] for second in reported) / len(reported),
        rate,
    )


def _closed(view: RunView, load: RecentLoad, seconds: range, slow: SlowEndpoint | None) -> Bottleneck:
    if (own := _own(view, load)) is not None:
        return own
    if load.users <= 0:
        return UnknownBottleneck("users", len(seconds))
    share = load.in_flight / load.users
    limit: Literal["target", "users", "both"] = "target" if share >= BUSY else "users" if share <= THINKING else "both"
    return ClosedBottleneck(limit, load, view.total.service.median, slow)


def _arrivals(view: RunView, seconds: range) -> RecentArrivals:
    offered, waiting = view.generator.offered_by_second(seconds), view.generator.waiting_by_second(seconds)
    rate = sum(offered.get(second, 0) for second in seconds) / len(seconds)
    first, last, passed = waiting.get(seconds[0], 0), waiting.get(seconds[-1], 0), len(seconds) - 1
    dropped = max(view.generator.dropped, view.total.dropped)
    kept = 1 - dropped / view.generator.offered if view.generator.offered else 1.0
    return RecentArrivals(rate, passed, first, last, dropped, max(0.0, rate * kept - (last - first) / passed))


def _open(view: RunView, manifest: Manifest, load: RecentLoad, seconds: range) -> Bottleneck:
    arrivals, most = _arrivals(view, seconds), manifest.max_users
    if not arrivals.rate:
        return UnknownBottleneck("arrivals", len(seconds), load)
    if not arrivals.are_held_up:
        return OpenBottleneck("nothing", load, arrivals, most)
    return OpenBottleneck("max_users" if most and load.in_flight >= ALL * most else "target", load, arrivals, most)
