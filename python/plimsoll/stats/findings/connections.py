"""CONNECT: requests that each open a new connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells
from plimsoll.stats.findings.subject import Subject, cell
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study, Trial

MANY = 0.2
"""Share of the requests, except the first one of each user, that open a connection: kept ones are rarely closed."""
LEAST = 20
"""Such requests: in a short run most requests are first ones."""


@dataclass(frozen=True, slots=True)
class ManyConnections(Finding):
    """Requests that each open a connection."""

    id = "CONNECT"
    subject: Subject
    share: float
    """Of the requests."""
    connections: float
    connecting_ms: float
    """Mean time that it takes to open one."""
    mean_ms: float | None
    """Of all requests."""


def connections(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        if all(_is_often(trial) for trial in trials):
            yield _finding(study, trials[0])


def _is_often(trial: Trial) -> bool:
    row = trial.total
    if row is None or not row.requests or row.connected is None:
        return False
    alive = trial.users_by_second
    first = float(np.nanmax(alive)) if alive is not None and np.isfinite(alive).any() else trial.users or 0.0
    return row.connected - first >= max(LEAST, MANY * (row.requests - first))


def _finding(study: Study, trial: Trial) -> Finding:
    row = trial.total
    assert row is not None and row.requests and row.connected and row.connecting
    return ManyConnections(
        cell(study, trial),
        share=min(1.0, row.connected / row.requests),
        connections=float(row.connected),
        connecting_ms=row.connecting,
        mean_ms=row.mean or None,
        where=Where.of(trial, TOTAL),
        weight="insight",
    )
