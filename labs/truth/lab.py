"""One session of the lab: the target, a folder, and runs with the results of both sides."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
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
"""Maximum time for requests in flight at the end of a run. Finished ones are counted on both sides."""


@dataclass(frozen=True)
class Observation:
    """One run, seen from both sides."""

    report: Report
    truth: Truth
    overhead: Overhead
    """The probe's measurements during the run; empty without a probe."""


@dataclass(frozen=True)
class Load:
    """The definition of a run."""

    arguments: Sequence[str]
    """The arguments of `plimsoll run`, without the run time."""
    seconds: float | None
    """Its run time; None if something else ends it."""
    finish: float = FINISH_SECONDS
    interrupt: float | None = None
    """Send Ctrl-C this many seconds after the first request."""
    probe: bool = False
    freeze: tuple[float, float] | None = None
    """Freezes: (every, length) in s, from before the run until after it."""
    stall: float | None = None
    """Accept no connection for this many seconds, one second after the first request."""
    environment: tuple[tuple[str, str], ...] = ()
    has_begun: Callable[[], bool] | None = None
    """Whether the first request has come, of a target of the check's own."""
    may_be_invalid: bool = False
    """Do not repeat an invalid run: another attempt would be a different run."""


@dataclass(frozen=True)
class Lab:
    """The tools of the checks."""

    target: Target
    folder: Path
    quick: bool = False
    """Fewer and shorter runs."""

    def url(self, path: str) -> str:
        return self.target.url + path

    def seconds(self, usual: float, quick: float) -> float:
        return quick if self.quick else usual

    def observe(self, load: Load) -> Observation:
        """Make the run. Repeats an invalid run up to three times in all, then raises NotJudgedError."""
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
                self._wait_for_requests(load)
                time.sleep(1)
                self.target.stall_accepting(load.stall)
            if load.interrupt is not None:
                self._wait_for_requests(load)
                time.sleep(load.interrupt)
                running.interrupt()
            return running.report((load.seconds or load.interrupt or 0) + load.finish)
        finally:
            running.close()

    def _wait_for_requests(self, load: Load) -> None:
        """Wait for the first request, so that a slow start on a busy machine does not count."""
        has_begun = load.has_begun or (lambda: not self.target.truth().paths.keys() <= {KEPT, FRESH})
        deadline = time.monotonic() + 60
        while not has_begun() and time.monotonic() < deadline:
            time.sleep(0.05)


@contextmanager
def open_lab(quick: bool) -> Iterator[Lab]:
    """Start the target; everything ends on exit. Raises TruthError."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-truth-") as folder, running_target() as target:
        yield Lab(target, Path(folder), quick)
