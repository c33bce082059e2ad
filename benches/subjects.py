"""The generators that are measured, each as the command a user would type and the place of its own request count."""

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plimsoll.record import DROPPED
from plimsoll.store import Store

from .machine import first_line

FOLDER = Path(__file__).resolve().parent
NATIVE = FOLDER.parent / "target" / "release" / "examples" / "native"
LOCUST = FOLDER / ".venv" / "bin" / "locust"
PLIMSOLL = Path(sys.executable).with_name("plimsoll")


@dataclass(frozen=True)
class Load:
    """What one measurement asks of a generator."""

    url: str
    """scheme://host:port"""
    path: str
    users: int
    seconds: int
    folder: Path
    """For files of this measurement alone."""

    @property
    def environment(self) -> dict[str, str]:
        """What the locustfiles read."""
        return {"BENCH_PATH": self.path}


class Subject(Protocol):
    """One generator."""

    @property
    def name(self) -> str:
        """How the tables call it; also the key of its figures."""

    def missing(self) -> str | None:
        """Why it cannot be measured here; None when it can."""

    def version(self) -> str:
        """What it says about itself."""

    def command(self, load: Load) -> list[str]:
        """The command line."""

    def reported(self, load: Load, output: str) -> int:
        """How many requests the generator says it made."""


@dataclass(frozen=True)
class Wrk:
    name: str = "wrk"

    def missing(self) -> str | None:
        return None if shutil.which("wrk") else "wrk is not installed (apt-get install wrk)"

    def version(self) -> str:
        return first_line(["wrk", "--version"]).partition(" [")[0]

    def command(self, load: Load) -> list[str]:
        return ["wrk", "-t1", f"-c{load.users}", f"-d{load.seconds}s", load.url + load.path]

    def reported(self, load: Load, output: str) -> int:
        return int(_found(r"(\d+) requests in", output))


@dataclass(frozen=True)
class Native:
    """The engine's native users without any Python: the yardstick of the hot path."""

    name: str = "plimsoll native users"

    def missing(self) -> str | None:
        return None if NATIVE.exists() else f"{NATIVE} is not built (cargo build --release --examples)"

    def version(self) -> str:
        return plimsoll_version()

    def command(self, load: Load) -> list[str]:
        return [str(NATIVE), load.url + load.path, str(load.users), str(load.seconds)]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads(output)["requests"])


@dataclass(frozen=True)
class PlimsollRun:
    """`plimsoll run`, of a URL or of one class of a locustfile; coordinator and worker are both measured."""

    name: str
    file: str | None = None
    user: str | None = None

    def missing(self) -> str | None:
        return plimsoll_missing()

    def version(self) -> str:
        return plimsoll_version()

    def command(self, load: Load) -> list[str]:
        what = [load.url + load.path]
        if self.file and self.user:
            what = class_of(load, self.file, self.user)
        return plimsoll_run(load, *what, "-u", str(load.users), "-r", str(load.users))

    def reported(self, load: Load, output: str) -> int:
        return kept(load)


@dataclass(frozen=True)
class LocustRun:
    """The real Locust with the same locustfile."""

    name: str
    file: str
    user: str

    def missing(self) -> str | None:
        return None if LOCUST.exists() else f"{LOCUST} is missing (make bench)"

    def version(self) -> str:
        return first_line([str(LOCUST), "--version"]).partition(" from ")[0]

    def command(self, load: Load) -> list[str]:
        command = [str(LOCUST), *class_of(load, self.file, self.user), "-u", str(load.users), "-r", str(load.users)]
        return [*command, "-t", f"{load.seconds}s", "-s", "10", "--json", "--loglevel", "ERROR"]

    def reported(self, load: Load, output: str) -> int:
        return sum(entry["num_requests"] for entry in json.loads(_found(r"(?ms)^(\[.*^\])", output)))


@dataclass(frozen=True)
class K6:
    name: str = "k6"

    def missing(self) -> str | None:
        return None if shutil.which("k6") else "k6 is not installed"

    def version(self) -> str:
        return first_line(["k6", "version"]).partition(" (")[0]

    def command(self, load: Load) -> list[str]:
        command = [
            "k6",
            "run",
            "--quiet",
            "--no-usage-report",
            "--vus",
            str(load.users),
            "--duration",
            f"{load.seconds}s",
        ]
        command += ["--env", f"BENCH_URL={load.url}{load.path}", "--summary-export", str(load.folder / "k6.json")]
        return [*command, str(FOLDER / "k6.js")]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads((load.folder / "k6.json").read_text())["metrics"]["http_reqs"]["count"])


@dataclass(frozen=True)
class Oha:
    name: str = "oha"

    def missing(self) -> str | None:
        return None if shutil.which("oha") else "oha is not installed"

    def version(self) -> str:
        return first_line(["oha", "--version"])

    def command(self, load: Load) -> list[str]:
        command = ["oha", "-z", f"{load.seconds}s", "-c", str(load.users), "-w", "--no-tui", "--output-format", "json"]
        return [*command, load.url + load.path]

    def reported(self, load: Load, output: str) -> int:
        return sum(json.loads(output)["statusCodeDistribution"].values())


def plimsoll_missing() -> str | None:
    """Why `plimsoll run` cannot be measured here; None when it can."""
    return None if PLIMSOLL.exists() else f"{PLIMSOLL} is missing (make setup)"


def plimsoll_version() -> str:
    """As in "plimsoll 0.1.0"."""
    return first_line([str(PLIMSOLL), "--version"])


def class_of(load: Load, file: str, user: str) -> list[str]:
    """One user class of one of our locustfiles, as both `locust` and `plimsoll run` take it."""
    return ["-f", str(FOLDER / "locustfiles" / file), user, "-H", load.url, "--headless"]


def plimsoll_run(load: Load, *what: str) -> list[str]:
    """`plimsoll run`, ended by time, kept in the measurement's folder.

    Its verdict on the generator is not our concern: some of these runs take all that a core has, and are invalid."""
    command = [str(PLIMSOLL), "run", *what, "-t", f"{load.seconds}s", "-s", "10", "--exit-code-on-invalid", "0"]
    return [*command, "--headless", "--store", str(load.folder / "runs.db")]


def kept(load: Load) -> int:
    """Requests that the run of `plimsoll_run` sent, those of a warm-up included."""
    with Store.open(str(load.folder / "runs.db")) as store:
        return sum(interval.count for interval in store.run("last").intervals() if interval.outcome != DROPPED)


def _found(pattern: str, output: str) -> str:
    match = re.search(pattern, output)
    if match is None:
        raise ValueError(f"no request count in:\n{output}")
    return match[1]
