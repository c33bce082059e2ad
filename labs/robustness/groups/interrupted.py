"""Signals in every phase of every command: it ends in time, in words, with its report, and leaves no process."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Thread

import psutil
from labs.truth.plimsoll_run import PLIMSOLL

from ..judgement import Judgement
from ..phases import PHASES, Phase, Surroundings, surroundings

LIMIT_S = 3.0
"""From a signal to the end of the command."""
IN_ORDER_S = 1.5
"""Seconds after which a second signal follows, where the first one lets things end in their order."""
REACHED_S = 60.0
"""Seconds that a command has to get to its phase."""
LEFT_S = 15.0
"""Seconds that processes may outlive the command: those of experiments end in order."""
LOOK_S = 0.02
KINDS: dict[str, Sequence[tuple[float, int]]] = {
    "SIGINT": [(0.0, signal.SIGINT)],
    "SIGINT twice": [(0.0, signal.SIGINT), (0.4, signal.SIGINT)],
    "SIGINT 30 times": [(0.01 * n, signal.SIGINT) for n in range(30)],
    "SIGTERM": [(0.0, signal.SIGTERM)],
}
"""Signals with their seconds after the first one."""
TRACEBACK = re.compile(r"Traceback \(most recent call last\)")


@dataclass
class End:
    """How the command ended."""

    code: int | None
    """None: it did not end."""
    seconds: float
    """From the last signal that has a limit."""
    delayed: float
    """Of these, what the machine took: its processes were ready to run and had no CPU."""
    words: str
    has_report: bool
    left: list[str]
    """Processes that outlived it."""


def trial(folder: Path, chance: Random) -> Judgement:
    """Draws a phase, signals and the moment within the phase."""
    name, kind = chance.choice(list(PHASES)), chance.choice(list(KINDS))
    wait = chance.uniform(0, 0.5)
    end = interrupted(folder, PHASES[name], kind, wait)
    return Judgement(f"{kind} {wait:.2f} s after: {name}", broken(end, PHASES[name]), end.words)


def broken(end: End, phase: Phase) -> list[str]:
    """A sentence for each broken guarantee."""
    found = []
    if end.code is None:
        found.append("the command did not end")
    elif end.seconds > LIMIT_S + end.delayed:
        found.append(f"the command ended after {end.seconds:.1f} s, of which the machine took {end.delayed:.1f} s")
    if TRACEBACK.search(end.words):
        found.append("it printed a traceback")
    if phase.has_report and not end.has_report:
        found.append("there was load and there is no report")
    if end.left:
        found.append(f"processes are left: {', '.join(end.left)}")
    return found


def interrupted(folder: Path, phase: Phase, kind: str, wait: float) -> End:
    """Run the command, send the signals so many seconds after it has reached the phase, and wait for its end."""
    with surroundings(folder, sys.executable) as around:
        command = [str(PLIMSOLL), *phase.arguments(around)]
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PLIMSOLL_", "LOCUST_"))}
        environment = {**own, "PLIMSOLL_STORE": "runs.db", **phase.environment(around)}
        reading, writing = os.pipe()
        if not phase.is_read:
            _fill(writing)
        with (folder / "errors").open("wb") as errors:
            process = subprocess.Popen(
                command, stdout=writing, stderr=errors, stdin=subprocess.DEVNULL, cwd=folder, env=environment
            )
        os.close(writing)
        if phase.is_read:
            Thread(target=_drain, args=(reading,), daemon=True).start()
        try:
            _wait_for(phase, around, process)
            time.sleep(wait)
            return _signalled(process, phase, kind, around)
        finally:
            _kill(process)
            if not phase.is_read:
                os.close(reading)


def _signalled(process: subprocess.Popen[bytes], phase: Phase, kind: str, around: Surroundings) -> End:
    family = _Family(process)
    began = time.monotonic()
    for after, number in KINDS[kind]:
        time.sleep(max(0.0, began + after - time.monotonic()))
        process.send_signal(number)
    family.watch(IN_ORDER_S if phase.in_order else 0.0)
    if phase.in_order and process.poll() is None:
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
    delay = family.delay
    # Far beyond the limit, so that the judge and not this wait decides.
    family.watch(10 * LIMIT_S)
    seconds = time.monotonic() - began
    return End(
        process.poll(), seconds, family.delay - delay, around.errors, _is_document(around.folder / "run.json"),
        family.left(LEFT_S),
    )  # fmt: skip


class _Family:
    """The command and all that it starts."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._known: dict[int, psutil.Process] = {}
        self._delays: dict[int, float] = {}

    @property
    def delay(self) -> float:
        """Seconds for which threads were ready to run and had no CPU, as far as they were looked at."""
        return sum(self._delays.values())

    def watch(self, seconds: float) -> None:
        """Until the command has ended, or so many seconds have passed."""
        end = time.monotonic() + seconds
        while self._process.poll() is None:
            self._look()
            if time.monotonic() > end:
                return
            time.sleep(LOOK_S)

    def left(self, within: float) -> list[str]:
        """Those that are there after so many seconds. They are killed."""
        _, alive = psutil.wait_procs(list(self._known.values()), timeout=within)
        found = []
        for each in alive:
            with contextlib.suppress(psutil.Error):
                found.append(f"{each.pid} {' '.join(each.cmdline())[:80]}")
                each.kill()
        return found

    def _look(self) -> None:
        with contextlib.suppress(psutil.Error):
            for each in psutil.Process(self._process.pid).children(recursive=True):
                self._known.setdefault(each.pid, each)
        for pid in (self._process.pid, *self._known):
            for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                with contextlib.suppress(OSError, ValueError, IndexError):
                    self._delays[int(file.parent.name)] = int(file.read_text().split()[1]) / 1e9


def _wait_for(phase: Phase, around: Surroundings, process: subprocess.Popen[bytes]) -> None:
    """Raises TimeoutError."""
    end = time.monotonic() + REACHED_S
    while not (_handles_signals(process.pid) and phase.is_reached(around)):
        if time.monotonic() > end or process.poll() is not None:
            raise TimeoutError(f"the phase was not reached: {around.errors}")
        time.sleep(LOOK_S)


def _handles_signals(pid: int) -> bool:
    """Python itself leaves SIGTERM to the kernel; before that there is no command that could do better."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def _is_document(file: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return bool(json.loads(file.read_text())["total"])
    return False


def _fill(descriptor: int) -> None:
    os.set_blocking(descriptor, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(descriptor, b"-" * 4096)
    os.set_blocking(descriptor, True)


def _drain(descriptor: int) -> None:
    with open(descriptor, "rb", buffering=0) as file:
        while file.read(65536):
            pass


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(psutil.Error):
        for each in psutil.Process(process.pid).children(recursive=True):
            each.kill()
    process.kill()
    process.wait()
