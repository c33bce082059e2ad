"""Shared code of importers of one run: its study, its level, and validated numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plimsoll.importers.options import ImportOptions, renamed
from plimsoll.stats.study import Level, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.result_file import ResultFile


def level_of(options: ImportOptions, users: float | None = None, rate: float | None = None) -> Level | None:
    """That of the options, otherwise the found one. users, rate: from the file."""
    if options.users is not None:
        return Level("users", options.users)
    if options.rate is not None:
        return Level("/s", options.rate)
    if rate:
        return Level("/s", rate)
    return Level("users", users) if users else None


def study_of_run(
    source: ResultFile,
    options: ImportOptions,
    *,
    seconds: float | None,
    users: float | None = None,
    rate: float | None = None,
    ramp: float = 0.0,
    warnings: tuple[str, ...] = (),
    about: Mapping[str, str] | None = None,
    **fields: Any,
) -> Study:
    """A study of the one run in a file. seconds, users, rate, ramp: from the file. fields: others of the Trial."""
    level = level_of(options, users, rate)
    trial = Trial(
        id=str(source.path),
        variant=variant_of(source, options),
        operation=operation_of(options),
        level=level,
        users=level.users if level else None,
        offered=level.rate if level else None,
        think=options.think,
        duration=options.duration or seconds,
        ramp=ramp if options.ramp is None else options.ramp,
        **fields,
    )
    return Study(
        name=options.name or source.path.name.partition(".")[0],
        trials=(trial,),
        warnings=warnings,
        source=str(source.path),
        about=about or {},
    )


def operation_of(options: ImportOptions) -> str:
    """Files of one run do not name the operation of its users."""
    return renamed([""], options.operation, "operation")[""] if options.operation else ""


def variant_of(source: ResultFile, options: ImportOptions) -> str:
    found = source.path.name.partition(".")[0]
    return renamed([found], options.variant, "variant")[found]


def q(percent: str) -> float:
    """A quantile, 0…1, of a percentile as text: 0.999 for "99.9", while 99.9 / 100 differs slightly."""
    return round(float(percent) / 100, 12)


def number(source: ResultFile, line: int | None, text: Any, what: str) -> float:
    """A finite number. Raises UsageError, with the expected content."""
    try:
        value = float(text)
    except (TypeError, ValueError, OverflowError):
        raise source.error(line, f"{what}: {text!r} is no number") from None
    if not math.isfinite(value):
        raise source.error(line, f"{what}: {text!r} is no finite number")
    return value


def whole(source: ResultFile, line: int | None, text: Any, what: str) -> int:
    """A whole number. Raises UsageError."""
    value = number(source, line, text, what)
    if value != int(value):
        raise source.error(line, f"{what}: {text!r} is no whole number")
    return int(value)
