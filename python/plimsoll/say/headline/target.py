"""What is said of the target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from plimsoll.say.durations import ms
from plimsoll.say.headline.bottleneck import link_text
from plimsoll.say.headline.judgement import TOO_EARLY, JudgementTone, RunJudgement, sentence
from plimsoll.say.names import several
from plimsoll.say.numbers import amount, count, counted, number, percent, short_percent, size, whole_percent, with_share
from plimsoll.say.validity import omission_lines
from plimsoll.stats.headline.causes import RaisingCode, UnreachableTarget
from plimsoll.stats.headline.growing import GrowingTimes
from plimsoll.stats.headline.link import FilledLink
from plimsoll.stats.headline.target import (
    BrokenThresholds,
    CheckedTarget,
    FailingRequests,
    NoRequests,
    OverloadedTarget,
    SilentTarget,
    SlowerTarget,
    UnansweredRequests,
)
from plimsoll.stats.headline.waiting import SlowEndpoint
from plimsoll.stats.latency.omission import Omission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record import CaughtException
    from plimsoll.stats.headline.target import TargetHealth
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.table import Row
    from plimsoll.stats.thresholds.verdict import ThresholdResult

NO_LIMIT = "No limit was set: with --threshold 'p99 < 500ms' the exit code says whether it is fast enough."
LONGEST_REASON = 240
"""Characters."""
MOST = 4
"""Kinds of failures or exceptions below the first."""
MOST_THRESHOLDS = 3
_UNREACHED = {"connect": ("Nothing answers", "no connection"), "tls": ("TLS fails", "no handshake")}
"""What to say, and the reason without a message."""
_FAILURES = {
    "connect": "refused or failed connections",
    "dns": "unknown hosts",
    "tls": "failed TLS handshakes",
    "timeout": "timeouts",
    "reset": "broken connections",
    "protocol": "malformed replies",
    "unsent": "requests that could not be sent",
    "assertion": "failed assertions",
    "http": "HTTP errors",
    "unanswered": "requests without a response",
}
_DOUBTS: dict[str | None, str] = {
    "times": "the generator was full or short of something, so these times are in doubt",
    "record": "the record of the run is not whole",
    "load": "the load was not all there",
}
_QUOTED = re.compile(r"'([^']+)'\)?$")


def target_judgement(health: TargetHealth) -> RunJudgement:
    cause, seen, about, tail = health.cause, _seen(health), _about(health), _tail(health)
    match cause:
        case SilentTarget():
            return _silent(cause, seen)
        case UnreachableTarget():
            return unreachable_judgement(cause)
        case NoRequests():
            return RunJudgement("unknown", TOO_EARLY, _nothing(cause))
        case RaisingCode():
            return _raising(cause, _failures(health.failing) or (seen,))
        case BrokenThresholds():
            return _broken(cause, (*_failures(health.failing), seen), _so_far(health))
        case FailingRequests():
            tone: JudgementTone = "bad" if cause.is_certain else "warning"
            text, *more = _failures(cause)
            figure = percent(cause.failures / cause.requests)
            return RunJudgement(tone, "Requests fail", text, (*more, *times_beside(health), *about), figure)
        case SlowEndpoint():
            beside = (*times_beside(health), seen, *about)
            return RunJudgement("warning", f"{cause.label} is slow", _why_slow(cause), beside, tail)
        case GrowingTimes():
            return RunJudgement("warning", f"{cause.label} got slower", _growth(cause), (seen, *about), tail)
        case SlowerTarget():
            return RunJudgement("warning", "Slower than before", _slower(cause), (seen, *about), tail)
        case Omission():
            text, *more = map(sentence, omission_lines(cause))
            return RunJudgement("warning", "Stalls", text, (*more, seen, *about), tail)
        case FilledLink():
            return RunJudgement("warning", "The network link is full", link_text(cause), (seen, *about), tail)
        case UnansweredRequests():
            return RunJudgement("warning", "Does not answer everything", _unanswered(cause), (seen, *about), tail)
        case OverloadedTarget():
            text = (
                f"{number(cause.rate)} arrivals/s are more than it serves: the backlog grows by "
                f"{number(cause.growth)} requests/s, so these times only show how long the run "
                f"{'was' if health.is_over else 'is'}."
            )
            return RunJudgement("warning", "Overloaded", text, (seen, *about), tail)
        case CheckedTarget(None):
            if health.thresholds:
                return RunJudgement("good", "Healthy", seen, about, tail)
            return RunJudgement("good", "Nothing conspicuous", seen, (*about, NO_LIMIT), tail)
        case CheckedTarget("late"):
            text = f"{seen[:-1]}; but not all that was offered was begun in time."
            return RunJudgement("warning", "Does not keep up", text, about, tail)
        case CheckedTarget():
            return RunJudgement("unknown", "In doubt", f"{seen[:-1]}; but {_DOUBTS[cause.doubt]}.", about, tail)
        case _:
            assert_never(cause)


def unreachable_judgement(cause: UnreachableTarget) -> RunJudgement:
    what, otherwise = _UNREACHED[cause.outcome]
    reason = _reason(cause.message) or otherwise
    where = f" at {cause.host}" if cause.host else ""
    failed = f"{number(cause.failures)} of {counted(cause.requests, 'request')} failed"
    has_more = cause.message and cause.message.lower() != reason.lower()
    return RunJudgement(
        "bad",
        f"{what}{where} ({reason})",
        f"{failed}; the first message: {cause.message.rstrip('.')}." if has_more else f"{failed}.",
        figure=f"{percent(cause.failures / cause.requests)} failed",
    )


def _reason(message: str) -> str:
    """A message as part of a sentence: the quotation at its end, or all of it; "" for a long one."""
    if found := _QUOTED.search(message):
        return found[1].lower()
    if not message or len(message) > LONGEST_REASON:
        return ""
    is_word = message[1:2].islower()
    return message[0].lower() + message[1:] if is_word else message


def slowness(slow: SlowEndpoint) -> str:
    """The endpoint that is much slower than the others, in one text."""
    return f"{slow.label} is slow. {_why_slow(slow)}"


def slow_in_short(slow: SlowEndpoint) -> str:
    """The same in one line of a terminal."""
    return f"{slow.label} is slow: p50 {_shown(slow.median)}, {whole_percent(slow.of_waiting)} of the waiting"


def figures_line(total: Row) -> str:
    """Requests, rate, failures and times of all endpoints: the last line of a run in a terminal."""
    failed = (
        f"{count(total.failures)} failed ({short_percent(total.failures / total.requests)})" if total.failures else ""
    )
    times = [(name, total.response_ms.quantile(q)) for name, q in (("p50", 0.5), ("p99", 0.99))]
    parts = [
        f"{count(total.requests)} request{'' if total.requests == 1 else 's'}",
        f"{amount(total.rps)}/s",
        failed,
        *(f"{name} {with_share(time)}" for name, time in times if time is not None),
    ]
    return " · ".join(filter(None, parts))


def times_beside(health: TargetHealth) -> tuple[str, ...]:
    """What is said of the times of endpoints, of a slow one and of one that got slower, unless it leads."""
    return _times_of(
        None if health.slow is health.cause else health.slow,
        None if health.growing is health.cause else health.growing,
    )


def _times_of(slow: SlowEndpoint | None, growing: GrowingTimes | None) -> tuple[str, ...]:
    texts = (slowness(slow),) if slow is not None else ()
    return texts if growing is None else (*texts, f"{growing.label} got slower during the run. {_growth(growing)}")


def _growth(growing: GrowingTimes) -> str:
    took = f"At first a request took {ms(growing.first_ms)} on average, at the end {ms(growing.last_ms)}"
    if not growing.has_larger_replies:
        return f"{took}, under the same load."
    return f"{took}, while its replies grew from {size(growing.first_bytes)} to {size(growing.last_bytes)}."


def _why_slow(slow: SlowEndpoint) -> str:
    half = _shown(slow.median._replace(at_least=False))
    return (
        f"Half of its requests take at least {half}; half of those of {slow.next_slowest}, the next slowest, take at "
        f"most {_shown(slow.next_median)}. It is {whole_percent(slow.of_requests)} of the requests and "
        f"{whole_percent(slow.of_waiting)} of the waiting."
    )


def _silent(cause: SilentTarget, seen: str) -> RunJudgement:
    waiting, figure = f"{counted(cause.in_flight, 'request')} in flight.", f"for {cause.seconds} s"
    if cause.has_answered:
        text = f"Nothing was answered for {cause.seconds} s; {waiting}"
        return RunJudgement("bad", "No answer", text, (seen,), figure)
    text = f"Nothing was answered in {cause.seconds} s; {waiting}"
    return RunJudgement("warning", "No answer yet", text, figure=figure)


def _nothing(cause: NoRequests) -> str:
    if cause.warmup:
        return f"What counts begins at second {cause.warmup}."
    if cause.unanswered:
        return f"No response came; {counted(cause.unanswered, 'request')} were still out when the run ended."
    return "No request has ended yet."


def _raising(cause: RaisingCode, beside: tuple[str, ...]) -> RunJudgement:
    first, *others = cause.caught
    more = (f"{_named(caught)}: {number(caught.count)} times." for caught in others[:MOST])
    return RunJudgement(
        "bad" if cause.is_frequent else "warning",
        f"Your code raises {_named(first)}",
        "The users' own code ends its tasks with exceptions; the tracebacks are among the exceptions.",
        (*more, *beside),
        figure="once" if cause.times == 1 else f"{number(cause.times)} times",
    )


def _named(caught: CaughtException) -> str:
    """Including its type, as in the last line of its traceback: KeyError: 'price'."""
    lines = caught.traceback.strip().splitlines()
    return lines[-1] if lines else caught.message


def _broken(cause: BrokenThresholds, beside: tuple[str, ...], so_far: str) -> RunJudgement:
    broken = len(cause.results)
    verb = "does" if broken == 1 else "do"
    text = f"{broken} of {counted(cause.of, 'threshold')} {verb} not hold{so_far}: {_details(cause.results)}."
    return RunJudgement("bad", "Fails its thresholds", text, beside, f"{broken} of {cause.of}")


def _details(results: Sequence[ThresholdResult]) -> str:
    return several([f"{result.text} ({result.detail})" for result in results[:MOST_THRESHOLDS]])


def _failures(cause: FailingRequests | None) -> tuple[str, ...]:
    """How many failed, and most often how; then the other kinds; () without failures."""
    if cause is None:
        return ()
    (kind, most), *others = cause.kinds
    often = "all " if most == cause.failures else f"most often {number(most)} × "
    where = f" at {' '.join(filter(None, cause.endpoint))}" if cause.endpoint is not None else ""
    lines = [
        f"{number(cause.failures)} of {counted(cause.requests, 'request')} failed "
        f"({short_percent(cause.failures / cause.requests)}), {often}{_kind(kind)}{where}.",
        *(f"{_kind(kind)}: {number(count)}" for kind, count in others[:MOST]),
    ]
    if cause.sound is not None:
        requests, seconds = cause.sound
        lines.append(f"None of the {number(requests)} requests of the last {seconds} s failed.")
    return tuple(lines)


def _kind(kind: str | int) -> str:
    return f"HTTP {kind}" if isinstance(kind, int) else _FAILURES.get(kind, kind)


def _slower(cause: SlowerTarget) -> str:
    times = f"{cause.now.value / cause.usual.value:.2g}"
    return f"p50 of the last seconds is {_shown(cause.now)}, {times} times the {_shown(cause.usual)} of the run."


def _unanswered(cause: UnansweredRequests) -> str:
    where = f" for {' '.join(filter(None, cause.endpoint))}" if cause.endpoint is not None else ""
    if cause.of_users:
        return f"{number(cause.count)} of {counted(cause.of, 'user')} still waited{where} when the run ended."
    return f"{number(cause.count)} of {counted(cause.of, 'request')} had no response{where} when the run ended."


def _tail(health: TargetHealth) -> str:
    """The p99, or the slowest of few; "" if nothing was timed."""
    if health.tail is None:
        return ""
    return f"{'p99' if health.has_p99 else 'the slowest took'} {_shown(health.tail)}"


def _seen(health: TargetHealth) -> str:
    failed = "" if health.failures else f", no failures in {counted(health.requests, 'request')}"
    return sentence(f"{_tail(health) or 'nothing was timed'}{failed}")


def _about(health: TargetHealth) -> tuple[str, ...]:
    lines = []
    if held := sum(result.passed for result in health.thresholds):
        lines.append(f"{counted(held, 'threshold')} {'holds' if held == 1 else 'hold'}{_so_far(health)}.")
    if unclear := [result for result in health.thresholds if result.within_share]:
        lines.append(
            f"{counted(len(unclear), 'threshold')} {'is' if len(unclear) == 1 else 'are'} not shown to "
            f"hold{_so_far(health)}, because of the generator's share: {_details(unclear)}."
        )
    if health.median is not None and health.rate is not None:
        lines.append(f"p50 {_shown(health.median)}, {number(health.rate)} requests/s.")
    if health.timeouts:
        lines.append(f"{counted(health.timeouts, 'timeout')}: times with ≥ are at least so long.")
    return tuple(lines)


def _so_far(health: TargetHealth) -> str:
    return "" if health.is_over else " so far"


def _shown(time: Milliseconds) -> str:
    share = "" if time.is_clean else f" (up to {ms(time.share)} of it is the generator's)"
    return f"{'≥' if time.at_least else ''}{ms(time.value)}{share}"
