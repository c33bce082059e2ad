"""What stands before everything else that can be said of a target: nothing answers there, or the users' code fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from plimsoll.stats.findings.wording import count, number, percent
from plimsoll.stats.headline.judgement import RunJudgement, answered, recent_seconds
from plimsoll.stats.study import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.record import CaughtException
    from plimsoll.stats.view import RunView

_BEFORE_HTTP = {"connect": "no connection", "tls": "no TLS handshake"}
"""Failures before a request could be sent, and what they are called where no message says it."""
_QUOTED = re.compile(r"'([^']+)'\)?$")


def unreachable(view: RunView, manifest: Mapping[str, Any]) -> RunJudgement | None:
    """Every request of the last seconds failed before it could be sent. manifest: of it, `host` is read."""
    total = view.total
    kinds = {each.outcome: each.count for each in total.failed_outcomes}
    most = max(kinds, key=lambda kind: kinds[kind], default="")
    recent = recent_seconds(view)
    requests = answered(view, recent) if recent else total.requests
    failures = sum(total.failures_by_second[recent.start : recent.stop]) if recent else total.failures
    if most not in _BEFORE_HTTP or failures < requests:
        return None
    messages = [each.text for each in view.counted_failures if each.outcome == most]
    found = _QUOTED.search(messages[0]) if messages else None
    reason = found[1].lower() if found else _BEFORE_HTTP[most]
    where = f" at {manifest['host']}" if manifest.get("host") else ""
    more = f"{number(total.failures)} of {count(total.requests, 'request')} failed; the first message: "
    return RunJudgement(
        "bad",
        f"Nothing answers{where} ({reason})",
        f"{more}{messages[0] if messages else reason}.",
        figure=f"{percent(total.failures / total.requests)} failed",
    )


def raising(view: RunView) -> RunJudgement | None:
    """The users' code lets exceptions out: bad where there is more than one in a thousand requests."""
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
    """With its type, as the last line of its traceback has it: KeyError: 'price'."""
    lines = caught.traceback.strip().splitlines()
    return lines[-1] if lines else caught.message
