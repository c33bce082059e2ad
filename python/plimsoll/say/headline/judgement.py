"""Judgements about a run, as the page and the reports show them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

JudgementTone = Literal["good", "warning", "bad", "unknown"]
TOO_EARLY = "Too early to tell"


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """One answer in words."""

    tone: JudgementTone
    title: str
    """A few words."""
    text: str
    """One sentence with its numbers."""
    more: tuple[str, ...] = ()
    figure: str = ""
    """The number next to the title."""


@dataclass(frozen=True, slots=True)
class RunHeadline:
    """Three answers about a run, also while it goes on."""

    target: RunJudgement
    """Is it healthy?"""
    generator: RunJudgement
    """Is it reliable?"""
    bottleneck: RunJudgement
    """What is it?"""


def sentence(text: str) -> str:
    """With a capital and a full stop; p99 keeps its spelling."""
    begin = text[:1] if re.match(r"p\d", text) else text[:1].upper()
    return f"{begin}{text[1:].removesuffix('.')}."
