"""Does the memory of a long run grow? `python -m benches.soak [--minutes 30] [--rate 20000] [--user TrivialFast]
[--with page new-labels …]`

Native users in the open model against nginx, or Python users of a class of trivial.py. Samples the memory of
coordinator and worker every ten seconds. The result is the slope after the first fifth; the limit is 1 MB/h. Prints a
table and writes benches/results/soak-<time>.json. The exit status is 1 if a process grows faster, or the run failed.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from . import machine
from .cost import check_count, wait_for_connections
from .errors import BenchError
from .figures import Figures
from .nginx import Nginx, running_nginx
from .open_model import Arrivals
from .process import SERVER_CPU, Measured
from .results import FOLDER
from .soak_extras import EXTRAS, options_of, path_of
from .subjects import Load, kept
from .table import table
from .trend import Trend, trend

SCHEMA = "plimsoll.soak/1"
EVERY_SECONDS = 10.0
LAST_SECONDS = 5.0
"""The run lasts this much longer than the last sample, so that no sample includes its end."""


@dataclass(frozen=True)
class Sample:
    """One process at one moment. Bytes."""

    process: str
    seconds: float
    """Since the first sample."""
    rss: int
    """Resident."""
    uss: int
    """The part of it that no other process shares. It also changes when other processes that share a library start or
    end."""


@dataclass(frozen=True)
class Growth:
    """One process over the whole run."""

    process: str
    kind: str
    """rss or uss."""
    first_mb: float
    last_mb: float
    trend: Trend | None

    @property
    def verdict(self) -> str:
        """Decided by resident memory. Unshared memory depends on other processes, and is only shown."""
        if self.kind != "rss":
            return "–"
        return self.trend.verdict if self.trend else "too short"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long; 30 by default")
    parser.add_argument("--rate", type=int, default=20_000, help="arrivals per second; 20000 by default")
    parser.add_argument("--user", help="a class of benches/locustfiles/trivial.py; without it native users")
    extras = "; ".join(f"{name}: {each}" for name, each in EXTRAS.items())
    parser.add_argument("--with", dest="extras", nargs="*", choices=EXTRAS, default=[], help=f"{extras}; native users")
    arguments = parser.parse_args()
    if arguments.extras and arguments.user:
        parser.error("--with goes with native users: leave --user out")
    os.sched_setaffinity(0, {SERVER_CPU})
    started = datetime.now().isoformat(timespec="seconds")
    try:
        with running_nginx() as nginx:
            samples, figures = soak(nginx, arguments.rate, arguments.minutes * 60, arguments.user, arguments.extras)
    except BenchError as error:
        sys.exit(f"benches: {error}")
    growths = list(growth(samples))
    print(render(growths, figures))
    path = FOLDER / f"soak-{started.replace(':', '')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"started": started, **vars(arguments)}
    path.write_text(json.dumps(document(about, samples, growths, figures), indent=1) + "\n")
    print(f"written to {path}")
    return int(any(each.verdict == "GROWS" for each in growths))


def soak(
    nginx: Nginx, rate: int, seconds: float, user: str | None = None, extras: Sequence[str] = ()
) -> tuple[list[Sample], Figures]:
    """Run for this many seconds. Raises BenchError if the run ends early, fails, or its count differs from nginx's."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-soak-") as folder, options_of(extras) as options:
        subject = Arrivals(f"plimsoll run {user or 'URL'} at {rate}/s", rate, user, tuple(options))
        load = Load(nginx.url, path_of(extras), 0, round(seconds + LAST_SECONDS), Path(folder))
        before = nginx.status().requests
        with Measured(subject.command(load), load.environment) as generator:
            wait_for_connections(nginx, generator, 1)
            samples = list(watch(generator, seconds))
            generator.finish()
        check_count(subject.name, kept(load), nginx.status().requests - before, 0)
        return samples, Figures.read(load.folder / "run.json")


def watch(generator: Measured, seconds: float, every: float = EVERY_SECONDS) -> Iterator[Sample]:
    """Sample all its processes regularly for `seconds`. Raises BenchError if it ends before."""
    start = time.monotonic()
    for turn in range(int(seconds / every) + 1):
        time.sleep(max(0.0, start + turn * every - time.monotonic()))
        now = time.monotonic() - start
        for place, process in enumerate(generator.tree()):
            name = f"worker {place}" if place else "coordinator"
            try:
                memory = process.memory_full_info()
            except psutil.NoSuchProcess:
                raise BenchError(f"{name} has ended:\n{generator.output()}") from None
            yield Sample(name, now, memory.rss, memory.uss)


def growth(samples: list[Sample]) -> Iterator[Growth]:
    """Process by process, resident memory first."""
    for process in dict.fromkeys(sample.process for sample in samples):
        own = [sample for sample in samples if sample.process == process]
        seconds = [sample.seconds for sample in own]
        for kind in ("rss", "uss"):
            sizes = [getattr(sample, kind) for sample in own]
            yield Growth(process, kind, sizes[0] / 2**20, sizes[-1] / 2**20, trend(seconds, sizes))


def render(growths: list[Growth], figures: Figures) -> str:
    head = ("process", "memory", "first MiB", "last MiB", "MiB/h", "95 % from", "to", "verdict (1 MiB/h)")
    lag = f"lag p99 {figures.lag_p99_ms:.3f} ms, max {figures.lag_max_ms:.1f} ms"
    return (
        f"{table(head, map(row, growths), words=2)}\n\n{figures.sent:,} of {figures.offered:,} arrivals sent; {lag}\n"
    )


def row(growth: Growth) -> tuple[str, ...]:
    slope = growth.trend
    rates = [f"{each:+.2f}" for each in (slope.slope, slope.low, slope.high)] if slope else ["–"] * 3
    return growth.process, growth.kind, f"{growth.first_mb:.1f}", f"{growth.last_mb:.1f}", *rates, growth.verdict


def document(
    about: dict[str, object], samples: list[Sample], growths: list[Growth], figures: Figures
) -> dict[str, Any]:
    """Everything, as JSON."""
    return {
        "schema": SCHEMA,
        **about,
        "machine": machine.facts(),
        "growth": [asdict(each) | {"verdict": each.verdict} for each in growths],
        "figures": asdict(figures),
        "samples": [asdict(each) for each in samples],
    }


if __name__ == "__main__":
    sys.exit(main())
