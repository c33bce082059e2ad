"""Workers that stood still: percentiles alone do not show that nothing was sent for a while.

In the closed model users who do nothing for seconds are load that the target did not have. The arrivals of the open
model are sent when the worker goes on, so their lateness tells what the target did not have when it was due
(`stats.validity.lateness`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.generator import LATE_MS
from plimsoll.stats.validity import causes
from plimsoll.stats.validity.check import ACHIEVED, ValidityCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.generator import Silence
    from plimsoll.stats.validity.causes import LatenessCause
    from plimsoll.stats.view import RunView

SILENCE_MS = 500
"""A worker was silent if nothing was sent or read for longer."""


@dataclass(frozen=True, slots=True)
class SilenceCheck(ValidityCheck):
    """For how many ms a worker stood still."""

    name = "silence"
    limit: float | None = SILENCE_MS
    silences: tuple[Silence, ...] = ()
    cause: LatenessCause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleUsers(SilenceCheck):
    """Closed model: users did nothing for seconds. The value is the share of all users' time."""

    cause: LatenessCause
    users: int
    """The most users of a worker that stood still."""
    missing_s: float
    """Seconds of users' time in which they did nothing."""
    asked_s: float
    """Seconds of all users' time."""


def silence(view: RunView, manifest: Manifest, facts: RunFacts) -> SilenceCheck:
    if not view.generator.workers:
        return SilenceCheck("unknown")
    silences = view.generator.silences(SILENCE_MS)
    if not silences:
        return SilenceCheck("ok")
    if idle := _idle_users(view, manifest, facts, silences):
        return idle
    longest = max(silence.ms for silence in silences)
    cause = causes.standstill(view, silences, manifest, facts)
    return SilenceCheck("remark", longest, silences=tuple(silences), cause=cause)


def _idle_users(view: RunView, manifest: Manifest, facts: RunFacts, silences: Sequence[Silence]) -> IdleUsers | None:
    if manifest.is_open:
        return None
    # The code of a user in Python may take its time; that is its load, unless it keeps other users waiting.
    least = 1 if manifest.is_native else 2
    long = tuple(silence for silence in silences if silence.ms > LATE_MS and silence.users >= least)
    asked = sum(view.generator.users_by_second().values())
    missing = min(asked, sum(silence.users * silence.ms / 1000 for silence in long))
    if not asked or missing <= (1 - ACHIEVED) * asked:
        return None
    return IdleUsers(
        "failed",
        missing / asked,
        1 - ACHIEVED,
        silences=long,
        cause=causes.standstill(view, long, manifest, facts),
        users=max(silence.users for silence in long),
        missing_s=missing,
        asked_s=asked,
    )
