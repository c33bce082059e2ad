"""The generators: the command that a user types for each, and the source of its own request count."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from plimsoll.record import DROPPED
from plimsoll.store import Store

from .errors import BenchError
from .machine import version_of

FOLDER = Path(__file__).resolve().parent
EXAMPLES = FOLDER.parent / "target" / "release" / "examples"
NATIVE = EXAMPLES / "native"
LOCUST = FOLDER / ".venv" / "bin" / "locust"
PLIMSOLL = Path(sys.executable).with_name("plimsoll")


@dataclass(frozen=True)
class Version:
    """A version of Plimsoll on this machine. By default the one that these benches belong to."""

    plimsoll: Path = PLIMSOLL
    native: Path = NATIVE
    """The example of that name."""

    @classmethod
    def at(cls, place: Path) -> "Version":
        """place: a checkout with its `.venv`, or an environment into which a wheel was installed.

        Raises BenchError if neither has the command."""
        for folder in (place / ".venv" / "bin", place / "bin"):
            if (folder / "plimsoll").exists():
                return cls(folder.absolute() / "plimsoll", place.absolute() / NATIVE.relative_to(FOLDER.parent))
        raise BenchError(f"{place}: neither .venv/bin/plimsoll nor bin/plimsoll is in it (make setup, or pip install)")


@dataclass(frozen=True)
class Load:
    """The task of a generator in one measurement."""

    url: str
    """scheme://host:port"""
    path: str
    users: int
    seconds: int
    folder: Path
    """For files of this measurement."""
    streams: int = 0
    """Requests of a connection at a time, with HTTP/2; 0: HTTP/1.1."""
    version: Version = Version()
    """What sends it, unless it is another tool."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the locustfiles."""
        return {"BENCH_PATH": self.path}


@dataclass(frozen=True)
class Subject:
    """One generator."""

    name: str
    """Its name in the tables; also the key of its figures."""
    program: ClassVar[str | Path]
    hint: ClassVar[str] = ""
    """How to install it."""
    version_option: ClassVar[str] = "--version"

    def missing(self) -> str | None:
        """Why it cannot be measured here; None if it can."""
        return None if shutil.which(self.program) else f"{self.program} is not installed{self.hint}"

    def version(self) -> str:
        """Its version."""
        return version_of([str(self.program), self.version_option])

    def command(self, load: Load) -> list[str]:
        """The command line."""
        raise NotImplementedError

    def reported(self, load: Load, output: str) -> int:
        """The number of requests that the generator reports."""
        raise NotImplementedError


class PlimsollSubject(Subject):
    """`plimsoll run` in one of its modes; coordinator and worker are both measured."""

    program = PLIMSOLL
    hint = " (make setup)"

    def reported(self, load: Load, output: str) -> int:
        return kept(load)


@dataclass(frozen=True)
class Wrk(Subject):
    name: str = "wrk"
    program = "wrk"
    hint = " (apt-get install wrk)"

    def command(self, load: Load) -> list[str]:
        return ["wrk", "-t1", f"-c{load.users}", f"-d{load.seconds}s", load.url + load.path]

    def reported(self, load: Load, output: str) -> int:
        return int(_found(r"(\d+) requests in", output))


@dataclass(frozen=True)
class Shb(Subject):
    """io_uring. It waits up to 500 µs until eight responses have arrived, and reads them together."""

    name: str = "shb"
    program = "shb"
    hint = " (cargo install shb)"

    def version(self) -> str:
        """Known to cargo alone."""
        cargo = shutil.which("cargo")
        installed = subprocess.run([cargo, "install", "--list"], capture_output=True, text=True).stdout if cargo else ""
        return next((line.rstrip(":") for line in installed.splitlines() if line.startswith("shb ")), "shb")

    def command(self, load: Load) -> list[str]:
        command = ["shb", "--threads", "1", "--connections", str(load.users), "--duration", f"{load.seconds}s"]
        return [*command, "--json", load.url + load.path]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads(output)["requests"]["ok"])


@dataclass(frozen=True)
class Native(Subject):
    """The engine's native users without Python: the reference of the hot path."""

    name: str = "plimsoll native users"
    program = NATIVE
    hint = " (cargo build --release --examples)"

    def version(self) -> str:
        return version_of([str(PLIMSOLL), "--version"])

    def command(self, load: Load) -> list[str]:
        command = [
            str(load.version.native),
            load.url + load.path,
            str(load.users * max(1, load.streams)),
            str(load.seconds),
        ]
        return [*command, "-", str(load.streams)] if load.streams else command

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads(output)["requests"])


