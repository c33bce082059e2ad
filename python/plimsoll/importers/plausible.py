"""Detects impossible numbers: from a damaged file, or a file in another format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Measured, Study

MOST_MS = 1e12
"""About thirty years."""
MOST_REQUESTS = 1 << 53
"""Above this, floats cannot represent every integer."""


def check(source: ResultFile, study: Study) -> None:
    """Raises UsageError, which names the row."""
    for trial in study.trials:
        for measured in (*trial.endpoints, *([trial.total] if trial.total is not None else [])):
            for complaint in _complaints(measured):
                raise source.error(None, f"{measured.label or 'all requests'}: {complaint}")


def _complaints(measured: Measured) -> Iterator[str]:
    times = (measured.mean, measured.min, measured.max, measured.mean_success, measured.mean_failure)
    for time in (*times, *measured.quantiles.values()):
        if time is not None and not 0 <= time <= MOST_MS:
            yield f"{time:g} ms is no response time"
    for number, what in ((measured.rate, "requests per second"), (measured.size, "bytes of a reply")):
        if number is not None and not (number >= 0 and math.isfinite(number)):
            yield f"there are no {number:g} {what}"
    for count in (measured.requests, measured.failures, *(kind.count for kind in measured.kinds)):
        if count is not None and not 0 <= count < MOST_REQUESTS:
            yield f"there are no {count} requests"
    if measured.failures is not None and measured.requests is not None and measured.failures > measured.requests:
        yield f"{measured.failures} failures of {measured.requests} requests"
