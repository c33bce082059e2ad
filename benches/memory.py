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
"""Longer than the measurement, which stops the run."""


@dataclass(frozen=True)
class IdleCase:
    """The generator and its number of waiting users."""

    subject: PlimsollRun | LocustRun
    users: int


@dataclass(frozen=True)
class IdleCost:
    """Memory per waiting user."""

    kib_per_user: float
    """Resident KiB of the generator's processes, without the kernel's memory for sockets."""
    users: int


def measure_idle(nginx: Nginx, case: IdleCase) -> IdleCost:
    """Raises BenchError if not all users start."""
    few, many = (resident_with(nginx, case.subject, users) for users in (FEW, case.users))
    return IdleCost(kib_per_user=(many - few) / (case.users - FEW) / 1024, users=case.users)


def resident_with(nginx: Nginx, subject: PlimsollRun | LocustRun, users: int) -> int:
    """Resident bytes while that many users wait."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        load = Load(nginx.url, "/small", users, RUN_SECONDS, Path(folder))
        ready = load.folder / "ready"
        environment = {"BENCH_USERS": str(users), "BENCH_READY": str(ready)}
        with Measured(subject.command(load), environment) as generator:
            wait_until_ready(ready, generator)
            time.sleep(SETTLE_SECONDS)
            return generator.resident()


def wait_until_ready(ready: Path, generator: Measured) -> None:
    """Wait until the last user has started: the locustfile then creates a file."""
    deadline = time.monotonic() + READY_SECONDS
    while not ready.exists():
        generator.tree()  # raises if it has ended
        if time.monotonic() > deadline:
            raise BenchError(f"not all users have begun:\n{generator.output()}")
        time.sleep(0.1)
