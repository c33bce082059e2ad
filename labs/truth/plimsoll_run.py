"""Runs the real `plimsoll run` as a user would, and reads its report."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.run.supervised.process import Process

from .errors import TruthError

PLIMSOLL = Path(sys.executable).with_name("plimsoll")
LOCUSTFILES = Path(__file__).resolve().parent / "locustfiles"
INVALID = 3
"""The exit code of an invalid run."""
END_SECONDS = 120.0
"""Maximum time that a run may take after its run time."""


@dataclass(frozen=True)
class Endpoint:
    """The reported figures of one endpoint, or of all together. Times in s."""

    document: dict[str, Any]

    @property
    def requests(self) -> int:
        """Exchanges that ended by themselves: neither unanswered nor dropped."""
        return int(self.document["completed"])

    @property
    def unanswered(self) -> int:
        return int(self.document["unanswered"])

    @property
    def failures(self) -> int:
        return int(self.document["failures"])

    @property
    def retries(self) -> int:
        """Requests that were sent again."""
        return int(self.document.get("retries", 0))

    def count(self, outcome: str) -> int:
        found = self.document["outcomes"].get(outcome)
        return int(found["count"]) if found else 0

    def outcomes(self) -> dict[str, int]:
        """The outcomes that occurred."""
        return {name: int(each["count"]) for name, each in self.document["outcomes"].items() if each["count"]}

    def service(self, quantile: float) -> float:
        return self._percentile("service_ms", quantile)

    def response(self, quantile: float) -> float:
        return self._percentile("response_ms", quantile)

    def share(self, quantile: float) -> float:
        """The share that the generator may have added to the response time."""
        return float(self.document["response_ms"]["share"]["percentiles"][f"{quantile * 100:g}"]) / 1e3

    def mean_response(self) -> float:
        return float(self.document["response_ms"]["mean"]) / 1e3

    @property
    def body_bytes(self) -> int:
        """Of decoded bodies."""
        return int(self.document["bytes_body"])

    def _percentile(self, which: str, quantile: float) -> float:
        return float(self.document[which]["percentiles"][f"{quantile * 100:g}"]) / 1e3


@dataclass(frozen=True)
class Report:
    """The report of one run."""

    command: str
    exit_code: int
    document: dict[str, Any]
    words: str
    """Its output."""

    @property
    def invalid(self) -> str | None:
        """Why the run is invalid; None if it is valid."""
        if self.exit_code != INVALID:
            return None
        checks = (self.document.get("validity") or {}).get("checks", [])
        failed = [check["text"].partition(":")[0] for check in checks if check["state"] == "failed"]
        return "; ".join(failed) or "exit code 3"

    @property
    def unclean(self) -> list[str]:
        """The figures in which the generator has too large a share, as reported."""
        return list(self.document["validity"]["unclean"])

    @property
    def warned_of_omission(self) -> bool:
        """Whether it reports that the closed model hid something."""
        return bool((self.document.get("omission") or {}).get("warning"))

    @property
    def total(self) -> Endpoint:
        return Endpoint(self.document["total"])

    @property
    def generator(self) -> dict[str, Any]:
        return dict(self.document["generator"])

    def row(self, method: str, name: str) -> Endpoint:
        """Raises TruthError if it reported no such endpoint."""
        for each in self.document["endpoints"]:
            if (each["method"], each["name"]) == (method, name):
                return Endpoint(each)
        raise TruthError(f"{method} {name} is not reported: {self.command}")

    def endpoint(self, name: str) -> Endpoint:
        """Raises TruthError if it reported no endpoint of that name, or several."""
        found = [each for each in self.document["endpoints"] if each["name"] == name]
        if len(found) != 1:
            names = ", ".join(each["name"] for each in self.document["endpoints"])
            raise TruthError(f"{name} is reported {len(found)} times among {names or 'nothing'}: {self.command}")
        return Endpoint(found[0])


class Running:
    """A run in progress."""

    def __init__(self, arguments: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> None:
        self._json, self._output = folder / "run.json", folder / "output"
        for left in (self._json, self._output):
            left.unlink(missing_ok=True)
        command = [str(PLIMSOLL), "run", *arguments, "--headless", "--only-summary"]
        command += ["--summary", str(self._json), "--store", str(folder / "runs.db")]
        self.command = " ".join(["plimsoll", *command[1:]])
        env = os.environ | (environment or {})
        self._process = Process(command, output=self._output, cwd=folder, env=env, ask=signal.SIGKILL)

    def interrupt(self) -> None:
        """Send Ctrl-C."""
        self._process.interrupt()

    def report(self, seconds: float) -> Report:
        """Wait for its end, at most this long after its run time. Raises TruthError if it does not end or leaves no
        report."""
        ending = self._process.wait(seconds + END_SECONDS)
        if ending is None:
            raise TruthError(f"did not end within {seconds + END_SECONDS:g} s: {self.command}")
        words = self._output.read_text()
        if not self._json.exists():
            raise TruthError(f"{ending} and no report: {self.command}\n{words}")
        return Report(self.command, ending.status, json.loads(self._json.read_text()), words)

    def close(self) -> None:
        """Kill all its processes."""
        self._process.stop()
