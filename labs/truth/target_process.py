"""Starts the target, and reads its own record."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import TruthError

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "plimsoll-truth"
CONTROL_SECONDS = 30.0
"""A control request may wait for the end of a freeze, and the record may be large."""


@dataclass(frozen=True)
class PathTruth:
    """The target's record of one path with its query."""

    received: int
    replied: int
    """Responses whose last byte was passed to the kernel."""
    reset: int
    """Responses that ended in a reset, on request."""
    cut: int
    """Responses whose client closed before their end."""
    cookies: int
    """Requests with a cookie."""
    arrivals: list[int] = field(repr=False)
    """ns on CLOCK_MONOTONIC, in the order of receipt."""
    times: list[int | None] = field(repr=False)
    """ns from arrival to the time before the last write of the response; None without one."""

    def seconds(self) -> list[float]:
        """The response times, ascending, in s."""
        return sorted(each / 1e9 for each in self.times if each is not None)

    def completions(self) -> list[float]:
        """When each response was complete, ascending, in s."""
        pairs = zip(self.arrivals, self.times, strict=True)
        return sorted((arrival + time) / 1e9 for arrival, time in pairs if time is not None)


NOTHING = PathTruth(0, 0, 0, 0, 0, [], [])


@dataclass(frozen=True)
class Truth:
    """The target's record since its last reset."""

    paths: dict[str, PathTruth]
    connections: list[int]
    """Requests on each connection with at least one."""
    kernel_stamps: int
    user_stamps: int
    stamp_error: float
    """Maximum error of an arrival on the monotonic clock, s."""
    partial: int
    """Connections that ended in the middle of a request."""
    refused: int
    """Requests that were not HTTP."""
    freezes: list[tuple[float, float]]
    """Begin and end of each, in s on the monotonic clock."""

    @classmethod
    def of(cls, document: dict[str, Any]) -> "Truth":
        """Raises TruthError for an incomplete record."""
        if any(path["not_kept"] for path in document["paths"].values()):
            raise TruthError("more requests of one path than the target keeps the times of: shorten the run")
        names = ("received", "replied", "reset", "cut", "cookies")
        return cls(
            {
                target: PathTruth(
                    **{name: path[name] for name in names}, arrivals=path["arrivals_ns"], times=path["times_ns"]
                )
                for target, path in document["paths"].items()
            },
            document["connections"],
            document["stamps"]["kernel"],
            document["stamps"]["user"],
            document["stamps"]["error_ns"] / 1e9,
            document["partial"],
            document["refused"],
            [(begin / 1e9, end / 1e9) for begin, end in document["freezes_ns"]],
        )

    def path(self, target: str) -> PathTruth:
        return self.paths.get(target, NOTHING)


@dataclass(frozen=True)
class Target:
    """The running target."""

    url: str
    """http://127.0.0.1:PORT"""
    pid: int = 0

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def truth(self) -> Truth:
        return Truth.of(json.loads(self._ask("GET", "/truth")))

    def reset(self) -> None:
        """Start a new record, and reset every seed."""
        self._ask("POST", "/truth/reset")

    def freeze(self, every: float, length: float) -> None:
        """From now on, freeze for the last `length` of every `every` seconds; length 0 ends it."""
        self._ask("POST", f"/freeze?every={every:g}&for={length:g}")

    def stall_accepting(self, seconds: float) -> None:
        """Accept no connection for this long."""
        self._ask("POST", f"/accept-stall?for={seconds:g}")

    def _ask(self, method: str, path: str) -> bytes:
        request = urllib.request.Request(self.url + path, method=method)
        with urllib.request.urlopen(request, timeout=CONTROL_SECONDS) as reply:
            return bytes(reply.read())


@contextmanager
def running_target() -> Iterator[Target]:
    """Start the target on a free port. It ends on exit, and also if this process is killed, because it watches its
    standard input. Raises TruthError if it is not built or does not start."""
    if not BUILT.exists():
        raise TruthError(f"{BUILT} is not built (cargo build --release -p plimsoll-truth)")
    process = subprocess.Popen([BUILT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            words = process.stdout.readline().split()
            if not words:
                raise TruthError("the target did not start; its own words are above")
            yield Target(f"http://{words[-1].decode()}", process.pid)
        finally:
            process.stdin.close()
            try:
                process.wait(CONTROL_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
