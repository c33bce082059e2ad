"""The tables of a run in progress: a row for each endpoint, and one for all of them.

With thousands of endpoints only some rows are updated each second: the `ROWS_A_SECOND` oldest ones, and `FIRST_ROWS` of
new endpoints, so that the coordinator's cost does not grow with their number. The row of the total is always updated.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

from plimsoll.report.run_summary import QUANTILES
from plimsoll.server.messages import EndpointRow
from plimsoll.stats.latency.ranks import least_requests
from plimsoll.stats.table import live_row_of

if TYPE_CHECKING:
    from plimsoll.stats.latency.milliseconds import Latency, Milliseconds
    from plimsoll.stats.seconds import Key
    from plimsoll.stats.table import LiveRow
    from plimsoll.stats.view import RunView

ROWS_A_SECOND = 200
"""A row costs some 0.2 ms: this is 4 % of a core."""
FIRST_ROWS = 1000
"""More, so that all endpoints soon have a row."""
PERCENTILES = {
    "": ("p50", "p90", "p95", "p99", "p999"),
    "current_": ("p50", "p95", "p99"),
    "service_": ("p50", "p99"),
}
"""By prefix of the row's field names."""
LEAST = {name: least_requests(QUANTILES[name]) for name in PERCENTILES[""]}
"""The fewest exchanges for which a percentile has a confidence interval."""


class RowTable:
    """Rows as last sent. Not thread-safe."""

    def __init__(self) -> None:
        self.rows: dict[Key, EndpointRow] = {}
        self._turn: deque[Key] = deque()
        """Endpoints by age of their row, the oldest first."""
        self._known: set[Key] = set()

    def forget(self) -> None:
        """Make all rows again: their data is no longer valid."""
        self.rows.clear()
        self._turn.clear()
        self._known.clear()

    @property
    def age(self) -> int:
        """Seconds between updates of a row."""
        return max(1, math.ceil(len(self._turn) / ROWS_A_SECOND))

    def turn(self, view: RunView, *, everything: bool = False) -> list[EndpointRow]:
        """The rows to update this time."""
        endpoints = {(each.method, each.name): each for each in view.endpoints}
        new = endpoints.keys() - self._known
        self._known |= new
        self._turn.extendleft(new)
        missing = len(self._turn) - len(self.rows)
        most = len(self._turn) if everything else max(min(missing, FIRST_ROWS), ROWS_A_SECOND)
        made = []
        for _ in range(min(most, len(self._turn))):
            key = self._turn.popleft()
            self._turn.append(key)
            row = self.rows[key] = row_of(live_row_of(view, endpoints[key]), endpoints[key].service_of(view.timed))
            made.append(row)
        return made


def row_of(row: LiveRow, service: Latency) -> EndpointRow:
    """service: the times of the target."""
    response = row.response_ms
    of = {"current_": row.current_ms, "": response, "service_": service}
    times: dict[str, Milliseconds | None] = {"mean": response.mean, "min": response.min, "max": response.max}
    few = []
    for which, names in PERCENTILES.items():
        for name in names:
            times[which + name] = of[which].quantile(QUANTILES[name])
            if of[which].count < LEAST[name]:
                few.append(which + name)
    return EndpointRow(
        method=row.method,
        name=row.name,
        requests=row.requests,
        failures=row.failures,
        unanswered=row.unanswered,
        rps=row.rps,
        failures_per_s=row.failures_per_s,
        current_rps=row.current_rps,
        current_failures_per_s=row.current_failures_per_s,
        size=row.average_size,
        waited_s=row.waited_s,
        few=tuple(few),
        at_least=tuple(name for name, time in times.items() if time is not None and time.at_least),
        shares={name: time.share for name, time in times.items() if time is not None and not time.is_clean},
        **{name: None if time is None else time.value for name, time in times.items()},
    )
