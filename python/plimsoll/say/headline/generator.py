"""What is said of the generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.durations import ms
from plimsoll.say.headline.judgement import TOO_EARLY, JudgementTone, RunJudgement, sentence
from plimsoll.say.numbers import counted, number, percent, whole_percent
from plimsoll.say.validity import check_text
from plimsoll.stats.headline.generator import EARLY
from plimsoll.stats.latency.milliseconds import ms_at
from plimsoll.stats.validity import LEAST_FOR_P99

if TYPE_CHECKING:
    from plimsoll._engine import Histogram
    from plimsoll.stats.generator import GeneratorView
    from plimsoll.stats.headline.generator import GeneratorReliability

TITLES = {
    "ended": "Did not reach its end",
    "offered": "Behind its schedule",
    "dropped": "Dropped arrivals",
    "lag": "Sends late",
    "delay": "Costs throughput",
    "cpu": "Short of CPU",
    "silence": "Stood still",
    "workers": "Lost a worker",
    "coordinator": "Ended early",
    "clock": "The clock was set",
    "exhausted": "Ran out of something",
    "percentiles": "Damaged record",
    "little": "Does not add up",
    "stored": "Not all of it is stored",
}
"""By name of the check that leads."""


def generator_judgement(found: GeneratorReliability) -> RunJudgement:
    state, figures, figure = found.numbers, _figures(found.numbers), _figure(found.numbers)
    unknown = (f"Not checked: {', '.join(found.unknown)}.",) if found.unknown else ()
    more = (*_workers(state), *unknown)
    match found.kind:
        case "failed" | "remark":
            first, *others = (sentence(check_text(check)) for check in found.checks)
            tone: JudgementTone = "bad" if found.kind == "failed" else "warning"
            title = TITLES.get(found.checks[0].name, "Invalid")
            return RunJudgement(tone, title, first, (*others, figures), figure)
        case "no worker":
            return RunJudgement("unknown", TOO_EARLY, "No worker has reported yet.")
        case "early":
            text = f"{counted(state.lag.count, 'exchange')} so far; {LEAST_FOR_P99} in {EARLY} s are needed."
            return RunJudgement("unknown", TOO_EARLY, text, _workers(state))
        case "busy":
            text = (
                f"A worker used more than {whole_percent(found.cpu_limit)} CPU in the first seconds, up to "
                f"{whole_percent(state.cpu_max)}."
            )
            return RunJudgement("warning", "Busy", text, (figures, *more), figure)
        case "coarse":
            text = (
                f"{figures[:-1]}; the kernel did not stamp {percent(found.unstamped)} of the arrivals, so a part of "
                "the delay is in the times."
            )
            return RunJudgement("warning", "Honest, but coarse", text, more, figure)
        case "reliable":
            return RunJudgement("good", "Honest", figures, more, figure)


def _figure(state: GeneratorView) -> str:
    """Its lateness and load."""
    return f"lag p99 {_p99(state.lag)}, CPU {whole_percent(state.cpu_max)}"


def _figures(state: GeneratorView) -> str:
    late = f"lag p99 {_p99(state.lag)}, delay p99 {_p99(state.delay)}"
    of = "the worker" if state.workers == 1 else f"the busiest of {number(state.workers)} workers"
    return f"{late}; CPU of {of} up to {whole_percent(state.cpu_max)}."


def _p99(times: Histogram) -> str:
    late = ms_at(times, 0.99)
    return "unknown" if late is None else ms(late)


def _workers(state: GeneratorView) -> tuple[str, ...]:
    lines = [f"{counted(state.workers, 'worker')}, {counted(state.lag.count, 'exchange')}."]
    if state.delay.count and not state.user_stamps:
        lines.append("All arrivals are stamped by the kernel.")
    elif state.user_stamps:
        rejected = f", {number(state.rejected_stamps)} stamps were rejected" if state.rejected_stamps else ""
        stamped = f"{number(state.user_stamps)} of {number(state.delay.count)} arrivals have no kernel stamp"
        lines.append(f"{stamped}{rejected}.")
    return tuple(lines)
