"""Memory per idle user: the growth of a generator from a hundred waiting users to many, divided by their number."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .errors import BenchError
from .nginx import Nginx
from .process import Measured
from .subjects import Load, LocustRun, PlimsollRun

FEW = 100
READY_SECONDS = 120.0
SETTLE_SECONDS = 3.0
RUN_SECONDS = 600
"""Longer than the measurement, which ends the run."""


@dataclass(frozen=True)
class IdleCase:
    """Who waits, and how many."""

    subject: PlimsollRun | LocustRun
    users: int


@dataclass(frozen=True)
class IdleCost:
    """What one waiting user occupies."""

    kib_per_user: float
    """Resident KiB of the generator's processes; what the kernel holds for a socket is not among it."""
    users: int


def measure_idle(nginx: Nginx, case: IdleCase) -> IdleCost:
    """Raises BenchError when the users do not all begin."""
    few, many = (resident_with(nginx, case.subject, users) for users in (FEW, case.users))
    return IdleCost(kib_per_user=(many - few) / (case.users - FEW) / 1024, users=case.users)


def resident_with(nginx: Nginx, subject: PlimsollRun | LocustRun, users: int) -> int:
    """Bytes resident once that many users wait."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        load = Load(nginx.url, "/small", users, RUN_SECONDS, Path(folder))
        ready = load.folder / "ready"
        environment = {"BENCH_USERS": str(users), "BENCH_READY": str(ready)}
        with Measured(subject.command(load), environment) as generator:
            wait_until_ready(ready, generator)
            time.sleep(SETTLE_SECONDS)
            return generator.resident()


def wait_until_ready(ready: Path, generator: Measured) -> None:
    """Until the last user has begun, which the locustfile says with a file."""
    deadline = time.monotonic() + READY_SECONDS
    while not ready.exists():
        generator.tree()  # raises when it has ended
        if time.monotonic() > deadline:
            raise BenchError(f"not all users have begun:\n{generator.output()}")
        time.sleep(0.1)
