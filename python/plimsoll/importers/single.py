"""What importers of one run have in common: a study of that run, its level, and numbers that must be numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plimsoll.importers.told import Told, renamed
from plimsoll.stats.study import Level, Measured, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.source import Source
    from plimsoll.stats.study import Skipped


def level_of(told: Told, users: float | None = None, rate: float | None = None) -> Level | None:
    """As told, otherwise as found. users, rate: what the file says."""
    if told.users is not None:
        return Level("users", told.users)
    if told.rate is not None:
        return Level("/s", told.rate)
    if rate:
        return Level("/s", rate)
    return Level("users", users) if users else None


def study_of_one(
    source: Source,
    told: Told,
    trial: Trial,
    *,
    skipped: tuple[Skipped, ...] = (),
    warnings: tuple[str, ...] = (),
    about: Mapping[str, str] | None = None,
) -> Study:
    """A study with this one run."""
    return Study(
        name=told.name or source.path.name.partition(".")[0],
        trials=(trial,),
        skipped=skipped,
        warnings=warnings,
        source=str(source.path),
        about=about or {},
    )


def summary_trial(
    source: Source, told: Told, total: Measured, level: Level | None, seconds: float | None, **more: Any
) -> Trial:
    """The run of a report that has only sums. more: further fields of the Trial."""
    return Trial(
        id=str(source.path),
        variant=variant_of(source, told),
        operation=operation_of(told),
        level=level,
        users=level.users if level else None,
        offered=level.rate if level else None,
        think=told.think,
        duration=told.duration or seconds,
        ramp=told.ramp or 0.0,
        total=total,
        **more,
    )


def operation_of(told: Told) -> str:
    """Files of one run do not name what its users did."""
    return renamed([""], told.operation, "operation")[""] if told.operation else ""


def variant_of(source: Source, told: Told) -> str:
    found = source.path.name.partition(".")[0]
    return renamed([found], told.variant, "variant")[found]


def q(percent: str) -> float:
    """A quantile, 0…1, of a percentile as text: 0.999 of "99.9", which 99.9 / 100 is not quite."""
    return round(float(percent) / 100, 12)


def number(source: Source, line: int | None, text: Any, what: str) -> float:
    """A finite number. Raises UsageError, which says what it should have been."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        raise source.error(line, f"{what}: {text!r} is no number") from None
    if not math.isfinite(value):
        raise source.error(line, f"{what}: {text!r} is no finite number")
    return value


def whole(source: Source, line: int | None, text: Any, what: str) -> int:
    """A whole number. Raises UsageError."""
    value = number(source, line, text, what)
    if value != int(value):
        raise source.error(line, f"{what}: {text!r} is no whole number")
    return int(value)
