"""One session of the lab: the target, a folder, and runs whose account and the target's are taken together."""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import NotJudgedError
from .plimsoll_run import Report, Running
from .probe import FRESH, KEPT, Probe
from .target_process import Target, Truth, running_target
from .tolerance import Overhead

TRIES = 3
FINISH_SECONDS = 10.0
"""How long requests in flight at the end of a run may take: what is finished is counted on both sides."""


@dataclass(frozen=True)
class Observation:
    """One run, seen from both sides."""

    report: Report
    truth: Truth
    overhead: Overhead
    """Of the probe, which ran meanwhile; empty when there was none."""


@dataclass(frozen=True)
class Load:
    """One run to make."""

    arguments: Sequence[str]
    """As after `plimsoll run`, without its length."""
    seconds: float | None
    """Its run time; None when something else ends it."""
    finish: float = FINISH_SECONDS
    interrupt: float | None = None
    """Press Ctrl-C after so many seconds of requests."""
    probe: bool = False
    freeze: tuple[float, float] | None = None
    """(every, length) in s, from before the run to after it."""
    stall: float | None = None
    """Have no connection accepted for so many seconds, a second after the first request."""
    environment: tuple[tuple[str, str], ...] = ()
    may_be_invalid: bool = False
    """Take it as it is: another try would not be another run."""


@dataclass(frozen=True)
class Lab:
    """What the checks work with."""

    target: Target
    folder: Path
    quick: bool = False
    """Shorter runs, and fewer of them."""

    def url(self, path: str) -> str:
        return self.target.url + path

    def seconds(self, usual: float, quick: float) -> float:
        return quick if self.quick else usual

    def observe(self, load: Load) -> Observation:
        """Make the run; again, up to three times in all, while it calls itself invalid. Raises NotJudgedError then."""
        reasons: list[str] = []
        for _ in range(TRIES):
            observation = self._observe_once(load)
            invalid = observation.report.invalid
            if invalid is None or load.may_be_invalid:
                return observation
            print(f"  invalid: {invalid}", file=sys.stderr)
            reasons.append(invalid)
        raise NotJudgedError(f"{TRIES} invalid runs, the last by {reasons[-1]}")

    def _observe_once(self, load: Load) -> Observation:
        self.target.reset()
        if load.freeze:
            self.target.freeze(*load.freeze)
        try:
            if not load.probe:
                report = self._run(load)
                return Observation(report, self.target.truth(), Overhead([], []))
            with Probe(self.target) as probe:
                report = self._run(load)
        finally:
            if load.freeze:
                self.target.freeze(1, 0)
        truth = self.target.truth()
        return Observation(report, truth, probe.overhead(truth))

    def _run(self, load: Load) -> Report:
        arguments = [*load.arguments, "-s", f"{load.finish:g}s"]
        if load.seconds is not None:
            arguments += ["-t", f"{load.seconds:g}s"]
        running = Running(arguments, self.folder, dict(load.environment))
        try:
            if load.stall is not None:
                self._wait_for_requests()
                time.sleep(1)
                self.target.stall_accepting(load.stall)
            if load.interrupt is not None:
                self._wait_for_requests()
                time.sleep(load.interrupt)
                running.interrupt()
            return running.report((load.seconds or load.interrupt or 0) + load.finish)
        finally:
            running.close()

    def _wait_for_requests(self) -> None:
        """Until the run has asked for something, so that a busy machine's slow start is no part of it."""
        deadline = time.monotonic() + 60
        while self.target.truth().paths.keys() <= {KEPT, FRESH} and time.monotonic() < deadline:
            time.sleep(0.05)


@contextmanager
def open_lab(quick: bool) -> Iterator[Lab]:
    """Start the target; everything ends on leaving. Raises TruthError."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-truth-") as folder, running_target() as target:
        yield Lab(target, Path(folder), quick)
