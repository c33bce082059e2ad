"""The sentence of a finding: a function for each class of findings, registered here.

A package that brings a finding of its own defines the class, a subclass of `Finding`, and its function:

    @said.register
    def slow_start(finding: SlowStart) -> Said:
        return Said(f"{lead(finding.subject)}the first request takes {ms(finding.first_ms)}.", RULE)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.stats.findings.finding import Evidence


@dataclass(frozen=True, slots=True)
class Said:
    """A finding in words."""

    statement: str
    """One sentence with its numbers. Hypotheses are marked as such."""
    rule: str
    """The rule, with its threshold and the reason for it."""
    advice: str = ""
    """How to fix or examine it."""
    named: Mapping[str, Evidence] = field(default_factory=dict)
    """Evidence whose names have names of the study in them: {"interval at 48 users": (0.1, 0.2)}."""


@singledispatch
def said(finding: Finding) -> Said:
    raise TypeError(f"{type(finding).__name__} has no sentence: no function for it is registered")


def evidence_of(finding: Finding) -> dict[str, Evidence]:
    """All of its numbers by name."""
    return {**finding.evidence, **said(finding).named}
