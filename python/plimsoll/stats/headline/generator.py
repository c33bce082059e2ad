"""Is the generator honest? What `stats.validity` says so far, as one answer.

A check that fails makes it bad at once, but in the first seconds two would be unfair: lag and delay count once there
are `validity.LEAST_FOR_P99` exchanges, CPU once there are `ENOUGH` seconds, as one busy second in fewer is already more
than the `CPU_SHARE` of them that may be. It is too early to tell before `EARLY` seconds after the warm-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.stats.findings.wording import count, ms, number, percent, whole_percent
from plimsoll.stats.headline.judgement import RunJudgement, whole_seconds
from plimsoll.stats.validity import CPU, CPU_SHARE, LEAST_FOR_P99

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll._engine import Histogram
    from plimsoll.stats.generator import GeneratorView
    from plimsoll.stats.validity import Validity, ValidityCheck
    from plimsoll.stats.view import RunView

EARLY = 3
ENOUGH = round(1 / CPU_SHARE)
COARSE = 0.01
"""Share of the arrivals that the kernel did not stamp, from which on the p99 of the delay says too little."""
TITLES = {
    "offered": "Behind its schedule",
    "dropped": "Dropped arrivals",
    "lag": "Sends late",
    "delay": "Notices late",
    "cpu": "Short of CPU",
    "workers": "Lost a worker",
    "clock": "The clock was set",
    "exhausted": "Ran out of something",
    "percentiles": "Damaged record",
    "little": "Does not add up",
}


def generator(view: RunView, manifest: Mapping[str, Any], validity: Validity) -> RunJudgement:
    state = view.generator
    failed = [each for each in validity.checks if each.state == "failed" and not is_early(each, view)]
    if failed:
        first, *others = failed
        more = (*(_sentence(each.text) for each in others), _figures(view, validity))
        return RunJudgement("bad", TITLES.get(first.name, "Invalid"), _sentence(first.text), more, _figure(view))
    if not state.workers:
        return RunJudgement("unknown", "Too early to tell", "No worker has told anything yet.")
    if len(whole_seconds(view)) < EARLY or state.lag.count < LEAST_FOR_P99:
        asked = f"{count(state.lag.count, 'exchange')} so far; {LEAST_FOR_P99} in {EARLY} s are needed."
        return RunJudgement("unknown", "Too early to tell", asked, _workers(state))
    unknown = [each.name for each in validity.checks if each.state == "unknown"]
    more = (*_workers(state), *([f"Not checked: {', '.join(unknown)}."] if unknown else []))
    busy = [each for each in validity.checks if each.state == "failed"]
    if busy:
        limit = CPU["native" if manifest.get("users_kind") == "native" else "python"]
        text = (
            f"A worker used more than {whole_percent(limit)} CPU in the first seconds, up to "
            f"{whole_percent(state.cpu_max)}."
        )
        return RunJudgement("warning", "Busy", text, (_figures(view, validity), *more), _figure(view))
    coarse = state.user_stamps / state.delay.count if state.delay.count else 0.0
    if coarse > COARSE:
        text = (
            f"{_figures(view, validity)[:-1]}; the kernel did not stamp {percent(coarse)} of the arrivals, so a "
            "part of the delay is in the times."
        )
        return RunJudgement("warning", "Honest, but coarse", text, more, _figure(view))
    return RunJudgement("good", "Honest", _figures(view, validity), more, _figure(view))


def is_early(check: ValidityCheck, view: RunView) -> bool:
    """Whether a check that failed would be unfair yet."""
    return check.name == "cpu" and view.length is None and len(whole_seconds(view)) < ENOUGH


def _figure(view: RunView) -> str:
    """How late it sends, and how busy it is."""
    return f"lag p99 {_p99(view.generator.lag)}, CPU {whole_percent(view.generator.cpu_max)}"


def _figures(view: RunView, validity: Validity) -> str:
    state = view.generator
    limit = next((each.limit for each in validity.checks if each.name == "lag" and each.limit is not None), None)
    late = f"lag p99 {_p99(state.lag)}, delay p99 {_p99(state.delay)}"
    allowed = f" (limit {ms(limit)})" if limit is not None else ""
    of = "the worker" if state.workers == 1 else f"the busiest of {number(state.workers)} workers"
    return f"{late}{allowed}; CPU of {of} up to {whole_percent(state.cpu_max)}."


def _p99(times: Histogram) -> str:
    return ms(times.value_at(0.99) / 1000) if times.count else "unknown"


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
