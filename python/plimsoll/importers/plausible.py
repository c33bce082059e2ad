"""Detects impossible numbers: from a damaged file, or a file in another format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.record import STREAM_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Measured, Study

_MOST_DOUBTS = 5
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


def doubts(study: Study) -> tuple[str, ...]:
    """Sums in a study that are not those of their parts, as sentences: the file was edited, or one beside it belongs
    to another run."""
    found: list[str] = []
    for trial in study.trials:
        rows = [each for each in trial.endpoints if each.method not in STREAM_ROWS]
        for total in (*rows, *([trial.total] if trial.total is not None else [])):
            kinds = sum(kind.count for kind in total.kinds)
            if total.failures is not None and kinds > total.failures:
                found.append(
                    f"{total.label or 'all requests'}: {kinds} failures by kind, but {total.failures} failures"
                )
        for what in ("requests", "failures"):
            parts, whole = [getattr(each, what) for each in rows], getattr(trial.total, what, None)
            if parts and whole is not None and None not in parts and sum(parts) != whole:
                found.append(f"the {what} of all rows together are {sum(parts)}, but the row of the sum has {whole}")
    return tuple(dict.fromkeys(found))[:_MOST_DOUBTS]


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


def slack_of(*printed: str) -> float:
    """Relative error of a product of numbers that were printed with so many decimals, and 2 % for other reasons."""
    slack = 0.02
    for text in printed:
        decimals = len(text.partition(".")[2])
        slack += 0.5 * 10.0**-decimals / float(text) if float(text) else 1.0
    return slack


def contradiction(stated: tuple[str, float], counted: tuple[str, float], slack: float = 0.0) -> str:
    """Two figures of a file for one number, each with its name, as a sentence if they differ; otherwise "". slack: a
    share of the greater one; with any, a difference of one is none."""
    (name, value), (other_name, other) = stated, counted
    if abs(value - other) <= slack * max(value, other) + (1 if slack else 0):
        return ""
    return f"its numbers contradict each other: {name} is {value:.12g}, but {other_name} is {other:.12g}"


def agree(source: ResultFile, stated: tuple[str, float], counted: tuple[str, float], slack: float = 0.0) -> None:
    """Raises UsageError for a contradiction: the file was edited, or is that of another tool."""
    if why := contradiction(stated, counted, slack):
        raise source.error(None, why)
