"""TOKENS: generated texts whose tokens were counted by their chunks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study

BY_CHUNK, BY_USAGE = "token by chunk", "each token"
INCLUDE_USAGE = '"stream_options": {"include_usage": true}'
RULE = (
    "tokens are those of the usage that the server sends; without it each chunk with content counts as one, although "
    "a chunk may have several tokens"
)


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
            some = "in some responses " if name in with_usage else ""
            yield Finding(
                "TOKENS",
                "warning",
                f"{name}: {some}the server sent no usage, so {wording.number(count)} chunks are counted as tokens; "
                f"{INCLUDE_USAGE} in the body of the request gives real counts.",
                Where(endpoint=(BY_CHUNK, name)),
                RULE,
                {"chunks": float(count)},
            )
