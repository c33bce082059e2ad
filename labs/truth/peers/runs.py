"""Each tool with the same two cases, one after the other, and the target's own record of each run."""

import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.run.supervised.process import Process

from ..errors import TruthError
from ..lab import Lab
from ..tolerance import value_at, waits_after_freezes
from .tools import QUANTILES, TOOLS, Job, Tool, ToolFigures

TARGET = "/fixed?ms=5"
DELAY = 0.005
EVERY, LENGTH = 5.0, 1.0
END_SECONDS = 60


@dataclass(frozen=True)
class Row:
    """One run of one tool."""

    case: str
    """fixed or freeze."""
    tool: str
    command: str
    truth: tuple[float, ...]
    """fixed: from the target's record. freeze: what independent clients see. Of `QUANTILES`, in s."""
    figures: ToolFigures
    received: int
    """Number of requests in the target's record."""


@dataclass(frozen=True)
class Peers:
    """All results."""

    versions: dict[str, str]
    """By name of the tool."""
    rows: list[Row]
    missing: list[str]


def measure(lab: Lab) -> Peers:
    """Run the installed tools. A tool that fails is listed as missing."""
    versions, rows, missing = {}, [], []
    for tool in TOOLS:
        why = tool.missing()
        if why is None:
            try:
                versions[tool.name] = tool.version()
                rows += list(cases(lab, tool))
                continue
            except TruthError as error:
                print(error, file=sys.stderr)
                why = f"{tool.name}: {str(error).splitlines()[0]}"
        if why not in missing:
            missing.append(why)
    return Peers(versions, rows, missing)


def cases(lab: Lab, tool: Tool) -> Iterator[Row]:
    """The target always takes 5 ms. In the second case it also freezes for the last second of every five."""
    seconds = round(lab.seconds(20, 10))
    for case in ("fixed", "freeze"):
        print(f"{case}: {tool.name}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="plimsoll-peer-") as folder:
            job = Job(lab.url(TARGET), seconds, Path(folder))
            lab.target.reset()
            if case == "freeze":
                lab.target.freeze(EVERY, LENGTH)
            try:
                output = run(tool.command(job), job.folder, seconds)
            finally:
                lab.target.freeze(1, 0)
            path = lab.target.truth().path(TARGET)
            truth = tuple(from_outside(quantile) for quantile in QUANTILES)
            if case == "fixed":
                truth = tuple(value_at(quantile, path.seconds()) for quantile in QUANTILES)
            figures = tool.figures(job, output)
        yield Row(case, tool.name, plain(tool.command(job), job), truth, figures, path.received)


def from_outside(quantile: float) -> float:
    """The response time of independent clients, by arithmetic."""
    return DELAY + waits_after_freezes(quantile, LENGTH / EVERY, LENGTH)


def run(command: list[str], folder: Path, seconds: int) -> str:
    """Returns its output. Raises TruthError if it does not end."""
    output = folder / "printed"
    with Process(command, output=output, errors=folder / "errors", ask=signal.SIGKILL) as process:
        # The exit status is not checked: it may be about thresholds, or Plimsoll's validity.
        if process.wait(seconds + END_SECONDS) is None:
            raise TruthError(f"did not end: {shlex.join(command)}")
    return output.read_text()


def plain(command: list[str], job: Job) -> str:
    """As a user types it: without the paths, ports and files of this run."""
    words = [Path(command[0]).name, *command[1:]]
    known = {str(job.folder): "…", job.url: "URL", job.url.partition("/fixed")[0]: "http://HOST"}
    for text, short in known.items():
        words = [word.replace(text, short) for word in words]
    return " ".join(Path(word).name if word.startswith("/") and Path(word).exists() else word for word in words)
