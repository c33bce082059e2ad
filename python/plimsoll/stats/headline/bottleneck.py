"""What limits the throughput now: the users' own pace, the target, the number of users, or the generator.

Little's law (J. D. C. Little, Operations Research 9, 1961) needs only counts: with L requests in flight and X answered
per second, one takes L / X; of N users of the closed model, N − L are between two requests, for (N − L) / X each. All
of it over the last ten whole seconds; requests in flight are counted at the end of each.

1. Unknown, if more than half of the requests fail: waiting for failures is not waiting for work.
2. The generator, if its CPU is over its limit and it is late because of that, or it stood still or sent seconds late;
   and in the closed model, if more than half of the time from one request of a user to its next, N / X, is the
   generator's own: its lag and its delay.
3. Closed model: the target, if users spend at least `BUSY` of their time waiting for it, the bound of the rule SERIAL
   of the findings; the users, if they spend more than half of it elsewhere; else both.
4. Open model: if arrivals wait and do not become fewer, or some were dropped: max_users, if all of them are busy, as N
   users carry no more than N per time that an iteration takes; else the target. If nothing waits, nothing limits it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plimsoll.stats.headline.generator import is_early
from plimsoll.stats.headline.judgement import RECENT, RunJudgement, answered, whole_seconds
from plimsoll.stats.headline.waiting import slow_endpoint
from plimsoll.stats.little import BUSY
from plimsoll.stats.validity import LEAST_FOR_P99
from plimsoll.stats.validity.lateness import is_costly
from plimsoll.stats.wording import count, ms, number, whole_percent

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.validity import Validity
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
TOO_EARLY = "Too early to tell"


class _Now(NamedTuple):
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


def bottleneck(view: RunView, manifest: Manifest, validity: Validity) -> RunJudgement:
    seconds = _loaded(view, manifest)
    if len(seconds) < EARLY:
        counts = "counts" if len(seconds) == 1 else "count"
        text = f"{count(len(seconds), 'whole second')} that {counts} so far; {EARLY} are needed."
        return RunJudgement("unknown", TOO_EARLY, text)
    failed = sum(view.total.failures_by_second[seconds.start : seconds.stop])
    ended = answered(view, seconds)
    if failed > FAILING * ended:
        text = f"{whole_percent(failed / ended)} of the requests of the last {len(seconds)} s failed."
        return RunJudgement("unknown", "Unknown", text)
    is_open = manifest.is_open
    now = _now(view, seconds)
    own = _falls_short(view, manifest, validity) or ("" if is_open or now is None else _own(view, now))
    if own:
        return RunJudgement("bad", "The generator", own, ("What the target could do is unknown.",))
    if now is None:
        return RunJudgement("unknown", TOO_EARLY, "Nothing was answered in the last seconds.")
    return _open(view, manifest, now, seconds) if is_open else _closed(view, now)


def _loaded(view: RunView, manifest: Manifest) -> range:
    """The last whole seconds with load: at its end a run only waits for exchanges in progress."""
    seconds, state = whole_seconds(view), view.generator
    stop = seconds.stop
    while stop > seconds.start:
        last = range(max(seconds.start, stop - RECENT), stop)
        load = state.offered_by_second(last) if manifest.is_open else state.users_by_second(last)
        loaded = [second for second in last if load.get(second)]
        if loaded:
            return range(seconds.start, loaded[-1] + 1)[-RECENT:]
        stop = last.start
    return seconds[-RECENT:]


def _falls_short(view: RunView, manifest: Manifest, validity: Validity) -> str:
    """Why the generator sends less than it should; "" if it does not."""
    states = {"cpu": ("failed", "remark"), "lag": ("failed",), "silence": ("failed",)}
    for check in validity.checks:
        if check.name == "cpu" and check.state == "remark" and not is_costly(view, manifest):
            # It is full, and keeps up: what is waited for is not the generator.
            continue
        if check.state in states.get(check.name, ()) and not is_early(check, view):
            return f"{check.text[:1].upper()}{check.text[1:].removesuffix('.')}."
    return ""


def _own(view: RunView, now: _Now) -> str:
    """Whether users of the closed model spend most of their time waiting for the generator; "" if not."""
    state = view.generator
    cycle = 1000 * now.users / now.rate
    late = (state.lag.mean + state.delay.mean) / 1000
    if state.lag.count < LEAST_FOR_P99 or late <= OWN * cycle:
        return ""
    return (
        f"Of the {ms(cycle)} from one request of a user to its next, {ms(late)} are the generator's own "
        f"(lag {ms(state.lag.mean / 1000)}, delay {ms(state.delay.mean / 1000)})."
    )


def _now(view: RunView, seconds: range) -> _Now | None:
    users, in_flight = view.generator.users_by_second(seconds), view.generator.in_flight_by_second(seconds)
    reported = [second for second in seconds if second in users]
    rate = answered(view, seconds) / len(seconds)
    if not reported or not rate:
        return None
    return _Now(
        sum(users[second] for second in reported) / len(reported),
        sum(in_flight[second] for second in reported) / len(reported),
        rate,
    )


def _closed(view: RunView, now: _Now) -> RunJudgement:
    if now.users <= 0:
        return RunJudgement("unknown", TOO_EARLY, "There are no users.")
    share = min(1.0, now.in_flight / now.users)
    waiting, users = _of(now.in_flight, now.users), number(round(now.users))
    figures = (
        f"{number(now.rate)} requests/s; by Little's law a request takes {ms(now.took)}, and there are "
        f"{ms(now.pause)} between two of a user."
    )
    if share >= BUSY:
        text = f"{waiting} of {users} users wait for it at any moment; it answers {number(now.rate)} requests/s."
        hypothesis = "Only more users tell whether it could do more; if they only wait longer, it could not."
        return RunJudgement("warning", "The target", text, (figures, hypothesis), _rate(now))
    if share <= THINKING:
        median = view.total.service.median
        answers = f"; the target answers in {ms(median.value)} (p50)" if median is not None else ""
        idle = _of(now.users - now.in_flight, now.users)
        if (slow := slow_endpoint(view)) is not None:
            return RunJudgement(
                "warning",
                slow.label,
                f"{idle} of {users} users pause at any moment; when they wait, it is mostly for this endpoint.",
                (figures,),
                f"{whole_percent(slow.of_waiting)} of the waiting",
            )
        text = f"{idle} of {users} are thinking, or busy with their own code, at any moment{answers}."
        return RunJudgement(
            "good",
            "None: users mostly pause",
            text,
            (figures, "More users, or shorter waits, would ask more of it."),
            _rate(now),
        )
    text = f"{waiting} of {users} users wait for the target at any moment, the others think."
    return RunJudgement("good", "Users and target", text, (figures,), _rate(now))


class _Arrivals(NamedTuple):
    """Of the open model, over the last seconds."""

    rate: float
    """Offered per second."""
    first: int
    """Waiting at the start, …"""
    last: int
    """… and at the end."""
    dropped: int
    """In the whole run."""
    taken: float
    """Accepted by a user per second. Drops are known only for the whole run, so their share comes from that."""

    @property
    def are_held_up(self) -> bool:
        return bool(self.dropped) or self.last > max(WAITING * self.rate, self.first - 1)


def _arrivals(view: RunView, seconds: range) -> _Arrivals:
    offered, waiting = view.generator.offered_by_second(seconds), view.generator.waiting_by_second(seconds)
    rate = sum(offered.get(second, 0) for second in seconds) / len(seconds)
    first, last = waiting.get(seconds[0], 0), waiting.get(seconds[-1], 0)
    dropped = max(view.generator.dropped, view.total.dropped)
    kept = 1 - dropped / view.generator.offered if view.generator.offered else 1.0
    return _Arrivals(rate, first, last, dropped, max(0.0, rate * kept - (last - first) / (len(seconds) - 1)))


def _open(view: RunView, manifest: Manifest, now: _Now, seconds: range) -> RunJudgement:
    arrivals = _arrivals(view, seconds)
    figures = (
        f"{number(now.rate)} requests/s answered, {number(now.in_flight)} in flight: by Little's law a request takes "
        f"{ms(now.took)}."
    )
    if not arrivals.rate:
        return RunJudgement("unknown", TOO_EARLY, "No arrival was due in the last seconds.", (figures,))
    if not arrivals.are_held_up:
        text = (
            f"The target takes all that is offered: {number(arrivals.rate)} arrivals/s, {number(now.in_flight)} "
            "requests in flight."
        )
        left = (
            f"{number(arrivals.last)} that waited are being worked off."
            if arrivals.last > WAITING * arrivals.rate
            else ""
        )
        return RunJudgement("good", "Nothing", text, tuple(part for part in (figures, left) if part), _rate(now))
    taken = f"{number(arrivals.taken)} of {number(arrivals.rate)} arrivals/s offered are taken up"
    backlog = _backlog(arrivals, len(seconds) - 1)
    most = manifest.max_users
    if most and now.in_flight >= ALL * most:
        text = f"All {number(most)} users that there may be are busy: {taken}; {backlog}."
        hypothesis = "Hypothesis: more users help, unless the target only gets slower then."
        return RunJudgement("warning", "max_users", text, (figures, hypothesis), _rate(now))
    busy = f"{whole_percent(now.in_flight / most)} of max_users wait for it." if most else ""
    text = f"{taken[0].upper()}{taken[1:]}; {backlog}."
    return RunJudgement("warning", "The target", text, tuple(part for part in (figures, busy) if part), _rate(now))


def _rate(now: _Now) -> str:
    return f"{number(now.rate)} requests/s"


def _backlog(arrivals: _Arrivals, seconds: int) -> str:
    parts = []
    if arrivals.last:
        more = arrivals.last - arrivals.first
        since = f", {number(more)} more than {seconds} s ago" if more > 0 else ""
        parts.append(f"{number(arrivals.last)} wait{since}")
    if arrivals.dropped:
        parts.append(f"{number(arrivals.dropped)} were dropped")
    return ", ".join(parts)


def _of(part: float, whole: float) -> str:
    """Rounded like the whole, and never more."""
    return number(min(round(part), round(whole)))
