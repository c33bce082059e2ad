"""The time of a report and an export of a long run: `python -m benches.reports [--seconds 3600] [--endpoints 20]`

Creates a store with one run, with different times for each second of each endpoint, and measures whole commands: the
time to the first byte of output, the total time, and the peak memory. The exit status is 1 if one fails.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from plimsoll._engine import Histogram
from plimsoll.record import Health, Interval
from plimsoll.record.facts import RecordedRows, RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

from .errors import BenchError
from .subjects import PLIMSOLL
from .table import table

REQUESTS = 100
"""Requests of an endpoint per second."""
PATTERNS = 500
"""Number of different seconds, in random order."""
STARTED = 1_795_176_000.0
COMMANDS = {
    "report --format html": ("report", "last", "--format", "html", "-o", "-"),
    "export, a line per second": ("export", "last", "--format", "seconds.csv", "-o", "-"),
    "export, Locust's history": ("export", "last", "--format", "locust-full-history.csv", "-o", "-"),
    "show": ("show", "last"),
}


def make_store(path: str, seconds: int, endpoints: int) -> None:
    chance = random.Random(1)
    patterns = [_times(chance) for _ in range(PATTERNS)]
    names = [f"/endpoint/{number}" for number in range(endpoints)]
    with Store.open(path) as store:
        manifest = {
            "started": STARTED,
            "users": 50,
            "model": "closed",
            "users_kind": "python",
            "host": "http://127.0.0.1",
        }
        writer = store.start_run(Manifest.from_json(manifest))
        for second in range(seconds):
            intervals = [_interval(second, name, chance.choice(patterns)) for name in names]
            writer.commit(intervals, [Health(worker=0, second=second, users=50)])
        recorded = RecordedRows(exchanges=seconds * endpoints * REQUESTS, reports=seconds)
        writer.finish(
            "finished",
            STARTED + seconds,
            facts=RunFacts(lost_workers=0, clock_step_ms=0.0, recorded=recorded),
        )


def _times(chance: random.Random) -> tuple[Histogram, int, int, int]:
    """(histogram in µs; sum, least and most in ns)"""
    times = [round(chance.lognormvariate(3.0, 0.6) * 1000) for _ in range(REQUESTS)]
    histogram = Histogram()
    for each in times:
        histogram.record(each)
    return histogram, sum(times) * 1000, min(times) * 1000, max(times) * 1000


def _interval(second: int, name: str, times: tuple[Histogram, int, int, int]) -> Interval:
    histogram, total, least, most = times
    return Interval(
        second, "GET", name, "success", count=REQUESTS, bytes_in=50_000, bytes_body=40_000, response_sum=total,
        response_min=least, response_max=most, service_sum=total, response=histogram, service=histogram,
    )  # fmt: skip


def measure(store: str, arguments: tuple[str, ...]) -> tuple[float, float, float, int]:
    """(s to the first byte, s, MiB at the peak, bytes)"""
    began = time.monotonic()
    process = subprocess.Popen([str(PLIMSOLL), *arguments, "--store", store], stdout=subprocess.PIPE)
    assert process.stdout is not None
    size = len(process.stdout.read(1))
    first = time.monotonic() - began
    while piece := process.stdout.read(1 << 20):
        size += len(piece)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise BenchError(f"plimsoll {' '.join(arguments)}: exit status {process.returncode}")
    return first, time.monotonic() - began, usage.ru_maxrss / 1024, size


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.reports", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--endpoints", type=int, default=20)
    parser.add_argument("--store", help="keep the store here, or take the one that is there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-reports-") as folder:
        store = arguments.store or str(Path(folder) / "long.db")
        if not Path(store).exists():
            make_store(store, arguments.seconds, arguments.endpoints)
        rows: list[tuple[str, ...]] = []
        for name, words in COMMANDS.items():
            first, whole, peak, size = measure(store, words)
            rows.append((name, f"{first:.2f} s", f"{whole:.2f} s", f"{peak:.0f} MiB", f"{size / 1e6:.1f} MB"))
        print(table(["command", "first byte", "whole", "memory", "size"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