@dataclass(frozen=True)
class Tungstenite(Subject):
    """The library tungstenite in the shortest loop that sends a message and waits for the next one."""

    name: str = "tungstenite, WebSocket"
    program = EXAMPLES / "tungstenite"
    hint = " (cargo build --release --examples)"

    def version(self) -> str:
        return version_of(["cargo", "tree", "-p", "tungstenite", "--depth", "0", "--prefix", "none"])

    def command(self, load: Load) -> list[str]:
        return [str(self.program), load.url + load.path, str(load.users), str(load.seconds)]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads(output)["requests"])


@dataclass(frozen=True)
class H2load(Subject):
    name: str = "h2load"
    program = "h2load"
    hint = " (apt-get install nghttp2-client)"

    def command(self, load: Load) -> list[str]:
        streams = ["-t1", f"-c{load.users}", f"-m{load.streams}"]
        return ["h2load", *streams, f"-D{load.seconds}", load.url + load.path]

    def reported(self, load: Load, output: str) -> int:
        return int(_found(r"(\d+) succeeded", output))


@dataclass(frozen=True)
class PlimsollRun(PlimsollSubject):
    """For a URL, or for one class of a locustfile."""

    file: str | None = None
    user: str | None = None
    logged: bool = False
    """Write a log of every exchange."""

    def command(self, load: Load) -> list[str]:
        what = [load.url + load.path]
        if self.file and self.user:
            what = class_of(load, self.file, self.user)
        command = plimsoll_run(load, *what, "-u", str(load.users), "-r", str(load.users))
        return [*command, "--log-exchanges", str(load.folder / "exchanges.parquet")] if self.logged else command


@dataclass(frozen=True)
class LocustRun(Subject):
    """The real Locust with the same locustfile."""

    program = LOCUST
    hint = " (make bench)"
    file: str
    user: str

    def command(self, load: Load) -> list[str]:
        command = [str(LOCUST), *class_of(load, self.file, self.user), "-u", str(load.users), "-r", str(load.users)]
        return [*command, "-t", f"{load.seconds}s", "-s", "10", "--json", "--loglevel", "ERROR"]

    def reported(self, load: Load, output: str) -> int:
        return sum(entry["num_requests"] for entry in json.loads(_found(r"(?ms)^(\[.*^\])", output)))


@dataclass(frozen=True)
class K6(Subject):
    name: str = "k6"
    program = "k6"
    hint = " (go install go.k6.io/k6@latest)"
    version_option = "version"
    script: str = "k6.js"
    metric: str = "http_reqs"

    def command(self, load: Load) -> list[str]:
        command = ["k6", "run", "--quiet", "--no-usage-report", "--vus", str(load.users)]
        command += ["--duration", f"{load.seconds}s", "--env", f"BENCH_URL={load.url}{load.path}"]
        command += ["--env", f"BENCH_SECONDS={load.seconds}"]
        return [*command, "--summary-export", str(load.folder / "k6.json"), str(FOLDER / self.script)]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads((load.folder / "k6.json").read_text())["metrics"][self.metric]["count"])


@dataclass(frozen=True)
class Oha(Subject):
    name: str = "oha"
    program = "oha"

    def command(self, load: Load) -> list[str]:
        command = ["oha", "-z", f"{load.seconds}s", "-c", str(load.users), "-w", "--no-tui", "--output-format", "json"]
        return [*command, load.url + load.path]

    def reported(self, load: Load, output: str) -> int:
        return sum(json.loads(output)["statusCodeDistribution"].values())


def class_of(load: Load, file: str, user: str) -> list[str]:
    """The arguments for one user class of our locustfiles, for both `locust` and `plimsoll run`."""
    return ["-f", str(FOLDER / "locustfiles" / file), user, "-H", load.url, "--headless"]


def plimsoll_run(load: Load, *what: str, shown: Sequence[str] = ("--headless",)) -> list[str]:
    """`plimsoll run` with a time limit, stored in the measurement's folder. shown: options of its page.

    Its validity does not matter here: some of these runs use a whole core, and are invalid."""
    command = [
        str(load.version.plimsoll),
        "run",
        *what,
        "-t",
        f"{load.seconds}s",
        "-s",
        "10",
        "--exit-code-on-invalid",
        "0",
    ]
    return [*command, *shown, "--store", str(load.folder / "runs.db")]


def kept(load: Load, outcome: str | None = None) -> int:
    """The number of requests that the run sent, including a warm-up. outcome: only those that ended so."""
    with Store.open(str(load.folder / "runs.db")) as store:
        intervals = store.run("last").intervals()
        return sum(each.count for each in intervals if each.outcome != DROPPED and outcome in (None, each.outcome))


def _found(pattern: str, output: str) -> str:
    match = re.search(pattern, output)
    if match is None:
        raise ValueError(f"no request count in:\n{output}")
    return match[1]
