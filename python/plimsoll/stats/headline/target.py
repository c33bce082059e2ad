"""Is the target healthy? Only thresholds set limits; without them the observations are reported.

The first of these that applies:

1. Nothing ended yet: unknown.
2. Silence: requests are in flight, and no reply came for at least `SILENCE` s and `SILENCES` times the p99 of the
   response times so far. Or no request reaches the target, or user code fails: `stats.headline.causes`.
3. A threshold does not hold so far.
4. Requests fail. Bad when more than `TOLERANCE` of them certainly do (the lower end of Wilson's 95 % interval of the
   share, JASA 22, 1927), which is the onset of the rule ERR of the findings; else a warning.
5. One endpoint is slow, and users wait mostly for it: `stats.headline.waiting`.
6. It has become slower: the p50 of the last seconds is at least `SLOWER` times that of the whole run, both of at least
   `LEAST` requests. The 95 % interval of the median of 100 lognormal times reaches from 0.78 to 1.28 of it with σ = 1
   (ranks 40 and 61): a factor of two is no chance.
7. It stalled, and the closed model hid the stall: `stats.omission`.
8. In doubt: a check of the generator failed that the times depend on (`TIMES`).
9. Requests had no response at the end, so many or for so long that p99 is not known, or that at least `WAITED` of all
   had waited for `LEAST_S` seconds.
10. Open model: not all offered arrivals started in time, so it does not keep up, or has too few users; or its backlog
   grows (`stats.capacity.backlog`).
11. In doubt: another check failed, so there was less load, or less of it is known.
12. Healthy if thresholds say so, else nothing conspicuous: p99 (the slowest, of fewer than `LEAST` requests) and how
    many requests did not fail.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.record import UNANSWERED
from plimsoll.stats.headline.causes import raising, unreachable
from plimsoll.stats.headline.generator import is_early
from plimsoll.stats.headline.judgement import JudgementTone, RunJudgement, answered, recent_seconds, whole_seconds
from plimsoll.stats.headline.waiting import slow_endpoint
from plimsoll.stats.latency.omission import omission
from plimsoll.stats.latency.patience import LEAST_S
from plimsoll.stats.study import TOLERANCE
from plimsoll.stats.trial import status_of
from plimsoll.stats.validity import LEAST_FOR_P99 as LEAST
from plimsoll.stats.validity import OF_RECORD
from plimsoll.stats.wording import count, ms, number, percent, several, whole_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.record import Failure
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.headline.waiting import SlowEndpoint
    from plimsoll.stats.latency.milliseconds import Latency, Milliseconds
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.validity import Validity
    from plimsoll.stats.view import RunView

SILENCE = 3
SILENCES = 2.0
SLOWER = 2.0
WAITED = 0.1
TIMES = frozenset({"cpu", "clock", "exhausted", "percentiles", "little"})
NO_LIMIT = "No limit was set: with --threshold 'p99 < 500ms' the exit code says whether it is fast enough."
_Z = 1.96
"""Of 95 %."""
_CALLED = {
    "connect": "refused or failed connections",
    "dns": "unknown hosts",
    "tls": "failed TLS handshakes",
    "timeout": "timeouts",
    "reset": "broken connections",
    "protocol": "malformed replies",
    "assertion": "failed assertions",
    "http": "HTTP errors",
    "unanswered": "requests without a response",
}


def target(
    view: RunView,
    manifest: Manifest,
    thresholds: Sequence[ThresholdResult],
    current: Latency | None,
    validity: Validity,
) -> RunJudgement:
    total = view.total
    nothing = _silence(view) or unreachable(view, manifest)
    if nothing is not None:
        return nothing
    if not total.requests:
        text = "No request has ended yet."
        if view.last_second < view.warmup:
            text = f"What counts begins at second {view.warmup}."
        elif view.length is not None and total.unanswered:
            text = f"No response came; {count(total.unanswered, 'request')} were still out when the run ended."
        return RunJudgement("unknown", "Too early to tell", text)
    failing, faults = _failing(view), raising(view)
    if faults is not None and (faults.tone == "bad" or failing is None):
        more = (failing.text, *failing.more) if failing is not None else (_seen(view),)
        return replace(faults, more=(*faults.more, *more))
    broken = [each for each in thresholds if not each.passed and not each.within_share]
    if broken:
        return _broken(view, thresholds, broken, failing)
    more = _about(view, thresholds)
    slow = slow_endpoint(view)
    if failing is not None:
        seen = () if slow is None else (f"{slow.label} is slow. {_why_slow(slow)}",)
        return replace(failing, more=(*failing.more, *seen, *more))
    if slow is not None:
        return RunJudgement("warning", f"{slow.label} is slow", _why_slow(slow), (_seen(view), *more), _tail(view))
    slower = _slower(view, current)
    if slower:
        return RunJudgement("warning", "Slower than before", slower, (_seen(view), *more), _tail(view))
    hidden = omission(view, manifest)
    if hidden is not None and hidden.warning:
        first, *rest = hidden.warning.splitlines()
        return RunJudgement(
            "warning", "Stalls", _sentence(first), (*map(_sentence, rest), _seen(view), *more), _tail(view)
        )
    failed = {each.name: each for each in validity.checks if each.state == "failed" and not is_early(each, view)}
    if failed.keys() & TIMES:
        text = f"{_seen(view)[:-1]}; but the generator was full or short of something, so these times are in doubt."
        return RunJudgement("unknown", "In doubt", text, more, _tail(view))
    if waited := _waited(view, manifest):
        return RunJudgement("warning", "Does not answer everything", waited, (_seen(view), *more), _tail(view))
    if "offered" in failed or "dropped" in failed:
        text = f"{_seen(view)[:-1]}; but not all that was offered was begun in time."
        return RunJudgement("warning", "Does not keep up", text, more, _tail(view))
    if manifest.is_open and (backlog := _backlog(view)):
        growth, rate = backlog
        text = (
            f"{number(rate)} arrivals/s are more than it serves: the backlog grows by {number(growth)} requests/s, so "
            f"these times only show how long the run {'is' if view.length is None else 'was'}."
        )
        return RunJudgement("warning", "Overloaded", text, (_seen(view), *more), _tail(view))
    if failed:
        what = "the record of the run is not whole" if OF_RECORD.issuperset(failed) else "the load was not all there"
        return RunJudgement("unknown", "In doubt", f"{_seen(view)[:-1]}; but {what}.", more, _tail(view))
    if thresholds:
        return RunJudgement("good", "Healthy", _seen(view), more, _tail(view))
    return RunJudgement("good", "Nothing conspicuous", _seen(view), (*more, NO_LIMIT), _tail(view))


def slowness(view: RunView) -> str:
    """A sentence about the endpoint that is much slower than the others; "" without one."""
    slow = slow_endpoint(view)
    return "" if slow is None else f"{slow.label} is slow. {_why_slow(slow)}"


def _why_slow(slow: SlowEndpoint) -> str:
    half = _shown(slow.median._replace(at_least=False))
    return (
        f"Half of its requests take at least {half}; half of those of {slow.next_slowest}, the next slowest, take at "
        f"most {_shown(slow.next_median)}. It is {whole_percent(slow.of_requests)} of the requests and "
        f"{whole_percent(slow.of_waiting)} of the waiting."
    )


def _backlog(view: RunView) -> tuple[float, float] | None:
    """As `growth_in` says. It needs numpy, which takes a tenth of a second to load: only if the backlog has grown."""
    state = view.generator
    flying, waiting = state.in_flight_by_second(), state.waiting_by_second()
    known = [flying[second] + waiting.get(second, 0) for second in whole_seconds(view) if second in flying]
    if len(known) < 2 or max(known) <= 2 * known[0]:
        return None
    from plimsoll.stats.capacity.backlog import growth_in

    return growth_in(view)


def _silence(view: RunView) -> RunJudgement | None:
    if view.length is not None or not view.generator.in_flight:
        return None
    seconds = whole_seconds(view)
    silent = 0
    for second in reversed(seconds):
        if second < len(view.total.requests_by_second) and view.total.requests_by_second[second]:
            break
        silent += 1
    usual = view.total.response.quantile(0.99)
    if silent < SILENCE or silent < SILENCES * (usual.value if usual else 0.0) / 1000:
        return None
    waiting = count(view.generator.in_flight, "request")
    if not view.total.requests:
        text = f"Nothing was answered in {silent} s; {waiting} in flight."
        return RunJudgement("warning", "No answer yet", text, figure=f"for {silent} s")
    text = f"Nothing was answered for {silent} s; {waiting} in flight."
    return RunJudgement("bad", "No answer", text, (_seen(view),), f"for {silent} s")


def _broken(
    view: RunView,
    thresholds: Sequence[ThresholdResult],
    broken: Sequence[ThresholdResult],
    failing: RunJudgement | None,
) -> RunJudgement:
    so_far = " so far" if view.length is None else ""
    which = several([f"{each.text} ({each.detail})" for each in broken[:3]])
    verb = "does" if len(broken) == 1 else "do"
    text = f"{len(broken)} of {count(len(thresholds), 'threshold')} {verb} not hold{so_far}: {which}."
    more = (failing.text, *failing.more) if failing is not None else ()
    return RunJudgement(
        "bad", "Fails its thresholds", text, (*more, _seen(view)), f"{len(broken)} of {len(thresholds)}"
    )


def _failing(view: RunView) -> RunJudgement | None:
    failures, requests = view.total.failures, view.total.requests
    if not failures:
        return None
    is_certain = _wilson_low(failures, requests) > TOLERANCE
    counted = view.counted_failures
    (kind, most), *others = _kinds(view, counted)
    of = "" if most == failures else f"{number(most)} × "
    where = _where(counted)
    text = (
        f"{number(failures)} of {count(requests, 'request')} failed ({percent(failures / requests)}), "
        f"{'all' if most == failures else 'most often'} {of}{kind}{where}."
    )
    more = [f"{name}: {number(each)}" for name, each in others[:4]]
    recent = recent_seconds(view)
    lately = sum(view.total.failures_by_second[recent.start : recent.stop])
    if view.length is None and not lately and len(recent) > 1 and answered(view, recent):
        more.append(f"None of the {number(answered(view, recent))} requests of the last {len(recent)} s failed.")
    tone: JudgementTone = "bad" if is_certain else "warning"
    return RunJudgement(tone, "Requests fail", text, tuple(more), percent(failures / requests))


def _kinds(view: RunView, failures: Iterable[Failure]) -> list[tuple[str, int]]:
    """The failures, the most frequent first: by status if messages have one, else by outcome."""
    counts = {each.outcome: each.count for each in view.total.failed_outcomes}
    messages = Counter[str]()
    kinds = Counter[str]()
    for failure in failures:
        status = status_of(failure.outcome, failure.message)
        if status is not None and failure.outcome in counts:
            kinds[f"HTTP {status}"] += failure.count
            messages[failure.outcome] += failure.count
    for outcome, many in counts.items():
        if many > messages[outcome]:
            kinds[_CALLED.get(outcome, outcome)] += many - messages[outcome]
    return kinds.most_common()


def _where(failures: Iterable[Failure]) -> str:
    """The endpoint, if all known failures are of one."""
    endpoints = {(each.method, each.name) for each in failures}
    if len(endpoints) != 1:
        return ""
    method, name = endpoints.pop()
    return f" at {method} {name}".rstrip()


def _slower(view: RunView, current: Latency | None) -> str | None:
    before = view.total.response_of(view.timed)
    if current is None or min(current.count, before.count) < LEAST:
        return None
    now, usual = current.quantile(0.5), before.quantile(0.5)
    if now is None or usual is None or now.value < SLOWER * usual.value:
        return None
    return (
        f"p50 of the last seconds is {_shown(now)}, {now.value / usual.value:.2g} times the {_shown(usual)} of the run."
    )


def _tail(view: RunView) -> str:
    """The p99; the slowest of few; "" if nothing was timed."""
    times = view.total.response_of(view.timed)
    if times.count + times.waited >= LEAST:
        tail = times.quantile(0.99)
        return f"p99 {_shown(tail)}" if tail else ""
    longest = times.max
    return f"the slowest took {_shown(longest)}" if longest else ""


def _waited(view: RunView, manifest: Manifest) -> str | None:
    """What is to be said of the requests without a response at the end of a run."""
    times, waits = view.total.response_of(view.timed), view.total.outcomes.get(UNANSWERED)
    if view.length is None or waits is None or not waits.timed:
        return None
    long = waits.response.counts_above([round(LEAST_S * 1e6)])[0]
    tail = times.quantile(0.99)
    is_hidden = tail is not None and tail.at_least and not times.censored and long
    if not is_hidden and long < WAITED * (view.total.completed + view.total.unanswered):
        return None
    most = max(view.endpoints, key=lambda each: each.unanswered)
    where = f" for {most.method} {most.name}" if most.unanswered == view.total.unanswered else ""
    users = manifest.users if manifest.model == "closed" else None
    if users:
        return f"{number(waits.count)} of {count(users, 'user')} still waited{where} when the run ended."
    offered = count(view.total.completed + view.total.unanswered, "request")
    return f"{number(waits.count)} of {offered} had no response{where} when the run ended."


def _seen(view: RunView) -> str:
    times, requests = _tail(view) or "nothing was timed", view.total.requests
    failures = view.total.failures
    failed = f"no failures in {count(requests, 'request')}" if not failures else ""
    return _sentence(", ".join(part for part in (times, failed) if part))


def _about(view: RunView, thresholds: Sequence[ThresholdResult]) -> tuple[str, ...]:
    lines = []
    so_far = " so far" if view.length is None else ""
    if held := sum(each.passed for each in thresholds):
        lines.append(f"{count(held, 'threshold')} {'holds' if held == 1 else 'hold'}{so_far}.")
    if unclear := [each for each in thresholds if each.within_share]:
        is_one = len(unclear) == 1
        which = several([f"{each.text} ({each.detail})" for each in unclear[:3]])
        lines.append(
            f"{count(len(unclear), 'threshold')} {'is' if is_one else 'are'} not shown to hold{so_far}, because of the "
            f"generator's share: {which}."
        )
    median = view.total.response_of(view.timed).quantile(0.5)
    if median is not None and view.duration:
        lines.append(f"p50 {_shown(median)}, {number(view.rate(view.total))} requests/s.")
    censored = view.total.response.censored
    if censored:
        lines.append(f"{count(censored, 'timeout')}: times with ≥ are at least so long.")
    return tuple(lines)


def _shown(time: Milliseconds) -> str:
    share = "" if time.is_clean else f" (up to {ms(time.share)} of it is the generator's)"
    return f"{'≥' if time.at_least else ''}{ms(time.value)}{share}"


def _sentence(text: str) -> str:
    """Keeps the spelling of p99."""
    begin = text[:1] if re.match(r"p\d", text) else text[:1].upper()
    return f"{begin}{text[1:]}."


def _wilson_low(k: int, n: int) -> float:
    """Without a library that takes a second to load during a run."""
    share, square = k / n, _Z * _Z
    middle = share + square / (2 * n)
    return (middle - _Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n))) / (1 + square / n)
