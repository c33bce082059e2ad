"""Why the generator was late, in words, and when its workers stood still."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.durations import ms
from plimsoll.say.numbers import counted, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import CpuPeriods
    from plimsoll.stats.generator import Silence
    from plimsoll.stats.validity.causes import LatenessCause, Suspect

MOST_SECONDS = 5
"""Maximum number of times that are listed."""
_SUSPECTS: dict[Suspect, str] = {
    "computer busy": "this computer was busy with something else",
    "worker busy": "the worker was busy with itself",
    "process stopped": "its process was stopped",
    "users' code": "the users' own code blocks",
}


def cause_text(cause: LatenessCause) -> str:
    """What it was, or may have been, and what to do about it. Without a full stop."""
    more = f"use --processes {cause.workers + 1}"
    if cause.periods is not None:
        fewer = ", or use fewer processes" if cause.workers > 1 else ""
        stopped = f"stopped the generator in {_periods(cause.periods)}"
        return f"the CPU limit of its control group (container) {stopped}: raise the limit{fewer}"
    match cause.id:
        case "full":
            are = "one worker is" if cause.workers == 1 else f"{counted(cause.workers, 'worker')} are"
            return f"{are} full: {more}"
        case "one by one":
            return f"a worker reads one reply after another: {more}"
        case "stood still":
            return f"a worker stood still for up to {ms(cause.stood_still_ms)}, because {_any_of(cause.suspects)}"
        case "suspects":
            a_file = {"process stopped", "users' code"}.issubset(cause.suspects)
            return f"{_any_of(cause.suspects)}{', for example to read a file' if a_file else ''}"
    return "the reason is not known"


def _any_of(suspects: Sequence[Suspect]) -> str:
    """its process was stopped, this computer was busy, or the users' own code blocks."""
    if len(suspects) == 1:
        return _SUSPECTS[suspects[0]]
    *others, last = (_SUSPECTS[suspect].removesuffix(" with something else") for suspect in suspects)
    return f"{', '.join(others)}, or {last}"


def throttling_notes(periods: CpuPeriods) -> list[str]:
    """For people, where it mattered."""
    if not periods.is_material:
        return []
    return [
        f"the generator was throttled in {_periods(periods)}: its control group (container) had used up its CPU time, "
        "which makes requests late; raise its CPU limit"
    ]


def silent_seconds(silences: Sequence[Silence]) -> str:
    """second 3; seconds 3 to 6, 9."""
    seconds = ((silence.first, silence.last) for silence in silences)
    shown = list(dict.fromkeys(f"{first} to {last}" if last > first else f"{first}" for first, last in seconds))
    more = len(shown) - MOST_SECONDS
    is_one = len(shown) == 1 and silences[0].first == silences[0].last
    text = ", ".join(shown[:MOST_SECONDS])
    return f"second{'' if is_one else 's'} {text}{f' and {more} more' if more > 0 else ''}"


def _periods(periods: CpuPeriods) -> str:
    """How many were too short."""
    return f"{number(periods.throttled)} of {counted(periods.periods, 'period')}"
