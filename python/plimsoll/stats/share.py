"""The generator's share: how much of a time the generator may have added, and whether that is too little to matter.

Of a percentile it is R - R0, where R is taken of the response times and R0 of what they had been with a generator that
sends on time. The true value is between R0 and R. The kernel stamps the service time, so that has no share.
"""

from __future__ import annotations

CLEAN_PART = 0.05
"""Of a figure: a share that is no larger does not matter."""
CLEAN_MS = 0.1
"""Neither does one of so few ms, however small the figure."""
CLEAN_THROUGHPUT = 0.02
"""Of the time from one request of a user to the next: lag and delay that are no larger cost no throughput that
matters."""


def is_clean(value: float, share: float) -> bool:
    """value, share: in ms."""
    return share <= max(CLEAN_MS, CLEAN_PART * value)
