"""One pass of a proof: users of the real engine replay a scenario, each once, at the same time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.errors import PlimsollError
from plimsoll.say.numbers import count
from plimsoll.sources.plan_text import PlanText
from plimsoll.sources.proof.expectations import step_title, strict_draft
from plimsoll.sources.proof.json_types import difference_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.sources.draft import DraftStep, ScenarioDraft

LONGEST_PROOF_S = 300.0
CLOSE = "WS close"
"""The method of the row of WebSockets that were closed."""
_SMALL_B = 2_000
"""Bytes; shorter bodies may have any length."""
_SIZE_FACTOR = 10.0
_OTHER_HEADER = re.compile(r"no .* header (Location|Content-Type)", re.DOTALL)

StepState = Literal["proven", "differs", "not reached"]


@dataclass(frozen=True, slots=True)
class StepProof:
    """How one step went."""

    step: str
    """Its number, method and name."""
    state: StepState
    why: str = ""
    """How its reply differs."""


class ProofRunner:
    """Runs the plans of a proof one after the other, each in a process of its own. options: of `plimsoll run`, such as
    its limits."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._options = tuple(options)
        self._lock = threading.Lock()
        """Guards the attributes that follow."""
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the run in progress at once, and refuse others. Called from another thread."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def run(self, strict: ScenarioDraft, users: int = 1) -> dict[str, Any]:
        """The summary of a run, as `plimsoll run --summary` writes it. Raises PlimsollError."""
        plan = PlanText(strict, "proof", None)
        with tempfile.TemporaryDirectory(prefix="plimsoll-proof-") as name:
            folder = Path(name)
            (folder / "proof.toml").write_text(plan.text)
            for file, content in plan.files.items():
                (folder / file).write_bytes(content)
            said = self._said(folder, users)
            try:
                record = json.loads((folder / "proof.json").read_text())
            except (OSError, ValueError) as error:
                last = (said.strip().splitlines() or ["it said nothing"])[-1]
                raise PlimsollError(f"the proof could not run: {last.removeprefix('plimsoll: ')}") from error
        assert isinstance(record, dict)
        return record

    def _said(self, folder: Path, users: int) -> str:
        """What the run of the plan in this folder says on stderr."""
        command = [
            sys.executable, "-P", "-m", "plimsoll", "run", "proof.toml", "--headless", "--only-summary", "--yes",
            "-u", str(users), "--iterations", str(users), "--store", "proof.db", "--summary", "proof.json",
            *self._options,
        ]  # fmt: skip
        # Options of the user's environment are for the user's runs.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PLIMSOLL_", "LOCUST_"))
        }
        with self._lock:
            if self._is_stopped:
                raise PlimsollError("the proof was stopped")
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        with self._process as process:
            try:
                return process.communicate(timeout=LONGEST_PROOF_S)[1]
            except subprocess.TimeoutExpired as error:
                raise PlimsollError(f"the proof did not end within {LONGEST_PROOF_S:.0f} s") from error
            finally:
                process.kill()


def one_pass(draft: ScenarioDraft, users: int = 1, runner: ProofRunner | None = None) -> list[StepProof]:
    """How each step went, of each flow by itself. users: as many begin at once, and each replays the scenario once.
    Raises PlimsollError if no run came about."""
    runner, strict = runner or ProofRunner(), strict_draft(draft)
    # A user plays one flow in an iteration, so each flow is a run of its own.
    records = [runner.run(replace(strict, steps=steps, weights={}), users) for _, steps in strict.flows]
    endpoints = [row for record in records for row in record["endpoints"]]
    rows = {row["name"]: row for row in reversed(endpoints)}
    closes = [row for row in endpoints if row["method"] == CLOSE]
    failures: dict[str, list[dict[str, Any]]] = {}
    for row in (row for record in records for row in record["failures"]):
        failures.setdefault(row["name"], []).append(row)
    names = [step_title(step, number) for number, step in enumerate(draft.steps)]
    return [
        # The row of a close has the name of its WebSocket.
        StepProof(name, "proven" if closes else "not reached")
        if step.exchange.socket == "close"
        else _judged(step, name, rows.get(name), failures.get(name, []), users)
        for step, name in zip(draft.steps, names, strict=True)
    ]


def _judged(
    step: DraftStep, name: str, row: dict[str, Any] | None, failures: list[dict[str, Any]], users: int
) -> StepProof:
    if row is None or not row["requests"]:
        return StepProof(name, "not reached")
    if failures:
        reasons = [str(failure["example"] or failure["message"]) for failure in failures]
        # A value that is missing says nothing about this step: an earlier one did not give it.
        own = [number for number, reason in enumerate(reasons) if not _is_missing(reason)]
        state: StepState = "differs" if own else "not reached"
        worst = max(own or range(len(failures)), key=lambda number: failures[number]["count"])
        why = _explained(step, reasons[worst])
        failed = sum(failure["count"] for failure in failures)
        return StepProof(name, state, f"{why}{f', {count(failed)} of {count(users)} users' if users > 1 else ''}")
    if row["requests"] < users:
        return StepProof(name, "not reached", f"{count(users - row['requests'])} of {count(users)} users")
    return _compared_size(step, name, float(row["average_size"]))


def _is_missing(reason: str) -> bool:
    return re.search(r"\$\{(\w+)\} has no value", reason) is not None


def _compared_size(step: DraftStep, name: str, size: float) -> StepProof:
    """A page that has become empty, or is another one by far."""
    reply = step.exchange.reply
    if reply is None or reply.body is None:
        return StepProof(name, "proven")
    recorded = len(reply.body)
    if max(recorded, size) >= _SMALL_B and not recorded / _SIZE_FACTOR <= size <= recorded * _SIZE_FACTOR:
        return StepProof(name, "differs", f"a body of {count(round(size))} B, recorded {count(recorded)} B")
    return StepProof(name, "proven")


def _explained(step: DraftStep, why: str) -> str:
    """A reason with what was recorded."""
    reply = step.exchange.reply
    status = re.fullmatch(r"status (\d+)", why)
    if status is not None and step.status is not None:
        return f"status {status[1]}, recorded {step.status}"
    if reply is not None and (missing := _OTHER_HEADER.fullmatch(why)):
        if missing[1] == "Location":
            return f"it redirects to another path, recorded {reply.header('location').partition('?')[0]}"
        return f"its media type is another one, recorded {reply.content_type}"
    if reply is not None and (difference := difference_in(why, reply.document, (step.other_reply or reply).document)):
        return difference
    return why
