"""A fake joiner at the port of a master, beside real workers: the run ends in order, with the exit code and the figures
of the real ones."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from labs.truth.plimsoll_run import PLIMSOLL
from labs.truth.target_process import Target, running_target

from plimsoll.experiment.ports import free_port

from ..fake_joiner import HOST, WORDS, FakeJoiner, for_machines, for_workers, without_token
from ..judgement import CommandOutcome, Judgement
from ..visitor import VISITOR

TOKEN = "the token of the robustness lab"
LOAD_S = 3
END_S = 60.0
"""Maximum time that a command may take."""
CANNOT_BEGIN, INVALID = 2, 3
BEFORE, AFTER = "before", "after"
PATH = "/fixed?ms=1"


@dataclass(frozen=True)
class Attempt:
    """What the fake joiner does."""

    what: str
    act: Callable[[FakeJoiner], None]
    breaks: str = ""
    """BEFORE or AFTER the load begins, if it is one of the workers of the run; else ""."""


@dataclass(frozen=True)
class Outcome(CommandOutcome):
    """How the run went."""

    workers: tuple[int | None, ...]
    """Exit codes of the real workers."""
    reported: int | None
    """Requests in its report; None: there is none."""
    received: int
    """Requests by the target's record."""


def trial(folder: Path, chance: Random) -> Judgement:
    attempt = drawn(chance)
    is_native = chance.random() < 0.5
    with running_target() as target:
        outcome = _run(folder, target, attempt, is_native)
    kind = "native users" if is_native else "a locustfile"
    return Judgement(f"{attempt.what}, with {kind}", broken(outcome, attempt.breaks), outcome.words)


def drawn(chance: Random) -> Attempt:
    """One of all attempts."""
    kind = chance.choice(("peer without token", "silent connections", "machine", "worker"))
    if kind == "peer without token":
        name, act = chance.choice(list(without_token(chance).items()))
        return Attempt(name, act)
    if kind == "silent connections":
        return Attempt("200 silent connections", partial(_open_connections, 200))
    if kind == "machine":
        name, data = chance.choice(list(for_machines(chance).items()))
        return Attempt(name, lambda fake: fake.say_joined(data))
    name, stream = chance.choice(list(for_workers(chance).items()))
    return as_worker(name, stream, chance.choice((BEFORE, AFTER)))


def as_worker(name: str, stream: Callable[[int], bytes], breaks: str) -> Attempt:
    act = partial(FakeJoiner.take_part, stream=stream, begins=breaks == AFTER)
    return Attempt(f"{name} as a worker, {breaks} the load", act, breaks)


def broken(outcome: Outcome, breaks: str) -> list[str]:
    """A sentence for each broken guarantee."""
    found = []
    expected = {BEFORE: CANNOT_BEGIN, AFTER: INVALID, "": 0}[breaks]
    if outcome.exit_code is None:
        found.append(f"the run did not end within {END_S:g} s")
    elif outcome.exit_code != expected:
        found.append(f"the exit code is {outcome.exit_code}, not {expected}")
    if "Traceback" in outcome.words:
        found.append("there is a traceback")
    if breaks != BEFORE:
        found += _broken_figures(outcome)
    if set(outcome.workers) - {0}:
        found.append(f"the real workers ended with {outcome.workers}")
    lines = outcome.words.splitlines()
    # A line with words of another machine names that machine.
    if strays := [line for line in lines if WORDS in line and HOST not in line]:
        found.append(f"words of the fake joiner stand as ours: {strays[0]}")
    if breaks and not any(f"(on {HOST}" in line for line in lines):
        found.append("nothing says what became of the fake worker")
    return found


def _broken_figures(outcome: Outcome) -> list[str]:
    if outcome.reported is None:
        return ["there is no report"]
    if not outcome.received:
        return ["the real workers sent nothing"]
    if outcome.reported != outcome.received:
        return [f"{outcome.reported} requests are reported, and the target received {outcome.received}"]
    return []


def _open_connections(count: int, fake: FakeJoiner) -> None:
    """They send nothing."""
    connections = []
    with suppress(OSError):
        for _ in range(count):
            connections.append(fake.connect())
    time.sleep(LOAD_S)
    for connection in connections:
        connection.close()


def _run(folder: Path, target: Target, attempt: Attempt, is_native: bool) -> Outcome:
    port, report = free_port(), folder / "report.json"
    (folder / "locustfile.py").write_text(VISITOR.format(path=PATH))
    closed = ["-H", target.url, "-u", "6", "-r", "6", "-s", "5s"]
    what = [f"{target.url}{PATH}", "--rate", "60/s"] if is_native else closed
    command = [
        "--master", "--master-bind-port", str(port), "--headless", "--expect-workers", str(2 + bool(attempt.breaks)),
        "-t", f"{LOAD_S}s", *what, "--summary", str(report), "--store", str(folder / "runs.db"),
    ]  # fmt: skip
    fake = threading.Thread(target=attempt.act, args=(FakeJoiner(port, TOKEN),), daemon=True)
    with _command(folder / "master", command) as master:
        _wait_for_port(port, master)
        fake.start()
        worker = ["--worker", "-f", "-", "--master-port", str(port)]
        with _command(folder / "a", worker) as first, _command(folder / "b", worker) as second:
            code = _end(master)
            ended = tuple(map(_end, (first, second)))
    words = (folder / "master").read_text(errors="replace")
    document = json.loads(report.read_text()) if report.exists() and report.stat().st_size else None
    reported = None if document is None else int(document["total"]["requests"])
    return Outcome(code, words, ended, reported, target.truth().path(PATH).received)


@contextmanager
def _command(output: Path, words: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Its output goes to the file. It is killed if it is still there."""
    place = output.parent / f"{output.name}-folder" if "--worker" in words else output.parent
    place.mkdir(exist_ok=True)
    environment = os.environ | {"PLIMSOLL_JOIN_TOKEN": TOKEN}
    with output.open("wb") as stream:
        process = subprocess.Popen(
            [PLIMSOLL, "run", *words], stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, cwd=place,
            env=environment,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def _wait_for_port(port: int, master: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + END_S
    while time.monotonic() < end and master.poll() is None:
        with suppress(OSError):
            FakeJoiner(port, "").connect().close()
            return
        time.sleep(0.05)


def _end(process: "subprocess.Popen[bytes]") -> int | None:
    try:
        return process.wait(END_S)
    except subprocess.TimeoutExpired:
        return None
