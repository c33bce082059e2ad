"""Very many users at a modest rate: the memory of each, and whether any of them fails."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .cost import check_count, wait_for_connections, weigh
from .figures import Figures
from .files import processes_for
from .nginx import OWN_ADDRESS, running_nginx
from .process import END_SECONDS, Measured
from .sources import sources
from .subjects import Load, PlimsollSubject, class_of, kept, plimsoll_run

RATE = 2_000
"""Requests per second, over all users."""
FEW = 100
START_SECONDS = 30.0
"""Maximum wait for the first users, and additional wait after the planned start of the others."""
SETTLE_SECONDS = 3.0
MARGIN_SECONDS = 7.0
CLOSED_PER_SECOND = 20_000
"""Connections that generator and target close, at least."""
PLAN = """
target = "{url}"
think = "{wait}s"

[request]
get = "/small"
"""


@dataclass(frozen=True)
class Paced(PlimsollSubject):
    """`plimsoll run` with users that start at RATE/s, and wait until all others have had their turn.

    So the rate is the same from the first second on. user: a class of paced.py; None for the native users of a plan.
    """

    user: str | None

    def command(self, load: Load) -> list[str]:
        """A failed request does not fail the run: it is counted."""
        return plimsoll_run(
            load, *self._what(load), "-u", str(load.users), "-r", str(RATE), "--summary", str(json_file(load)),
            "--exit-code-on-error", "0", "--processes", str(processes_for(load.users)),
        )  # fmt: skip

    def environment(self, load: Load) -> dict[str, str]:
        return load.environment | {"BENCH_WAIT": str(wait(load.users))}

    def _what(self, load: Load) -> list[str]:
        if self.user:
            return class_of(load, "paced.py", self.user)
        plan = load.folder / "paced.toml"
        plan.write_text(PLAN.format(url=load.url, wait=wait(load.users)))
        return [str(plan), "--headless"]


@dataclass(frozen=True)
class ScaleCase:
    subject: Paced
    users: int


@dataclass(frozen=True)
class ScaleCost:
    """The cost of this many users."""

    kib_per_user: float
    """Growth of resident KiB, all processes of the generator, from the first hundred users to all of them,
    without the kernel's memory for sockets."""
    resident_mb: float
    """Total resident memory at the end of the window, in MiB."""
    cpu_us: float
    """Per request. At this low rate most of it is the fixed cost per second, and the timers of so many clients."""
    requests_per_second: float
    errors: int
    sources: int
    """Source addresses of the connections."""
    lag_p99_ms: float
    others_cpus: float


def wait(users: int) -> float:
    """Seconds between two requests of a user."""
    return users / RATE


def json_file(load: Load) -> Path:
    return load.folder / "run.json"


def measure_scale(case: ScaleCase, window: float) -> ScaleCost:
    """Runs once, with an nginx for this many connections. Raises BenchError."""
    coming = wait(case.users)
    seconds = round(coming + SETTLE_SECONDS + window + MARGIN_SECONDS)
    with running_nginx(case.users + FEW) as nginx, tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        load = Load(nginx.url, "/small", case.users, seconds, Path(folder))
        before = nginx.status().requests
        with Measured(case.subject.command(load), case.subject.environment(load)) as generator:
            wait_for_connections(nginx, generator, FEW, START_SECONDS)
            few, there = generator.resident(), nginx.status().connections
            wait_for_connections(nginx, generator, case.users, coming + START_SECONDS)
            time.sleep(SETTLE_SECONDS)
            cost = weigh(nginx, generator, case.users, window)
            many, addresses = generator.resident(), sources(nginx.port) - {OWN_ADDRESS}
            generator.finish(END_SECONDS + case.users / CLOSED_PER_SECOND)
        check_count(case.subject.name, kept(load), nginx.status().requests - before, case.users)
        figures = Figures.read(json_file(load))
        return ScaleCost(
            kib_per_user=(many - few) / (case.users - there) / 1024,
            resident_mb=many / 2**20,
            cpu_us=cost.cpu_us,
            requests_per_second=cost.requests_per_second,
            errors=figures.failures,
            sources=len(addresses),
            lag_p99_ms=figures.lag_p99_ms,
            others_cpus=cost.others_cpus,
        )
