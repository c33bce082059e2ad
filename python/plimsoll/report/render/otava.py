"""A history of runs as CSV, as Apache Otava reads it to find when a figure changed."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plimsoll.report.render.csv_writer import CsvWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.run_summary import RunSummary
    from plimsoll.store import StoredRun

TIMES = ("mean", "p50", "p90", "p95", "p99")
COLUMNS = ("time", "run", "commit", "branch", "name", *(f"{each}_ms" for each in TIMES), "throughput", "error_rate")


def otava_csv(runs: Iterable[tuple[StoredRun, RunSummary]]) -> str:
    """A line for each valid run that has ended, the earliest first. Throughput is in requests per second, the error
    rate from 0 to 1; a time is empty where it is not known, or only known to be at least so long."""
    buffer = io.StringIO()
    writer = CsvWriter(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run, summary in sorted(runs, key=lambda each: each[0].started):
        if run.status not in ("finished", "stopped") or not summary.is_valid or not summary.requests:
            continue
        manifest = run.manifest
        times = [None if each in summary.at_least else summary.times[each] for each in TIMES]
        about = (manifest.get("git") or {}).get("commit"), manifest.get("branch")
        name = (manifest.get("scenario") or {}).get("name")
        moment = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%d %H:%M:%S +0000")
        writer.writerow([moment, run.id, *about, name, *times, summary.rate, summary.fail_ratio])
    return buffer.getvalue()
