"""TOKENS: generated texts whose tokens were counted by their chunks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding, Where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study

BY_CHUNK, BY_USAGE = "token by chunk", "each token"


@dataclass(frozen=True, slots=True)
class TokensByChunk(Finding):
    """Generated texts whose tokens were counted by their chunks."""

    id = "TOKENS"
    chunks: float
    is_some: bool
    """Whether other responses of this name had their usage."""


def tokens(study: Study) -> Iterable[Finding]:
    """One for each name, over all runs. It needs the rows of streams."""
    chunks: defaultdict[str, int] = defaultdict(int)
    with_usage = set()
    for row in (row for trial in study.trials if not trial.invalid for row in trial.endpoints):
        if row.method == BY_CHUNK:
            chunks[row.name] += row.requests or 0
        elif row.method == BY_USAGE and row.requests:
            with_usage.add(row.name)
    for name, count in chunks.items():
        if count:
            where = Where(endpoint=(BY_CHUNK, name))
            yield TokensByChunk(float(count), is_some=name in with_usage, where=where, weight="warning")
