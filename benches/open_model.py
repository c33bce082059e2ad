"""The open model: are due requests sent on time, and what does that cost?"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .cost import check_count, wait_for_connections, weigh
from .figures import Figures
from .nginx import Nginx
from .process import Measured
from .subjects import Load, PlimsollSubject, class_of, kept, plimsoll_run

WARM_UP_SECONDS = 2
"""Excluded from every figure: connections are opened in this time."""
MARGIN_SECONDS = 1


@dataclass(frozen=True)
class Arrivals(PlimsollSubject):
    """`plimsoll run` at a rate. user: a class of trivial.py; None for native users of the URL."""

    rate: int
    """Per second."""
    user: str | None = None
    shown: tuple[str, ...] = ("--headless",)
    """Options of its page, and of what is observed."""

    def command(self, load: Load) -> list[str]:
        what = class_of(load, "trivial.py", self.user) if self.user else [load.url + load.path]
        length = ["--rate", f"{self.rate}/s", "--warmup", f"{WARM_UP_SECONDS}s"]
        command = plimsoll_run(load, *what, *length, shown=self.shown)
        return [*command, "--summary", str(load.folder / "run.json")]


@dataclass(frozen=True)
class OpenCase:
    subject: Arrivals


@dataclass(frozen=True)
class OpenCost:
    """The result of one run at a rate."""

    lag_p50_ms: float
    """sent - due, of the whole run without its warm-up."""
    lag_p99_ms: float
    lag_max_ms: float
    delay_p99_ms: float
    """read - arrival."""
    achieved: float
    """Requests per second that nginx received in the window, as a share of the rate."""
    cpu_us: float
    """Per request: user and system time, coordinator and worker."""
    workers_us: float
    """The part of it in the worker."""
    others_cpus: float

    @property
    def coordinator_us(self) -> float:
        return self.cpu_us - self.workers_us


def measure_open(nginx: Nginx, case: OpenCase, window: float) -> OpenCost:
    """Run the case once. Raises BenchError if the generator fails, or if not all offered requests reached nginx."""
    subject = case.subject
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        load = Load(nginx.url, "/small", 0, round(window) + MARGIN_SECONDS, Path(folder))
        before = nginx.status().requests
        with Measured(subject.command(load), load.environment) as generator:
            wait_for_connections(nginx, generator, 1)
            time.sleep(WARM_UP_SECONDS)
            cost = weigh(nginx, generator, 1, window)
            generator.finish()
        check_count(subject.name, kept(load), nginx.status().requests - before, 0)
        figures = Figures.read(load.folder / "run.json")
        return OpenCost(
            lag_p50_ms=figures.lag_p50_ms,
            lag_p99_ms=figures.lag_p99_ms,
            lag_max_ms=figures.lag_max_ms,
            delay_p99_ms=figures.delay_p99_ms,
            achieved=cost.requests_per_second / subject.rate,
            cpu_us=cost.cpu_us,
            workers_us=cost.workers_us,
            others_cpus=cost.others_cpus,
        )
