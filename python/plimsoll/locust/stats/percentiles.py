"""Percentiles of {response time: requests}."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.report.reporting import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class CachedResponseTimes(NamedTuple):
    """Response times at one moment."""

    response_times: Mapping[float, int]
    num_requests: int
    num_none_requests: int = 0


def calculate_response_time_percentile(response_times: Mapping[float, int], num_requests: int, percent: float) -> float:
    """The time at rank ⌈percent · num_requests⌉ of {time: requests}; percent from 0 to 1. 0 without requests."""
    rank = max(1, math.ceil(num_requests * percent))
    seen = 0
    for time in sorted(response_times):
        seen += response_times[time]
        if seen >= rank:
            return time
    return max(response_times, default=0)


def median_from_dict(total: int, count: Mapping[float, int]) -> float:
    """The median of {time: requests}, which has `total` requests."""
    return calculate_response_time_percentile(count, total, 0.5)


def diff_response_time_dicts(latest: Mapping[float, int], old: Mapping[float, int]) -> dict[float, int]:
    """The additions to {time: requests} since the old one."""
    new = {time: count - old.get(time, 0) for time, count in latest.items()}
    return {time: count for time, count in new.items() if count}


def get_readable_percentiles(percentile_list: Iterable[float]) -> list[str]:
    """0.5 is "50%", 0.999 is "99.9%"."""
    return [readable(each) for each in percentile_list]


def avg(values: Sequence[float]) -> float:
    """The mean; 0 without values."""
    return sum(values, 0.0) / max(len(values), 1)
