"""Proves a scenario: one user of the real engine replays it, and each reply is compared with the recorded one.

The plan of the proof is the scenario's own with more expectations: the recorded status, the keys of a JSON object, the
title of a page. It has a name of its own for each step, so that the run's record says how each one went. If a step
differs, a second run asks whether what it sent as recorded has another value in an earlier reply by now.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.errors import PlimsollError
from plimsoll.sources.draft import ReplyValue
from plimsoll.sources.json_values import pointer_part, value_of
from plimsoll.sources.plan_text import PlanText
from plimsoll.sources.reply_values import places_of
from plimsoll.sources.request_values import request_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.sources.draft import DraftStep, ScenarioDraft
    from plimsoll.sources.exchange import RecordedReply
    from plimsoll.sources.reply_values import ReplyPlace

LONGEST_PROOF_S = 300.0
MOST_KEYS = 20
"""Keys of one JSON object that a reply must have again."""
_TITLE = re.compile(r"<title>[^<$]{1,200}</title>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StepProof:
    """How one step went."""

    step: str
    """Its number, method and name."""
    state: Literal["proven", "differs", "not reached"]
    why: str = ""
    """How its reply differs."""


def prove(draft: ScenarioDraft) -> tuple[list[StepProof], str]:
    """The proof of each step, and what the first step that differs sent of the recording that is no longer true; "" if
    nothing is found. Raises PlimsollError if no run came about."""
    strict = _strict(draft)
    proofs = _judged(draft, _run(strict))
    number = next((number for number, proof in enumerate(proofs) if proof.state == "differs"), None)
    return proofs, "" if number is None else _stale(draft, number)


def _strict(draft: ScenarioDraft) -> ScenarioDraft:
    """The scenario that expects what was recorded."""
    strict = deepcopy(draft)
    for number, step in enumerate(strict.steps):
        step.title = _title(step, number)
        step.think = None
        reply = step.exchange.reply
        if reply is not None:
            step.extracts += _keys(reply)
            title = _TITLE.search(reply.text) if reply.content_type == "text/html" else None
            step.contains = [title[0]] if title and not _has_variable(draft, title[0]) else []
    return strict


def _title(step: DraftStep, number: int) -> str:
    return f"{number + 1} {step.exchange.method} {step.name}"


def _keys(reply: RecordedReply) -> Iterator[ReplyValue]:
    """An extraction for each key of an object: it fails if the key is missing."""
    if isinstance(reply.document, dict):
        names = [name for name, value in reply.document.items() if value is not None]
        for number, name in enumerate(names[:MOST_KEYS]):
            yield ReplyValue(f"proof_{number}", "json", f"/{pointer_part(name)}", "must be there")


def _has_variable(draft: ScenarioDraft, text: str) -> bool:
    """A title may name what a variable stands for."""
    return any(sample and sample in text for sample in draft.samples.values())


def _run(draft: ScenarioDraft) -> dict[str, Any]:
    """The record of a run of one user and one iteration."""
    plan = PlanText(draft, "proof", None)
    with tempfile.TemporaryDirectory(prefix="plimsoll-proof-") as name:
        folder = Path(name)
        (folder / "proof.toml").write_text(plan.text)
        for file, content in plan.files.items():
            (folder / file).write_bytes(content)
        command = [
            sys.executable, "-P", "-m", "plimsoll", "run", "proof.toml", "--headless", "--only-summary", "--yes",
            "-u", "1", "--iterations", "1", "--store", "proof.db", "--summary", "proof.json",
        ]  # fmt: skip
        # Options of the user's environment are for the user's runs.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PLIMSOLL_", "LOCUST_"))
        }
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=LONGEST_PROOF_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise PlimsollError(f"the proof did not end within {LONGEST_PROOF_S:.0f} s") from error
        try:
            record = json.loads((folder / "proof.json").read_text())
        except (OSError, ValueError) as error:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise PlimsollError(f"the proof could not run: {said.removeprefix('plimsoll: ')}") from error
    assert isinstance(record, dict)
    return record


def _judged(draft: ScenarioDraft, record: dict[str, Any]) -> list[StepProof]:
    sent = {row["name"]: row["requests"] for row in record["endpoints"]}
    failures = {row["name"]: row for row in reversed(record["failures"])}
    proofs = []
    for number, step in enumerate(draft.steps):
        name = _title(step, number)
        if name in failures:
            why = str(failures[name]["example"] or failures[name]["message"])
            missing = re.search(r"\$\{(\w+)\} has no value", why)
            state: Literal["differs", "not reached"] = "not reached" if missing else "differs"
            proofs.append(StepProof(name, state, _explained(step, why)))
        elif sent.get(name):
            proofs.append(StepProof(name, "proven"))
        else:
            proofs.append(StepProof(name, "not reached"))
    return proofs


def _explained(step: DraftStep, why: str) -> str:
    status = re.fullmatch(r"status (\d+)", why)
    if status is not None and step.status is not None:
        return f"status {status[1]}, recorded {step.status}"
    return why


def _stale(draft: ScenarioDraft, number: int) -> str:
    """The first value that a step sends as recorded, and that an earlier reply has no longer."""
    suspects = list(_suspects(draft, number))
    if not suspects:
        return ""
    asking = _strict(draft)
    for earlier, place, _ in suspects:
        step = asking.steps[earlier]
        if place.kind == "json":
            step.extracts.append(ReplyValue(f"stale_{len(step.extracts)}", "json", place.what, "asked"))
            step.equals[place.what] = _recorded(step, place.what)
        elif (reply := step.exchange.reply) is not None and (match := re.search(place.what, reply.text)):
            step.contains.append(match[0])
    failures = {row["name"]: str(row["example"] or row["message"]) for row in _run(asking)["failures"]}
    for earlier, place, label in suspects:
        if failures.get(_title(draft.steps[earlier], earlier)):
            at = f"at {place.what}" if place.kind == "json" else f"for {place.label}"
            place_now = f"the reply of step {earlier + 1} has another value {at} now"
            return f"step {number + 1} sends {label} as recorded; {place_now}"
    return ""


def _recorded(step: DraftStep, pointer: str) -> Any:
    reply = step.exchange.reply
    return None if reply is None else value_of(reply.document, pointer)


def _suspects(draft: ScenarioDraft, number: int) -> Iterator[tuple[int, ReplyPlace, str]]:
    """Values of a step that an earlier recorded reply has, too: the step of that reply, the place and a label."""
    for value in request_values(draft.steps[number]):
        if len(value.value) < 2:
            continue
        for earlier in range(number - 1, -1, -1):
            reply = draft.steps[earlier].exchange.reply
            place = (
                None
                if reply is None
                else next((place for place in places_of(reply, value.value) if place.kind in ("json", "regex")), None)
            )
            if place is not None:
                yield earlier, place, value.label or value.place
                break
