"""What is said of the bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from plimsoll.say.durations import ms
from plimsoll.say.headline.judgement import TOO_EARLY, RunJudgement, sentence
from plimsoll.say.numbers import amount, counted, number, whole_percent
from plimsoll.say.validity import check_text
from plimsoll.stats.headline.bottleneck import (
    EARLY,
    ClosedBottleneck,
    FailingLoad,
    FaultyGenerator,
    OpenBottleneck,
    SlowGenerator,
    UnknownBottleneck,
)
from plimsoll.stats.headline.link import FilledLink

if TYPE_CHECKING:
    from plimsoll.stats.headline.bottleneck import Bottleneck, RecentArrivals, RecentLoad

_MISSING = {
    "answers": "Nothing was answered in the last seconds.",
    "users": "There are no users.",
    "arrivals": "No arrival was due in the last seconds.",
}


def bottleneck_judgement(found: Bottleneck) -> RunJudgement:
    match found:
        case UnknownBottleneck(reason="seconds", seconds=seconds):
            counts = "counts" if seconds == 1 else "count"
            text = f"{counted(seconds, 'whole second')} that {counts} so far; {EARLY} are needed."
            return RunJudgement("unknown", TOO_EARLY, text)
        case UnknownBottleneck(reason=reason, load=load):
            more = (_open_figures(load),) if load is not None else ()
            return RunJudgement("unknown", TOO_EARLY, _MISSING[reason], more)
        case FailingLoad(share, seconds):
            text = f"{whole_percent(share)} of the requests of the last {seconds} s failed."
            return RunJudgement("unknown", "Unknown", text)
        case FilledLink():
            return RunJudgement("warning", "The network link", link_text(found))
        case FaultyGenerator(check):
            return _generator(sentence(check_text(check)))
        case SlowGenerator(cycle, lag, delay):
            return _generator(
                f"Of the {ms(cycle)} from one request of a user to its next, {ms(lag + delay)} are the generator's own "
                f"(lag {ms(lag)}, delay {ms(delay)})."
            )
        case ClosedBottleneck():
            return _closed(found)
        case OpenBottleneck():
            return _open(found)
        case _:
            assert_never(found)


def link_text(link: FilledLink) -> str:
    """Which interface is full, and what follows."""
    what = {"received": "Responses", "sent": "Requests"}[link.direction]
    return (
        f"{what} take {amount(link.used_mbit_s)} of the {number(link.mbit_s)} Mbit/s of {link.interface}, the network "
        "interface of this computer; the target may be able to do more."
    )


def _generator(text: str) -> RunJudgement:
    return RunJudgement("bad", "The generator", text, ("What the target could do is unknown.",))


def _closed(found: ClosedBottleneck) -> RunJudgement:
    load, figure = found.load, _rate(found.load)
    figures = (
        f"{figure}; by Little's law a request takes {ms(load.took)}, and there are {ms(load.pause)} between two of a "
        "user."
    )
    users, waiting = number(round(load.users)), _of(load.in_flight, load.users)
    idle = _of(load.users - load.in_flight, load.users)
    if found.limit == "target":
        text = f"{waiting} of {users} users wait for it at any moment; it answers {figure}."
        hypothesis = "Only more users tell whether it could do more; if they only wait longer, it could not."
        return RunJudgement("warning", "The target", text, (figures, hypothesis), figure)
    if found.limit == "both":
        text = f"{waiting} of {users} users wait for the target at any moment, the others think."
        return RunJudgement("good", "Users and target", text, (figures,), figure)
    if found.slow is not None:
        text = f"{idle} of {users} users pause at any moment; when they wait, it is mostly for this endpoint."
        share = f"{whole_percent(found.slow.of_waiting)} of the waiting"
        return RunJudgement("warning", found.slow.label, text, (figures,), share)
    answers = f"; the target answers in {ms(found.median.value)} (p50)" if found.median is not None else ""
    text = f"{idle} of {users} are thinking, or busy with their own code, at any moment{answers}."
    more = "More users, or shorter waits, would ask more of it."
    return RunJudgement("good", "None: users mostly pause", text, (figures, more), figure)


def _open(found: OpenBottleneck) -> RunJudgement:
    load, arrivals, most = found.load, found.arrivals, found.max_users
    figures, figure = _open_figures(load), _rate(load)
    if found.limit == "nothing":
        text = (
            f"The target takes all that is offered: {number(arrivals.rate)} arrivals/s, {number(load.in_flight)} "
            "requests in flight."
        )
        left = (f"{number(arrivals.last)} that waited are being worked off.",) if arrivals.are_waiting else ()
        return RunJudgement("good", "Nothing", text, (figures, *left), figure)
    taken = f"{number(arrivals.taken)} of {number(arrivals.rate)} arrivals/s offered are taken up"
    if found.limit == "max_users":
        text = f"All {number(most or 0)} users that there may be are busy: {taken}; {_backlog(arrivals)}."
        hypothesis = "Hypothesis: more users help, unless the target only gets slower then."
        return RunJudgement("warning", "max_users", text, (figures, hypothesis), figure)
    busy = (f"{whole_percent(load.in_flight / most)} of max_users wait for it.",) if most else ()
    return RunJudgement("warning", "The target", sentence(f"{taken}; {_backlog(arrivals)}"), (figures, *busy), figure)


def _open_figures(load: RecentLoad) -> str:
    return (
        f"{_rate(load)} answered, {number(load.in_flight)} in flight: by Little's law a request takes {ms(load.took)}."
    )


def _rate(load: RecentLoad) -> str:
    return f"{number(load.rate)} requests/s"


def _backlog(arrivals: RecentArrivals) -> str:
    parts = []
    if arrivals.last:
        more = arrivals.last - arrivals.first
        since = f", {number(more)} more than {arrivals.seconds} s ago" if more > 0 else ""
        parts.append(f"{number(arrivals.last)} wait{since}")
    if arrivals.dropped:
        parts.append(f"{number(arrivals.dropped)} were dropped")
    return ", ".join(parts)


def _of(part: float, whole: float) -> str:
    """Rounded like the whole, and never more."""
    return number(min(round(part), round(whole)))
