"""What the engine says of a scenario before a run: nothing, or the field that it refuses and the reason."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Scenario
from plimsoll.load.mistakes import BadValueError, Complaint
from plimsoll.load.protocols import grpc

if TYPE_CHECKING:
    from plimsoll.load.protocols.draft import Draft

_REFUSED = re.compile(r"(?P<path>[a-z_]+(?:\[\d+\]|\.[a-z_0-9]+)*): (?P<reason>.*)", re.DOTALL)
_LAST = re.compile(r"(?:\.[^.\[]+|\[\d+\]|^[^.\[]+)$")


def check(definition: dict[str, Any], draft: Draft) -> Complaint | None:
    """The engine's error, by field of the plan."""
    refused = refusal(definition)
    if refused is None:
        return None
    path, reason = refused
    while path and path not in draft.sources:
        path = _LAST.sub("", path)
    return Complaint(draft.sources.get(path, ""), reason)


def refusal(definition: dict[str, Any]) -> tuple[str, str] | None:
    """The field and the reason if native users cannot run this. Calls whose schema is not known yet are checked as far
    as they do not depend on it."""
    try:
        known = grpc.with_stand_in(definition) if grpc.needs_schema(definition) else definition
        Scenario(json.dumps(known, ensure_ascii=False))
    except BadValueError as error:
        return error.field, str(error)
    except ValueError as error:
        match = _REFUSED.fullmatch(str(error))
        return (match["path"], match["reason"]) if match else ("", str(error))
    return None
