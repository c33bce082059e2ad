"""The generators: the command that a user types, and the parser of its percentiles."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benches.machine import version_of

from plimsoll.errors import UsageError
from plimsoll.importers import read

from ..errors import TruthError

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
PLACES = os.pathsep.join(
    [
        *map(str, (ROOT / "target" / "tools" / "bin", ROOT / "benches" / ".venv" / "bin", Path(sys.executable).parent)),
        os.environ.get("PATH", ""),
    ]
)
CONNECTIONS = 50
RATE = 500
"""Requests/s, for tools with a fixed rate."""
QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class ToolFigures:
    """The report of a tool."""

    percentiles: tuple[float, ...]
    """Of `QUANTILES`, in s."""
    warning: bool = False
    """It states that its figures are not those of independent clients."""


@dataclass(frozen=True)
class Job:
    """One run to make."""

    url: str
    seconds: int
    folder: Path
    """For the files of this run."""


def imported(file: Path) -> ToolFigures:
    """Uses the importer of `plimsoll import`. Raises TruthError."""
    try:
        total = read(file).trials[0].total
    except UsageError as error:
        raise TruthError(f"{error}\n{file.read_text(errors='replace')}") from None
    times = [total.quantile(quantile) if total else None for quantile in QUANTILES]
    if None in times:
        raise TruthError(f"not all of {QUANTILES} are in:\n{file.read_text(errors='replace')}")
    return ToolFigures(tuple((time or 0.0) / 1e3 for time in times))


def of_ab(file: Path) -> ToolFigures:
    output = file.read_text()
    found = {int(each): float(value) / 1e3 for each, value in re.findall(r"(?m)^\s*(\d+)%\s+(\d+)$", output)}
    try:
        return ToolFigures(tuple(found[round(quantile * 100)] for quantile in QUANTILES))
    except KeyError as missing:
        raise TruthError(f"no {missing} % in:\n{output}") from None


def of_plimsoll(file: Path) -> ToolFigures:
    document = json.loads(file.read_text())
    found = document["total"]["response_ms"]["percentiles"]
    warning = bool((document.get("omission") or {}).get("warning"))
    return ToolFigures(tuple(float(found[f"{quantile * 100:g}"]) / 1e3 for quantile in QUANTILES), warning)


@dataclass(frozen=True)
class Tool:
    """A generator in one of its modes."""

    name: str
    words: str
    """The command. {url} or {host} and {path}, {seconds}, {folder} (of the run) and {here} (of this file) are filled
    in."""
    result: str = "output"
    """The file in the folder with its percentiles; "output" is its output."""
    read: Callable[[Path], ToolFigures] = imported
    """Raises TruthError if the percentiles are not at the expected place."""
    version_words: str = ""
    """The command that prints the version, if it is not --version."""

    @property
    def program(self) -> str:
        return self.words.split()[0]

    def missing(self) -> str | None:
        """Why it cannot run here; None if it can."""
        return None if shutil.which(self.program, path=PLACES) else f"{self.program} is not installed"

    def version(self) -> str:
        """The name and version in its first line, without paths and build details."""
        return version_of(_found((self.version_words or f"{self.program} --version").split())).replace("\t", " ")

    def command(self, job: Job) -> list[str]:
        host, slash, path = job.url.partition("/fixed")
        known = {"url": job.url, "host": host, "path": slash + path, "seconds": job.seconds, "folder": job.folder}
        return _found([word.format(**known, here=FOLDER) for word in self.words.split()])

    def figures(self, job: Job, output: str) -> ToolFigures:
        """output: what it printed. Raises TruthError."""
        (job.folder / "output").write_text(output)
        return self.read(job.folder / self.result)


def _found(command: list[str]) -> list[str]:
    """With the path of its program, if there is one."""
    return [shutil.which(command[0], path=PLACES) or command[0], *command[1:]]


PLIMSOLL = "plimsoll run {{url}} {} -t {{seconds}}s -s 10 --headless --summary {{folder}}/summary --store {{folder}}/db"
HEY = f"hey -z {{seconds}}s -c {CONNECTIONS} -q {RATE // CONNECTIONS}"
OHA = f"oha -z {{seconds}}s -c {CONNECTIONS} -q {RATE} --no-tui --output-format json"
K6 = (
    "k6 run --quiet --no-usage-report --env TRUTH_URL={url} --env TRUTH_SECONDS={seconds} --summary-trend-stats "
    "p(50),p(90),p(99) --summary-export {folder}/k6.json --env TRUTH_EXECUTOR="
)
USERS = f"-u {CONNECTIONS} -r {CONNECTIONS}"

TOOLS = (
    Tool("plimsoll, open model", PLIMSOLL.format(f"--rate {RATE}/s"), "summary", of_plimsoll),
    Tool(
        "plimsoll, open model, 50 users", PLIMSOLL.format(f"--rate {RATE}/s --max-users {CONNECTIONS}"), "summary",
        of_plimsoll,
    ),
    Tool("plimsoll, closed model", PLIMSOLL.format(USERS), "summary", of_plimsoll),
    Tool("wrk", f"wrk -t1 -c{CONNECTIONS} -d{{seconds}}s --latency {{url}}"),
    Tool("ab", f"ab -k -q -c {CONNECTIONS} -t {{seconds}} -n 100000000 {{url}}", read=of_ab, version_words="ab -V"),
    Tool("hey", f"{HEY} {{url}}", version_words="dpkg-query -W hey"),
    Tool("oha", f"{OHA} {{url}}"),
    Tool("oha, latency correction", f"{OHA} --latency-correction {{url}}"),
    Tool("k6, constant VUs", K6 + "constant-vus {here}/k6.js", "k6.json", version_words="k6 version"),
    Tool(
        "k6, constant arrival rate", K6 + "constant-arrival-rate {here}/k6.js", "k6.json", version_words="k6 version"
    ),
    Tool(
        "Locust, constant_throughput",
        f"locust -f {{here}}/locustfile.py -H {{host}} --path {{path}} --headless --only-summary {USERS} "
        "-t {seconds}s -s 10 --csv {folder}/locust --loglevel ERROR",
        "locust_stats.csv",
    ),
)  # fmt: skip
