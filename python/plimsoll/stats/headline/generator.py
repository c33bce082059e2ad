"""Is the generator reliable? The results of `stats.validity` so far, as one statement.

A failed check makes it bad at once; a remark is a warning. In the first seconds some would be unfair: lag and delay
count once there are `validity.LEAST_FOR_P99` exchanges, CPU once there are `ENOUGH` seconds, because in fewer a single
busy second already exceeds the allowed `CPU_SHARE`. Before `EARLY` seconds after the warm-up it is too early for a
statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.headline.judgement import JudgementTone, RunJudgement, whole_seconds
from plimsoll.stats.latency.milliseconds import ms_at
from plimsoll.stats.validity import CPU, CPU_SHARE, LEAST_FOR_P99
from plimsoll.stats.wording import count, ms, number, percent, whole_percent

if TYPE_CHECKING:
    from plimsoll._engine import Histogram
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.generator import GeneratorView
    from plimsoll.stats.validity import Validity, ValidityCheck
    from plimsoll.stats.view import RunView

EARLY = 3
ENOUGH = round(1 / CPU_SHARE)
COARSE = 0.01
"""Share of arrivals without a kernel stamp above which the p99 of the delay is not meaningful."""
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

_TONES: tuple[tuple[str, JudgementTone], ...] = (("failed", "bad"), ("remark", "warning"))
"""States that are reported, and their tones."""


def generator(view: RunView, manifest: Manifest, validity: Validity) -> RunJudgement:
    state = view.generator
    for weight, tone in _TONES:
        found = [each for each in validity.checks if each.state == weight and not is_early(each, view)]
        if found:
            first, *others = found
            more = (*(_sentence(each.text) for each in others), _figures(view))
            return RunJudgement(tone, TITLES.get(first.name, "Invalid"), _sentence(first.text), more, _figure(view))
    if not state.workers:
        return RunJudgement("unknown", "Too early to tell", "No worker has reported yet.")
    if len(whole_seconds(view)) < EARLY or state.lag.count < LEAST_FOR_P99:
        asked = f"{count(state.lag.count, 'exchange')} so far; {LEAST_FOR_P99} in {EARLY} s are needed."
        return RunJudgement("unknown", "Too early to tell", asked, _workers(state))
    unknown = [each.name for each in validity.checks if each.state == "unknown"]
    more = (*_workers(state), *([f"Not checked: {', '.join(unknown)}."] if unknown else []))
    if any(each.state in ("failed", "remark") for each in validity.checks):
        limit = CPU["native" if manifest.is_native else "python"]
        text = (
            f"A worker used more than {whole_percent(limit)} CPU in the first seconds, up to "
            f"{whole_percent(state.cpu_max)}."
        )
        return RunJudgement("warning", "Busy", text, (_figures(view), *more), _figure(view))
    coarse = state.user_stamps / state.delay.count if state.delay.count else 0.0
    if coarse > COARSE:
        text = (
            f"{_figures(view)[:-1]}; the kernel did not stamp {percent(coarse)} of the arrivals, so a "
            "part of the delay is in the times."
        )
        return RunJudgement("warning", "Honest, but coarse", text, more, _figure(view))
    return RunJudgement("good", "Honest", _figures(view), more, _figure(view))


def is_early(check: ValidityCheck, view: RunView) -> bool:
    """Whether a failed check would still be unfair."""
    return check.name == "cpu" and view.length is None and len(whole_seconds(view)) < ENOUGH


def _figure(view: RunView) -> str:
    """Its lateness and load."""
    return f"lag p99 {_p99(view.generator.lag)}, CPU {whole_percent(view.generator.cpu_max)}"


def _figures(view: RunView) -> str:
    state = view.generator
    late = f"lag p99 {_p99(state.lag)}, delay p99 {_p99(state.delay)}"
    of = "the worker" if state.workers == 1 else f"the busiest of {number(state.workers)} workers"
    return f"{late}; CPU of {of} up to {whole_percent(state.cpu_max)}."


def _p99(times: Histogram) -> str:
    late = ms_at(times, 0.99)
    return "unknown" if late is None else ms(late)


def _workers(state: GeneratorView) -> tuple[str, ...]:
    lines = [f"{count(state.workers, 'worker')}, {count(state.lag.count, 'exchange')}."]
    if state.delay.count and not state.user_stamps:
        lines.append("All arrivals are stamped by the kernel.")
    elif state.user_stamps:
        rejected = f", {number(state.rejected_stamps)} stamps were rejected" if state.rejected_stamps else ""
        stamped = f"{number(state.user_stamps)} of {number(state.delay.count)} arrivals have no kernel stamp"
        lines.append(f"{stamped}{rejected}.")
    return tuple(lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
