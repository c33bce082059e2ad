"""The metrics of a study: a percentile, the mean, the maximum, the throughput or the share of errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from plimsoll.errors import UsageError
from plimsoll.stats.latency.censored import Survival

if TYPE_CHECKING:
    from plimsoll.stats.study import Measured

MetricKind = Literal["quantile", "mean", "max", "throughput", "errors"]

DELTA = 0.05
"""The smallest relevant relative difference, unless the study has another."""

_METRIC = re.compile(
    r"(?:p(?P<percent>\d{1,2}(?:\.\d+)?)|(?P<name>median|mean|max|throughput|errors))(?:\s+of\s+(?P<endpoint>.+))?"
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A compared value: "p99", "mean", "throughput", "errors", of each endpoint or of the named one."""

    kind: MetricKind
    quantile: float | None = None
    endpoint: str | None = None
    """Its label or name, e.g. "GET /todos/" or "/todos/"; "Aggregated" is all of them together; None: each."""
    delta: float = DELTA
    """The smallest relevant relative difference."""

    @classmethod
    def parse(cls, text: str, delta: float = DELTA) -> Metric:
        """Raises UsageError, which lists the metrics."""
        found = _METRIC.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                f"{text!r} is no metric: p50, p99, p99.9, median, mean, max, throughput or errors, "
                "perhaps followed by `of GET /path`"
            )
        name, endpoint = found["name"], found["endpoint"]
        if found["percent"] is not None:
            percent = float(found["percent"])
            if not percent:
                raise UsageError(f"{text!r} is no metric: a percentile is above 0")
            return cls("quantile", percent / 100, endpoint, delta)
        if name == "median":
            return cls("quantile", 0.5, endpoint, delta)
        return cls(cast("MetricKind", name), None, endpoint, delta)

    @property
    def text(self) -> str:
        return f"p{self.quantile * 100:.10g}" if self.quantile is not None else self.kind

    @property
    def unit(self) -> str:
        return {"throughput": "/s", "errors": ""}.get(self.kind, "ms")

    @property
    def more_is_better(self) -> bool:
        return self.kind == "throughput"

    def is_same(self, other: Metric) -> bool:
        """Whether both compare the same number, for any endpoint and difference."""
        return (self.kind, self.quantile) == (other.kind, other.quantile)

    def is_about(self, endpoint: tuple[str, str]) -> bool:
        """endpoint: method and name."""
        return self.endpoint in (None, endpoint[1], " ".join(filter(None, endpoint)))

    def of(self, measured: Measured) -> float | None:
        """throughput: successful requests per second. errors: the share of requests that failed."""
        if self.quantile is not None:
            return measured.quantile(self.quantile)
        if self.kind == "throughput":
            return measured.successes_per_s
        if self.kind == "errors":
            known = measured.failures is not None and measured.requests
            return measured.failures / measured.requests if known else None  # type: ignore[operator]
        return measured.mean if self.kind == "mean" else measured.max

    def share_of(self, measured: Measured) -> float:
        """ms of the time that the generator may have added; 0 if it is no time, or unknown."""
        on_time = measured.service if measured.on_time is None else measured.on_time
        if self.unit != "ms" or measured.histogram is None or on_time is None:
            return 0.0
        if self.kind == "mean":
            return max(0.0, measured.histogram.mean - on_time.mean) / 1000
        quantile = 1.0 if self.quantile is None else self.quantile
        if measured.waits is not None:
            found = (
                Survival.of(times, measured.waits).quantiles((quantile,)) for times in (measured.histogram, on_time)
            )
            (value, _), (known, _) = (each[0] for each in found)
            return max(0, value - known) / 1000
        return max(0, measured.histogram.value_at(quantile) - on_time.value_at(quantile)) / 1000


DEFAULT_METRICS = (Metric("quantile", 0.5), Metric("quantile", 0.95), Metric("quantile", 0.99))
