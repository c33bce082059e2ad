"""Shared by all three statements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.stats.view import RunView

JudgementTone = Literal["good", "warning", "bad", "unknown"]

RECENT = 10
"""Whole seconds that are "now"."""


@dataclass(frozen=True, slots=True)
class RunJudgement:
    tone: JudgementTone
    title: str
    """A few words."""
    text: str
    """One sentence with its numbers."""
    more: tuple[str, ...] = ()
    figure: str = ""
    """The number next to the title."""


def whole_seconds(view: RunView) -> range:
    """Complete ones after the warm-up: the last known one may still get data, or be the fraction of a second in which
    the run ended."""
    end = view.last_second if view.length is None else math.floor(view.length)
    return range(view.warmup, max(view.warmup, end))


def recent_seconds(view: RunView) -> range:
    return whole_seconds(view)[-RECENT:]


def answered(view: RunView, seconds: range) -> int:
    """Requests that ended in these seconds."""
    return sum(view.total.requests_by_second[seconds.start : seconds.stop])
