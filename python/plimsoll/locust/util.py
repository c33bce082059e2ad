"""Small functions of `locust.util` that locustfiles use."""

from __future__ import annotations

import functools
import logging
import os
import re
import time
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[..., Any]

logger = logging.getLogger("locust.util.exception_handler")

_SPAN = re.compile(r"\d+|(?=\d)(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?")


def memoize(timeout: float, dynamic_timeout: bool = False) -> Callable[[Function], Function]:
    """Call the decorated function at most once in `timeout` seconds, and return its last result in between.

    One result is kept, whatever the arguments. dynamic_timeout: double the timeout after a call that took longer than
    that. The decorated function has `clear_cache()`.
    """

    def decorate(function: Function) -> Function:
        kept: list[tuple[float, Any]] = []
        limit = timeout

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal limit
            started = time.time()
            if not kept or started - kept[0][0] > limit:
                result = function(*args, **kwargs)
                ended = time.time()
                kept[:] = [(ended, result)]
                if dynamic_timeout and ended - started > limit:
                    limit *= 2
            return kept[0][1]

        wrapper.clear_cache = kept.clear  # type: ignore[attr-defined]
        return wrapper

    return decorate


def retry(
    delays: Sequence[float] = (1, 3, 5), exception: type[BaseException] | tuple[type[BaseException], ...] = Exception
) -> Callable[[Function], Function]:
    """Call the decorated function again after each of these delays (seconds) while it raises `exception`."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for attempt, delay in enumerate(delays, 1):
                try:
                    return function(*args, **kwargs)
                except exception:
                    logger.info("Attempt %d failed; the next one comes in %ss", attempt, delay, exc_info=True)
                    time.sleep(delay)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def format_utc_timestamp(unix_timestamp: float) -> str:
    """E.g. 2026-11-21T22:30:00Z, truncated to whole seconds."""
    return datetime.fromtimestamp(int(unix_timestamp), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_safe_timestamp(unix_timestamp: float) -> str:
    """E.g. 2026-11-21-22h30 in local time: valid in file names on all systems."""
    return datetime.fromtimestamp(int(unix_timestamp)).strftime("%Y-%m-%d-%Hh%M")


def format_duration(start_time: float, end_time: float) -> str:
    """The time between two Unix times, as "1 hour, 2 minutes and 3 seconds"."""
    rest = int(end_time - start_time)
    parts = []
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        amount, rest = divmod(rest, size)
        if amount > 0:
            parts.append(f"{amount} {name}{'' if amount == 1 else 's'}")
    if not parts:
        return "0 seconds"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def parse_timespan(time_str: str) -> int:
    """Whole seconds in 20, 20s, 3m, 2h, 1h20m, 3h30m10s. Raises ValueError."""
    if not time_str:
        raise ValueError("Invalid time span format")
    match = _SPAN.fullmatch(time_str)
    if match is None:
        raise ValueError("Invalid time span format. Valid formats: 20, 20s, 3m, 2h, 1h20m, 3h30m10s, etc.")
    if time_str.isdecimal():
        return int(time_str)
    hours, minutes, seconds = (int(part or 0) for part in match.group("h", "m", "s"))
    return hours * 3600 + minutes * 60 + seconds


def proper_round(val: float, digits: int = 0) -> float:
    """The nearest number with this many decimals; halves are rounded up: 0.5 is 1.0, 2.5 is 3.0."""
    step = Decimal(1).scaleb(-digits)
    # Through repr: 1.005 is meant, not the binary number just below it.
    shifted = Decimal(repr(float(val))) + step / 2
    return float((shifted / step).to_integral_value(ROUND_FLOOR) * step)


def is_url(url: str) -> bool:
    """Whether it has http:// or https:// and a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def get_abspaths_in(path: str, extension: str | None = None) -> list[str]:
    """Absolute paths of all files below path that end in extension, except those whose names begin with "_"."""
    return [
        str(Path(folder).absolute() / name)
        for folder, _, names in os.walk(path)
        for name in names
        if not name.startswith("_") and (extension is None or name.endswith(extension))
    ]
