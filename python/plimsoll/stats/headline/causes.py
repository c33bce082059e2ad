"""Causes that precede all other statements about a target: nothing responds, or user code fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.stats.study import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record import CaughtException
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.view import RunView

RECENT = 10
"""Whole seconds that are "now"."""
UNREACHED = frozenset({"connect", "tls"})
"""Outcomes of requests that did not reach the target."""


UNKNOWN_NAME = re.compile(r"name.or.service", re.IGNORECASE)
"""In what the C library says of a host without an address."""
ADDRESS = re.compile(r"[\d.]+|[\da-f:.]*:[\da-f:.]*")
"""An IP address, which needs no name service."""


@dataclass(frozen=True, slots=True)
class UnreachableTarget:
    """Every request of the last seconds failed before it was sent."""

    outcome: str
    """One of `UNREACHED`."""
    host: str
    """Empty if there are several, or none."""
    message: str
    """Of the most frequent such failure; "" if it has none."""
    failures: int
    requests: int


@dataclass(frozen=True, slots=True)
class RaisingCode:
    """The users' own code raises exceptions."""

    caught: tuple[CaughtException, ...]
    """The most frequent first."""
    times: int
    is_frequent: bool
    """More than one in a thousand requests."""


def unreachable(view: RunView, manifest: Manifest) -> UnreachableTarget | None:
    """manifest: `host` is read from it."""
    total = view.total
    most = next((interval.outcome for interval in total.failed_outcomes), "")
    recent = view.whole_seconds[-RECENT:]
    requests = total.completed_within(recent) if recent else total.requests
    failures = total.failed_within(recent) if recent else total.failures
    if most not in UNREACHED or failures < requests:
        return None
    messages = (failure.text for failure in view.counted_failures if failure.outcome == most)
    first = next(messages, "").strip()
    names = [endpoint.name for endpoint in view.endpoints if endpoint.failures]
    host = manifest.host if manifest.host and _is_asked(manifest.host, names, first) else ""
    return UnreachableTarget(most, host, first, total.failures, total.requests)


def _is_asked(host: str, names: Sequence[str], message: str) -> bool:
    """Whether requests that failed may have gone to the host of the run: users' code may send them anywhere. names: of
    their endpoints, which may be URLs. message: of one of them."""
    own = urlsplit(host)
    if any(urlsplit(name).netloc not in ("", own.netloc) for name in names):
        return False
    return not (UNKNOWN_NAME.search(message) and ADDRESS.fullmatch(own.hostname or ""))


def raising(view: RunView) -> RaisingCode | None:
    caught = tuple(view.exceptions)
    times = sum(exception.count for exception in caught)
    return RaisingCode(caught, times, times > TOLERANCE * view.total.requests) if caught else None
