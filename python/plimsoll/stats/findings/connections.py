"""CONNECT: requests that each open a new connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study, Trial

MANY = 0.2
"""Share of the requests, except the first one of each user, that open a connection: kept ones are rarely closed."""
LEAST = 20
"""Such requests: in a short run most requests are first ones."""
RULE = (
    f"at least {MANY * 100:.0f} % of the requests, without the first one of each user, open a connection: a target and "
    "a client that keep connections open them once"
)


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
    share = min(1.0, row.connected / row.requests)
    mean = f" of a mean of {wording.ms(row.mean)}" if row.mean else ""
    return Finding(
        "CONNECT",
        "insight",
        f"{wording.lead(wording.cell(study, trial))}"
        f"{wording.percent(share)} of the requests open a connection of their own, which takes "
        f"{wording.ms(row.connecting)}{mean}.",
        Where(trial.variant, trial.level, trial.operation, TOTAL),
        RULE,
        {"share": share, "connections": float(row.connected), "connecting_ms": row.connecting},
        "Keep connections open: look for `Connection: close` or a limit on kept connections at the target, and for "
        "users who begin a new session with each request.",
    )
