"""A run, its processes and its environment."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from labs.truth.plimsoll_run import PLIMSOLL

from .output import Output
from .protocols import TrialTarget
from .system_calls import Switch
from .trial import Trial

MARK = "PLIMSOLL_ROBUSTNESS"
"""An environment variable that identifies the processes of a run, even if their parent has changed."""
SAMPLE_S = 0.1
GRACE_S = 40.0
"""How long a command may run after its load before the trial ends."""
LEFT_S = 10.0
"""How long processes may outlive the command."""


@dataclass
class Observation:
    """The results of a run."""

    exit_code: int | None
    """None: it did not end."""
    words: str
    """Its standard output and errors."""
    report: dict[str, Any] | None
    """From `--summary`."""
    stored: dict[str, Any] | None
    """From `plimsoll show last --json`."""
    show_words: str
    """That command's standard error."""
    arrivals: list[float] = field(repr=False)
    """When the target received requests: s on the monotonic clock, ascending."""
    moment: float
    """Of the disturbance: s on the monotonic clock."""
    left: list[int]
    """Processes that outlived the run."""
    peak_bytes: int
    """The largest resident set of one process."""
    stall: float
    """The longest time, s, for which this machine stopped the lab."""
    applied: int
    """System calls that failed."""


class Scene:
    """One run from its start to its end. Disturbances act on it."""

    def __init__(self, trial: Trial, target: TrialTarget, folder: Path) -> None:
        self.trial, self.target, self._folder = trial, target, folder
        self.store, self._report, self._errors = folder / "runs.db", folder / "run.json", folder / "errors"
        self.output, self.switch = Output(), Switch(folder / "switch")
        self._mark = f"{os.getpid()}-{trial.seed}-{time.monotonic_ns()}"
        command = [str(PLIMSOLL), "run", *trial.arguments(target.place, folder), "--headless"]
        command += ["--summary", str(self._report), "--store", str(self.store)]
        env = os.environ | {MARK: self._mark}
        if name := trial.disturbance.system_calls:
            env |= self.switch.environment(name, trial.seed)
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdout=self.output.writing, stderr=errors, stdin=subprocess.DEVNULL, cwd=folder, env=env
            )
        self.output.start()
        self.coordinator = self._process.pid
        self._peak, self._stall, self._ended = 0, 0.0, threading.Event()
        self._watch = threading.Thread(target=self._sample)
        self._watch.start()

    def workers(self) -> list[int]:
        return sorted(pid for pid in self._pids() if pid != self.coordinator)

    def files_of(self, process: int) -> int:
        """All descriptors from this number on are closed."""
        return max(int(each.name) for each in Path(f"/proc/{process}/fd").iterdir()) + 1

    def signal(self, process: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)

    def wait_for_load(self) -> float:
        """The arrival of the first request, s on the monotonic clock. Raises TimeoutError."""
        deadline = time.monotonic() + GRACE_S
        while not (arrivals := self.target.arrivals()):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise TimeoutError(f"no load: {self._errors.read_text()}")
            time.sleep(0.05)
        return arrivals[0]

    def wait(self, until: float) -> None:
        """until: s on the monotonic clock."""
        time.sleep(max(0.0, until - time.monotonic()))

    def observe(self, moment: float) -> Observation:
        """Wait for the end of the run, and collect the results."""
        exit_code, left = self._wait_for_end(), self._wait_for_processes()
        self._ended.set()
        self._watch.join()
        words = self.output.text() + self._errors.read_text()
        arrivals = self.target.arrivals()
        stored, show_words = self._show()
        text = self._report.read_text() if self._report.exists() else ""
        report = json.loads(text) if text else None
        return Observation(
            exit_code, words, report, stored, show_words, arrivals, moment, left, self._peak, self._stall,
            self.switch.applied,
        )  # fmt: skip

    def close(self) -> None:
        """Kill all remaining processes."""
        self._ended.set()
        for pid in self._pids():
            self.signal(pid, signal.SIGKILL)
        self._process.wait()
        self._watch.join()

    def _wait_for_end(self) -> int | None:
        """A stopped reader resumes when the load is over."""
        end = time.monotonic() + self.trial.seconds + GRACE_S
        threading.Timer(self.trial.seconds + 3.0, self.output.resume).start()
        try:
            return self._process.wait(end - time.monotonic())
        except subprocess.TimeoutExpired:
            return None

    def _wait_for_processes(self) -> list[int]:
        deadline = time.monotonic() + LEFT_S
        while (left := self._pids()) and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid in left:
            self.signal(pid, signal.SIGKILL)
        return left

    def _show(self) -> tuple[dict[str, Any] | None, str]:
        if not self.store.exists():
            return None, ""
        command = [str(PLIMSOLL), "show", "last", "--json", "--store", str(self.store)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=GRACE_S)
        return (json.loads(done.stdout) if done.stdout else None), done.stderr

    def _pids(self) -> list[int]:
        """All processes of the run. The environment of an ended or foreign process cannot be read."""
        found, mark = [], f"{MARK}={self._mark}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def _sample(self) -> None:
        while not self._ended.is_set():
            before = time.monotonic()
            for pid in self._pids():
                with contextlib.suppress(psutil.Error):
                    self._peak = max(self._peak, psutil.Process(pid).memory_info().rss)
            began = time.monotonic()
            self._ended.wait(SAMPLE_S)
            late = time.monotonic() - began - SAMPLE_S
            self._stall = max(self._stall, late, began - before)
