"""Why a step of a proof differs: a value that it sends as recorded, although another one is right by now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from plimsoll.sources.correlation.value_forms import is_telling, is_uuid
from plimsoll.sources.draft import ReplyValue
from plimsoll.sources.json_values import value_of
from plimsoll.sources.proof.expectations import step_title, strict_draft
from plimsoll.sources.reply_values import places_of
from plimsoll.sources.request_values import request_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.sources.draft import DraftStep, ScenarioDraft
    from plimsoll.sources.proof.passes import ProofRunner
    from plimsoll.sources.reply_values import ReplyPlace


def stale_value(draft: ScenarioDraft, number: int, runner: ProofRunner) -> str:
    """The first value that a step sends as recorded, and that an earlier reply has no longer; "" if there is none. A
    second run asks the replies. number: of the step, from 0. Raises PlimsollError if no run came about."""
    suspects = list(_suspects(draft, number))
    if not suspects:
        return ""
    asking = strict_draft(draft)
    for earlier, place, _ in suspects:
        step = asking.steps[earlier]
        if place.kind == "json":
            step.extracts.append(ReplyValue(f"stale_{len(step.extracts)}", "json", place.what, "asked"))
            step.equals[place.what] = _recorded(step, place.what)
        elif (reply := step.exchange.reply) is not None and (match := re.search(place.what, reply.text)):
            step.contains.append(match[0])
    failures = {row["name"]: str(row["example"] or row["message"]) for row in runner.run(asking)["failures"]}
    for earlier, place, label in suspects:
        if failures.get(step_title(draft.steps[earlier], earlier)):
            at = f"at {place.what}" if place.kind == "json" else f"for {place.label}"
            place_now = f"the reply of step {earlier + 1} has another value {at} now"
            return f"step {number + 1} sends {label} as recorded; {place_now}"
    return ""


def shared_value(draft: ScenarioDraft, number: int, users: int) -> str:
    """The first value of a step that several users send alike, although it may have to be another one for each; "" if
    there is none. number: of the step, from 0."""
    step = draft.steps[number]
    for variable in step.variables:
        if variable.origin in ("data", "secret"):
            rows = len(draft.data.get(variable.name, ())) or 1
            if rows < users:
                file = "people.csv" if variable.origin == "data" else "secrets.csv"
                return (
                    f"step {number + 1} sends {variable.name}, for which the file that ends in .{file} has fewer rows "
                    f"than there are users: if each user needs a row of its own, add rows"
                )
    for value in request_values(step):
        if is_uuid(value.value) or is_telling(value.value):
            return (
                f"step {number + 1} sends {value.label or value.place} as recorded, the same for each user: if it must "
                "be a new one each time, write a variable there, such as ${uuid}"
            )
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
