"""How a run wants to be reported: what a locustfile may set in `locust.stats`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from plimsoll.stats.latency.milliseconds import Latency

PERCENTILES = (0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999, 1.0)
"""Of Locust's CSV files, from 0 to 1."""
SHARE = 0.2
"""The largest share of a run's time that is spent on tables of all endpoints. There may be thousands of rows, and the
process that writes them also serves the workers."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """The defaults are Locust's."""

    console_interval: float = 2.0
    """Seconds between two tables where no terminal is; ≥ 0."""
    csv_interval: float = 1.0
    """Seconds between two lines of the CSV history; ≥ 0."""
    name_width: int | None = None
    """Characters for the name of an endpoint in these tables; None: as many as fit."""
    percentiles: tuple[float, ...] = PERCENTILES
    """Of the CSV files, from 0 to 1."""

    @classmethod
    def from_dict(cls, wanted: Mapping[str, Any]) -> Self:
        """Whatever cannot be is left as it is by default: these are user code's, and no reason to end a run."""
        fine = {name: value for name, value in wanted.items() if name in _CHECKS and _CHECKS[name](value)}
        if "percentiles" in fine:
            fine["percentiles"] = tuple(fine["percentiles"])
        return cls(**fine)


def times_of_responses(latency: Latency) -> tuple[float | None, ...]:
    """Median, mean, minimum and maximum of the responses that came, in ms, as Locust's tables have them."""
    return (*latency.values((0.5,)), latency.mean_of_responses, *latency.extremes)


def readable(quantile: float) -> str:
    """0.5 is 50%, 0.999 is 99.9%."""
    return f"{round(100 * quantile, 6):g}%"


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < math.inf


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "console_interval": _is_seconds,
    "csv_interval": _is_seconds,
    "name_width": lambda value: isinstance(value, int) and value > 0,
    "percentiles": lambda values: (
        isinstance(values, list | tuple) and all(isinstance(q, int | float) and 0 <= q <= 1 for q in values)
    ),
}
