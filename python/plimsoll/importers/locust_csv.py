"""Locust's CSV files: `_stats.csv`, and next to it its history, failures and exceptions.

Percentiles above 100 ms have two significant digits, and those of the history are cumulative unless it was written with
`--csv-full-history`: they are not used. The totals of the history are used, second by second.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.importers.cells import TableCell
from plimsoll.importers.one_result import OneHeader
from plimsoll.importers.result_file import ResultFile
from plimsoll.importers.single import study_of_run, whole
from plimsoll.importers.tables.columns import LABELS, columns
from plimsoll.importers.tables.measured import RowValues, measured_of, seconds_of
from plimsoll.stats.study import LOCUST, TOTAL, Course, FailureKind

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.importers.options import ImportOptions
    from plimsoll.stats.study import Measured, Study

MOST_SECONDS = 7 * 86_400
_KNOWN: tuple[set[str], ...] = (
    {"Name", "Request Count", "Failure Count"},
    {"User Count", "Total Request Count"},
    # Until release 0.14.
    {"Name", "# requests", "# failures", "Median response time", "Average Content Size"},
)
_TOTALS = ("Aggregated", "Total")
"""Releases differ in the name, and in whether the row has a type."""
_HTTP = re.compile(r"HTTPError\(['\"]?([1-5]\d\d)")


@dataclass(frozen=True, slots=True)
class _Second:
    """A line of the history: sums since the start of the run."""

    at: int
    """Unix seconds."""
    users: int
    requests: int
    failures: int
    time: float
    """ms, of all requests together."""
    size: float


def is_locust_csv(source: ResultFile) -> bool:
    titles = _first_titles(source)
    return any(known <= titles for known in _KNOWN)


def _first_titles(source: ResultFile) -> set[str]:
    line = source.beginning.partition("\n")[0].strip("\r")
    try:
        return set(next(csv.reader([line]), [])) if "," in line else set()
    except csv.Error:
        return set()


def read_locust_csv(source: ResultFile, options: ImportOptions) -> Study:
    if "User Count" in _first_titles(source):
        other = _beside(source.path, "stats")
        raise source.error(None, f"is the history of a run; import {other.name}, and it is read with it")
    rows = _stats(source)
    kinds = _failures(source)
    history = _history(source)
    seconds = options.duration or seconds_of(list(rows.values()))
    course = {key: _course(lines) for key, lines in history.items()}
    endpoints, total, notes = [], None, []
    for key, values in rows.items():
        measured, note = measured_of(key, values, seconds)
        notes += [note] if note else []
        measured = replace(measured, kinds=tuple(kinds.get(key, ())), course=course.get(key))
        if key == TOTAL:
            total = measured
        else:
            endpoints.append(measured)
    if not endpoints and (total is None or not total.requests):
        raise source.error(None, "holds no requests")
    users, ramp = _users(history.get(TOTAL, []))
    return study_of_run(
        source,
        options,
        users=users,
        seconds=seconds,
        ramp=ramp,
        endpoints=tuple(endpoints),
        total=_with_kinds(total, endpoints),
        precision=LOCUST,
        notes=tuple(dict.fromkeys(notes)),
        warnings=tuple(_exceptions(source)),
    )


def _stats(source: ResultFile) -> dict[tuple[str, str], RowValues]:
    """By endpoint."""
    rows = source.rows()
    _, titles = next(rows)
    known, _ = columns(titles)
    header = OneHeader(source, "Locust", first=1)
    found: dict[tuple[str, str], RowValues] = {}
    for line, row in rows:
        if row == titles:
            header.seen(line)
        if len(row) != len(titles):
            raise source.error(line, f"{len(row)} cells where the header has {len(titles)}")
        labels = dict(zip(titles, row, strict=True))
        key = (labels.get("Type", labels.get("Method", "")), labels["Name"])
        key = TOTAL if key[1] in _TOTALS and key[0].strip() in ("", "None") else key
        values = RowValues()
        for each, text in zip(known, row, strict=True):
            cell = TableCell.of(text)
            if each is None or each.kind in LABELS or each.kind == "other" or cell.kind == "nothing":
                continue
            if cell.kind != "number":
                raise source.error(line, f"{each.kind} of {' '.join(key)}: {text!r} is no number")
            values.by_measure[each.measure], values.decimals[each.measure] = cell.value, cell.decimals
        found[key] = values
    return found


def _beside(path: Path, what: str) -> Path:
    stem = re.sub(r"_?stats(?:_history)?$", "", path.stem)
    return path.with_name(f"{stem}_{what}.csv" if stem else f"{what}.csv")


def _dicts(source: ResultFile, what: str) -> list[tuple[ResultFile, int, dict[str, str]]]:
    """(file, line, row by title) of a file next to it; empty without one."""
    path = _beside(source.path, what)
    if not path.is_file() or path == source.path:
        return []
    beside = ResultFile(path)
    rows = beside.rows()
    _, titles = next(rows, (0, []))
    return [(beside, line, dict(zip(titles, cells, strict=False))) for line, cells in rows]


def _failures(source: ResultFile) -> dict[tuple[str, str], list[FailureKind]]:
    kinds: dict[tuple[str, str], list[FailureKind]] = defaultdict(list)
    for beside, line, row in _dicts(source, "failures"):
        status = _HTTP.search(row.get("Error", ""))
        count = whole(beside, line, row.get("Occurrences"), "Occurrences")
        kinds[row.get("Method", ""), row.get("Name", "")].append(
            FailureKind("http" if status else "other", row.get("Error", ""), count, int(status[1]) if status else None)
        )
    return kinds


def _with_kinds(total: Measured | None, endpoints: list[Measured]) -> Measured | None:
    return None if total is None else replace(total, kinds=tuple(kind for each in endpoints for kind in each.kinds))


def _exceptions(source: ResultFile) -> list[str]:
    return [
        f"{row.get('Count', '?')} times the locustfile raised: {row.get('Message', '')}"
        for _, _, row in _dicts(source, "exceptions")
    ]


def _history(source: ResultFile) -> dict[tuple[str, str], list[_Second]]:
    found: dict[tuple[str, str], list[_Second]] = defaultdict(list)
    for beside, line, row in _dicts(source, "stats_history"):
        if row.get("Total Request Count", "N/A") == "N/A":
            continue

        def value(title: str, row: dict[str, str] = row, beside: ResultFile = beside, line: int = line) -> float:
            cell = TableCell.of(row.get(title, ""))
            if cell.kind not in ("number", "nothing"):
                raise beside.error(line, f"{title}: {row.get(title)!r} is no number")
            return cell.value

        requests = int(value("Total Request Count"))
        found[row.get("Type", ""), row.get("Name", "")].append(
            _Second(
                int(value("Timestamp")),
                int(value("User Count")),
                requests,
                int(value("Total Failure Count")),
                requests * value("Total Average Response Time"),
                requests * value("Total Average Content Size"),
            )
        )
    return found


def _course(lines: list[_Second]) -> Course | None:
    """Differences between the sums of consecutive seconds; None if some seconds are missing."""
    lines = sorted(lines, key=lambda each: each.at)
    length = lines[-1].at - lines[0].at + 1 if lines else 0
    if length < 2 or length > MOST_SECONDS or len({each.at for each in lines}) < 0.8 * length:
        return None
    requests, failures = np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.int64)
    means, sizes = np.full(length, np.nan), np.full(length, np.nan)
    before = _Second(0, 0, 0, 0, 0.0, 0.0)
    for each in lines:
        if each.requests < before.requests:  # statistics were reset
            before = _Second(0, 0, 0, 0, 0.0, 0.0)
        at, more = each.at - lines[0].at, each.requests - before.requests
        if more > 0:
            known = requests[at]
            requests[at] += more
            failures[at] += max(0, each.failures - before.failures)
            for into, now, then in ((means, each.time, before.time), (sizes, each.size, before.size)):
                # Sums of rounded means may be slightly below those of the second before.
                earlier = into[at] * known if known else 0.0
                into[at] = (earlier + max(0.0, now - then)) / requests[at]
        before = each
    return Course(requests, failures, means, np.full(length, np.nan), sizes, (None,) * length)


def _users(lines: list[_Second]) -> tuple[float | None, float]:
    """(most users, seconds until that number was reached)."""
    most = max((each.users for each in lines), default=0)
    if not most:
        return None, 0.0
    first = min(each.at for each in lines)
    return float(most), float(next(each.at for each in lines if each.users == most) - first)
