"""A target's metrics in a Prometheus server: the results of a query over the time of a run.

API: https://prometheus.io/docs/prometheus/latest/querying/api/
"""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from plimsoll.observe.exposition import unit_of
from plimsoll.observe.fetch import Fetcher
from plimsoll.observe.sampler import MOST_SERIES, ProbeError
from plimsoll.stats.study import Series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_POINTS = 10_000
"""Per series; servers reject more than 11,000."""
EXPLAINED = frozenset({400, 422, 503})
"""Error statuses whose bodies have an explanation."""
CLOCK_S = 1.0
"""Smaller clock differences are ignored: the result of a server is as old as its last scrape."""


class RangeQuery:
    """One expression, queried once after the run."""

    def __init__(self, source: str, url: str, expression: str) -> None:
        """url: of the server, including a path prefix. Raises UsageError."""
        self.source = source
        self.notes: list[str] = []
        self._fetcher = Fetcher(url)
        self._expression = expression

    def series(self, start: float, end: float) -> tuple[Series, ...]:
        """From start to end, Unix seconds; a point per second, fewer for a long run. Raises ProbeError."""
        try:
            ahead = self._clock_ahead()
            step = max(1, math.ceil((end - start) / MOST_POINTS))
            found = self._ask(
                "query_range", query=self._expression, start=f"{start + ahead:.3f}", end=f"{end + ahead:.3f}", step=step
            )
        finally:
            self._fetcher.close()
        results = found.get("result", [])
        if found.get("resultType") != "matrix" or not isinstance(results, list):
            raise ProbeError("its answer is not that of a Prometheus server")
        if not results:
            self.notes.append(f"{self.source}: nothing matched {self._expression} during the run")
        if len(results) > MOST_SERIES:
            self.notes.append(f"{self.source}: only the first {MOST_SERIES} of {len(results)} series are kept")
        return tuple(self._one(each, start + ahead) for each in results[:MOST_SERIES])

    def _clock_ahead(self) -> float:
        """Seconds by which the server's clock is ahead of ours."""
        before = time.time()
        found = self._ask("query", query="time()")
        after = time.time()
        try:
            ahead = float(found["result"][1]) - (before + after) / 2
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ProbeError("its answer is not that of a Prometheus server") from error
        if abs(ahead) <= CLOCK_S:
            return 0.0
        where = "ahead of" if ahead > 0 else "behind"
        self.notes.append(
            f"the clock of {self.source} is {abs(ahead):.1f} s {where} this machine's; its times are shifted by that"
        )
        return ahead

    def _ask(self, what: str, **parameters: Any) -> Mapping[str, Any]:
        path = f"{self._fetcher.path.rstrip('/')}/api/v1/{what}?{urlencode(parameters)}"
        text = self._fetcher.get(path, also=EXPLAINED)
        try:
            answer = json.loads(text)
            if answer["status"] == "success":
                data: Mapping[str, Any] = answer["data"]
                return data
            reason = f"{self._expression}: {answer.get('error', answer['status'])}"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ProbeError("its answer is not that of a Prometheus server") from error
        raise ProbeError(reason)

    def _one(self, result: Mapping[str, Any], start: float) -> Series:
        metric: Mapping[str, str] = result.get("metric", {})
        name = metric.get("__name__", "")
        labels = ",".join(f'{key}="{value}"' for key, value in sorted(metric.items()) if key != "__name__")
        points: Sequence[tuple[float, str]] = result.get("values", [])
        return Series(
            self.source,
            f"{name or self._expression}{f'{{{labels}}}' if labels else ''}",
            unit_of(name) if name else "",
            np.array([float(at) - start for at, _ in points]),
            np.array([float(value) for _, value in points]),
        )
