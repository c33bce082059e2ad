"""One request as a line of an access log has it, and the forms of its values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

_CLF_TIME = "%d/%b/%Y:%H:%M:%S %z"
_HAPROXY_TIME = "%d/%b/%Y:%H:%M:%S.%f"
_METHOD = re.compile(r"[A-Z]{3,20}")
_STATUS = re.compile(r"[1-5][0-9]{2}")
_UNIX = re.compile(r"[0-9]{9,19}(?:\.[0-9]+)?")
_UNSENT = re.compile(r"[\x00-\x20\"#\\]|[^\x00-\x7e]")
"""Characters that a plan sends by their codes, as most clients do."""
_LAST_TIME = 253_000_000_000.0
"""In the year 9987: dates end with 9999."""
_SCALES = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""From this number on, a Unix time has this unit in seconds."""


@dataclass(frozen=True, slots=True)
class AccessLine:
    """One request."""

    method: str
    target: str
    """Path and query, as they were sent."""
    status: int | None = None
    """100 to 599; None: the log does not say it."""
    time: float | None = None
    """Unix time in seconds; None: the log does not say it."""
    client: str = ""
    """The address that it came from; "" if the log does not say it."""


def line_of(method: str, target: str, status: Any = None, time: Any = None, client: str = "") -> AccessLine | None:
    """The request that these values describe; None if they describe none. target: a whole URL, too. time: Unix time in
    seconds, ms, µs or ns, ISO 8601, or as Apache and HAProxy write it."""
    if "://" in target[:12]:
        try:
            url = urlsplit(target)
        except ValueError:
            return None
        target = f"{url.path or '/'}{f'?{url.query}' if url.query else ''}"
    if not _METHOD.fullmatch(method) or not target.startswith("/"):
        return None
    code = str(status or "")
    target = _UNSENT.sub(lambda found: quote(found[0], errors="replace"), target)
    return AccessLine(method, target, int(code) if _STATUS.fullmatch(code) else None, unix_time(time), client)


def unix_time(value: Any) -> float | None:
    """Seconds; None if it is no time."""
    try:
        seconds = _seconds(value)
    except (OverflowError, ValueError):
        return None
    return seconds if seconds is not None and abs(seconds) < _LAST_TIME else None


def _seconds(value: Any) -> float | None:
    """Raises ValueError for what is no time, and OverflowError for one that no clock shows."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = format(value, "f")
    return _seconds_of(value.strip("[] ")) if isinstance(value, str) else None


@lru_cache(maxsize=64)
def _seconds_of(text: str) -> float:
    """Many lines have the same time as the line before."""
    if _UNIX.fullmatch(text):
        number = float(text)
        return number * next((unit for least, unit in _SCALES if number >= least), 1.0)
    for form in (_CLF_TIME, _HAPROXY_TIME):
        try:
            return datetime.strptime(text, form).astimezone(UTC).timestamp()
        except ValueError:
            continue
    date = datetime.fromisoformat(text)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
