"""Workers that stood still: percentiles alone do not show that nothing was sent for a while.

In the closed model users who do nothing for seconds are load that the target did not have. The arrivals of the open
model are sent when the worker goes on, so their lateness tells what the target did not have when it was due
(`stats.validity.lateness`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.generator import LATE_MS
from plimsoll.stats.validity import throttling
from plimsoll.stats.validity.check import ACHIEVED, ValidityCheck, ms, percent
from plimsoll.stats.wording import count, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.generator import Silence
    from plimsoll.stats.view import RunView

SILENCE_MS = 500
"""A worker was silent if nothing was sent or read for longer."""
MOST_SECONDS = 5
"""Maximum number of times that are listed."""
MUCH = 0.5
"""Share of a silence for which a worker used a CPU, or waited for one, that tells its cause."""


def silence(view: RunView, manifest: Manifest, facts: RunFacts) -> ValidityCheck:
    if not view.generator.workers:
        return ValidityCheck("silence", "unknown", None, SILENCE_MS, "no worker reported whether it stood still")
    silences = view.generator.silences(SILENCE_MS)
    if not silences:
        return ValidityCheck("silence", "ok", None, SILENCE_MS, f"no worker stood still for more than {SILENCE_MS} ms")
    longest = max(silence.ms for silence in silences)
    if missed := _missed(view, manifest, facts, silences):
        return missed
    text = (
        f"A worker stood still for up to {ms(longest)} ({_times(silences)}): {cause(view, silences, manifest, facts)}. "
        "Nothing was sent or read meanwhile."
    )
    return ValidityCheck("silence", "remark", longest, SILENCE_MS, text)


def _missed(view: RunView, manifest: Manifest, facts: RunFacts, silences: Sequence[Silence]) -> ValidityCheck | None:
    """Closed model: the load of users who did nothing for seconds."""
    if manifest.is_open:
        return None
    # The code of a user in Python may take its time; that is its load, unless it keeps other users waiting.
    least = 1 if manifest.is_native else 2
    long = [silence for silence in silences if silence.ms > LATE_MS and silence.users >= least]
    asked = sum(view.generator.users_by_second().values())
    missing = min(asked, sum(silence.users * silence.ms / 1000 for silence in long))
    if not asked or missing <= (1 - ACHIEVED) * asked:
        return None
    users = count(max(silence.users for silence in long), "user")
    longest = max(silence.ms for silence in long)
    text = (
        f"a worker stood still for up to {ms(longest)} ({_times(long)}), and its {users} did "
        f"nothing meanwhile: {number(round(missing))} of {number(asked)} seconds of users' time are missing "
        f"({percent(missing / asked)}); {cause(view, long, manifest, facts)}"
    )
    return ValidityCheck("silence", "failed", missing / asked, 1 - ACHIEVED, text)


def cause(view: RunView, silences: Sequence[Silence], manifest: Manifest, facts: RunFacts) -> str:
    """Of the longest silence, by what its worker did meanwhile."""
    if throttled := throttling.cause(view, facts):
        return throttled
    longest = max(silences, key=lambda silence: silence.ms)
    is_native = manifest.is_native
    if longest.waited > MUCH:
        return "this computer was busy with something else"
    if longest.cpu > MUCH:
        return "the worker was busy with itself" if is_native else "the users' own code blocks"
    if is_native:
        return "its process was stopped, or this computer was busy"
    # Without a reading of how long the worker waited for a CPU, that is possible, too.
    busy = "" if view.generator.cpu_waited else ", this computer was busy"
    return f"its process was stopped{busy}, or the users' own code blocks, for example to read a file"


def _times(silences: Sequence[Silence]) -> str:
    """When they were: second 3; seconds 3 to 6, 9."""
    seconds = ((silence.first, silence.last) for silence in silences)
    shown = list(dict.fromkeys(f"{first} to {last}" if last > first else f"{first}" for first, last in seconds))
    more = len(shown) - MOST_SECONDS
    is_one = len(shown) == 1 and silences[0].first == silences[0].last
    text = ", ".join(shown[:MOST_SECONDS])
    return f"second{'' if is_one else 's'} {text}{f' and {more} more' if more > 0 else ''}"
