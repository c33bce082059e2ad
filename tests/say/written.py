"""A finding that says what a test wants, as another package would bring it: a class and its sentence in one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.say.findings import Said, said
from plimsoll.stats.findings.finding import Evidence, Finding, FindingWeight, Where


@dataclass(frozen=True)
class Written(Finding):
    id: str  # type: ignore[misc]
    statement: str
    rule: str = ""
    numbers: Mapping[str, Evidence] | None = None
    advice: str = ""

    @property
    def evidence(self) -> dict[str, Evidence]:
        return dict(self.numbers or {})


@said.register
def _(finding: Written) -> Said:
    return Said(finding.statement, finding.rule, finding.advice)


def written(
    id: str, weight: FindingWeight, statement: str, where: Where | None = None, rule: str = "", *rest: Any
) -> Written:
    return Written(id, statement, rule, *rest, where=where or Where(), weight=weight)
