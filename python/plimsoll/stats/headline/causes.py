"""Causes that precede all other statements about a target: nothing responds, or user code fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.stats.headline.judgement import RunJudgement, answered, recent_seconds
from plimsoll.stats.study import TOLERANCE
from plimsoll.stats.wording import count, number, percent

if TYPE_CHECKING:
    from plimsoll.record import CaughtException
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.view import RunView

_BEFORE_HTTP = {"connect": ("Nothing answers", "no connection"), "tls": ("TLS fails", "no handshake")}
"""Failures before a request was sent: what to say, and the reason without a message."""
LONGEST_REASON = 240
"""Characters."""
_QUOTED = re.compile(r"'([^']+)'\)?$")


def unreachable(view: RunView, manifest: Manifest) -> RunJudgement | None:
    """Every request of the last seconds failed before it was sent. manifest: `host` is read from it."""
    total = view.total
    kinds = {each.outcome: each.count for each in total.failed_outcomes}
    most = max(kinds, key=lambda kind: kinds[kind], default="")
    recent = recent_seconds(view)
    requests = answered(view, recent) if recent else total.requests
    failures = sum(total.failures_by_second[recent.start : recent.stop]) if recent else total.failures
    if most not in _BEFORE_HTTP or failures < requests:
        return None
    messages = [each.text for each in view.counted_failures if each.outcome == most]
    first = messages[0].strip() if messages else ""
    what, otherwise = _BEFORE_HTTP[most]
    reason = _reason(first) or otherwise
    where = f" at {manifest.host}" if manifest.host else ""
    failed = f"{number(total.failures)} of {count(total.requests, 'request')} failed"
    has_more = first and first.lower() != reason.lower()
    return RunJudgement(
        "bad",
        f"{what}{where} ({reason})",
        f"{failed}; the first message: {first.rstrip('.')}." if has_more else f"{failed}.",
        figure=f"{percent(total.failures / total.requests)} failed",
    )


def _reason(message: str) -> str:
    """A message as part of a sentence: the quotation at its end, or all of it; "" for a long one."""
    if found := _QUOTED.search(message):
        return found[1].lower()
    if not message or len(message) > LONGEST_REASON:
        return ""
    is_word = message[1:2].islower()
    return message[0].lower() + message[1:] if is_word else message


def raising(view: RunView) -> RunJudgement | None:
    """User code raises exceptions: bad if they exceed one in a thousand requests."""
    caught = view.exceptions
    if not caught:
        return None
    first, *others = caught
    times = sum(each.count for each in caught)
    more = tuple(f"{_named(each)}: {number(each.count)} times." for each in others[:4])
    return RunJudgement(
        "bad" if times > TOLERANCE * view.total.requests else "warning",
        f"Your code raises {_named(first)}",
        "The users' own code ends its tasks with exceptions; the tracebacks are among the exceptions.",
        more,
        figure="once" if times == 1 else f"{number(times)} times",
    )


def _named(caught: CaughtException) -> str:
    """Including its type, as in the last line of its traceback: KeyError: 'price'."""
    lines = caught.traceback.strip().splitlines()
    return lines[-1] if lines else caught.message
