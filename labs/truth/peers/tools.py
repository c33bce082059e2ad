"""The generators, each as the command that its users would type and the place of its own percentiles."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import TruthError

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
PLACES = os.pathsep.join([str(ROOT / "target" / "tools" / "bin"), os.environ.get("PATH", "")])
LOCUST = ROOT / "benches" / ".venv" / "bin" / "locust"
PLIMSOLL = Path(sys.executable).with_name("plimsoll")
CONNECTIONS = 50
RATE = 500
"""Requests/s, for those who can keep to a rate."""
QUANTILES = (0.5, 0.9, 0.99)
PERCENT_AND_UNIT = r"(?m)^\s*(\d+)%\s+([\d.]+)(us|ms|s|m)$"
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


@dataclass(frozen=True)
class Told:
    """What a tool said."""

    percentiles: tuple[float, ...]
    """Of `QUANTILES`, in s."""
    warning: bool = False
    """It says that its figures are not those of clients from outside."""


@dataclass(frozen=True)
class Job:
    """One run to make."""

    url: str
    seconds: int
    folder: Path
    """For files of this run alone."""


class Tool(Protocol):
    """One generator in one of its modes."""

    @property
    def name(self) -> str:
        """How the tables call it."""

    def missing(self) -> str | None:
        """Why it cannot run here; None when it can."""

    def version(self) -> str:
        """Its own, or that of its package."""

    def command(self, job: Job) -> list[str]:
        """The command line."""

    def told(self, job: Job, output: str) -> Told:
        """Its percentiles. Raises TruthError when they are not where they used to be."""


@dataclass(frozen=True)
class Program:
    """A tool that is looked up by its name."""

    name: str
    program: str
    options: tuple[str, ...] = ()

    def missing(self) -> str | None:
        return None if self._path() else f"{self.program} is not installed"

    def version(self) -> str:
        return _version([self._path() or self.program, "--version"])

    def _path(self) -> str | None:
        return shutil.which(self.program, path=PLACES)

    def _line(self, *arguments: object) -> list[str]:
        return [self._path() or self.program, *map(str, arguments)]


class Wrk(Program):
    def version(self) -> str:
        return super().version().partition(" [")[0]

    def command(self, job: Job) -> list[str]:
        return self._line("-t1", f"-c{CONNECTIONS}", f"-d{job.seconds}s", "--latency", job.url)

    def told(self, job: Job, output: str) -> Told:
        found = {int(each): float(value) * UNITS[unit] for each, value, unit in re.findall(PERCENT_AND_UNIT, output)}
        return Told(_picked(found, output))


class Hey(Program):
    def version(self) -> str:
        return f"hey {_version(['dpkg-query', '-W', '-f', '${Version}', 'hey'])}"

    def command(self, job: Job) -> list[str]:
        each = RATE // CONNECTIONS
        return self._line("-z", f"{job.seconds}s", "-c", CONNECTIONS, "-q", each, job.url)

    def told(self, job: Job, output: str) -> Told:
        found = {int(each): float(value) for each, value in re.findall(r"(?m)^\s*(\d+)% in ([\d.]+) secs", output)}
        return Told(_picked(found, output))


class Ab(Program):
    def version(self) -> str:
        words = re.search(r"Version (\S+)", _version([self._path() or "ab", "-V"]))
        return f"ab {words[1] if words else '?'}"

    def command(self, job: Job) -> list[str]:
        return self._line("-k", "-q", "-c", CONNECTIONS, "-t", job.seconds, "-n", 100_000_000, job.url)

    def told(self, job: Job, output: str) -> Told:
        found = {int(each): float(value) / 1e3 for each, value in re.findall(r"(?m)^\s*(\d+)%\s+(\d+)$", output)}
        return Told(_picked(found, output))


class Oha(Program):
    def command(self, job: Job) -> list[str]:
        fixed = ["--no-tui", "--output-format", "json"]
        return self._line("-z", f"{job.seconds}s", "-c", CONNECTIONS, "-q", RATE, *self.options, *fixed, job.url)

    def told(self, job: Job, output: str) -> Told:
        found = json.loads(output)["latencyPercentiles"]
        return Told(tuple(float(found[f"p{quantile * 100:g}"]) for quantile in QUANTILES))


class K6(Program):
    """options: the executor of `k6.js`."""

    def version(self) -> str:
        return _version([self._path() or "k6", "version"]).partition(" (")[0]

    def command(self, job: Job) -> list[str]:
        known = {"TRUTH_URL": job.url, "TRUTH_SECONDS": job.seconds, "TRUTH_EXECUTOR": self.options[0]}
        environment = [word for name, value in known.items() for word in ("--env", f"{name}={value}")]
        summary = ["--summary-trend-stats", "p(50),p(90),p(99)", "--summary-export", job.folder / "k6.json"]
        return self._line("run", "--quiet", "--no-usage-report", *environment, *summary, FOLDER / "k6.js")

    def told(self, job: Job, output: str) -> Told:
        found = json.loads((job.folder / "k6.json").read_text())["metrics"]["http_req_duration"]
        return Told(tuple(float(found[f"p({quantile * 100:g})"]) / 1e3 for quantile in QUANTILES))


@dataclass(frozen=True)
class Locust:
    """50 users, each at ten requests per second as well as it can."""

    name: str = "Locust, constant_throughput"

    def missing(self) -> str | None:
        return None if LOCUST.exists() else "Locust is not installed (make bench)"

    def version(self) -> str:
        return _version([str(LOCUST), "--version"]).partition(" from ")[0]

    def command(self, job: Job) -> list[str]:
        host, _, path = job.url.partition("/fixed")
        command = [str(LOCUST), "-f", str(FOLDER / "locustfile.py"), "-H", host, "--headless", "--only-summary"]
        command += ["-u", str(CONNECTIONS), "-r", str(CONNECTIONS), "-t", f"{job.seconds}s", "-s", "10"]
        return [*command, "--csv", str(job.folder / "locust"), "--path", f"/fixed{path}", "--loglevel", "ERROR"]

    def told(self, job: Job, output: str) -> Told:
        with (job.folder / "locust_stats.csv").open() as file:
            (total,) = [row for row in csv.DictReader(file) if row["Name"] == "Aggregated"]
        return Told(tuple(float(total[f"{quantile * 100:g}%"]) / 1e3 for quantile in QUANTILES))


@dataclass(frozen=True)
class Plimsoll:
    """Ourselves."""

    name: str
    options: tuple[str, ...]

    def missing(self) -> str | None:
        return None if PLIMSOLL.exists() else f"{PLIMSOLL} is missing (make setup)"

    def version(self) -> str:
        return _version([str(PLIMSOLL), "--version"])

    def command(self, job: Job) -> list[str]:
        command = [str(PLIMSOLL), "run", job.url, *self.options, "-t", f"{job.seconds}s", "-s", "10"]
        return [
            *command,
            "--headless",
            "--summary",
            str(job.folder / "plimsoll.json"),
            "--store",
            str(job.folder / "db"),
        ]

    def told(self, job: Job, output: str) -> Told:
        document = json.loads((job.folder / "plimsoll.json").read_text())
        found = document["total"]["response_ms"]["percentiles"]
        warning = bool((document.get("omission") or {}).get("warning"))
        return Told(tuple(float(found[f"{quantile * 100:g}"]) / 1e3 for quantile in QUANTILES), warning)


TOOLS: tuple[Tool, ...] = (
    Plimsoll("plimsoll, open model", ("--rate", f"{RATE}/s")),
    Plimsoll("plimsoll, open model, 50 users", ("--rate", f"{RATE}/s", "--max-users", str(CONNECTIONS))),
    Plimsoll("plimsoll, closed model", ("-u", str(CONNECTIONS), "-r", str(CONNECTIONS))),
    Wrk("wrk", "wrk"),
    Ab("ab", "ab"),
    Hey("hey", "hey"),
    Oha("oha", "oha"),
    Oha("oha, latency correction", "oha", ("--latency-correction",)),
    K6("k6, constant VUs", "k6", ("constant-vus",)),
    K6("k6, constant arrival rate", "k6", ("constant-arrival-rate",)),
    Locust(),
)


def _picked(found: dict[int, float], output: str) -> tuple[float, ...]:
    try:
        return tuple(found[round(quantile * 100)] for quantile in QUANTILES)
    except KeyError as missing:
        raise TruthError(f"no {missing} % in:\n{output}") from None


def _version(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return ((done.stdout or done.stderr).strip().splitlines() or ["?"])[0]
