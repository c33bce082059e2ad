"""A scenario that expects what was recorded: the status, the media type, the keys of a JSON object and the types of
what is in it, the title of a page, and where a redirect leads."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING

from plimsoll.sources.correlation.value_forms import is_id_segment
from plimsoll.sources.draft import ReplyValue
from plimsoll.sources.exchange import url_parts
from plimsoll.sources.json_values import pointer_part
from plimsoll.sources.proof.json_types import type_checks
from plimsoll.sources.reply_values import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.sources.draft import DraftStep, ScenarioDraft
    from plimsoll.sources.exchange import RecordedReply

MOST_KEYS = 20
"""Keys of one JSON object that a reply must have again."""
_TITLE = re.compile(r"<title>[^<$]{1,200}</title>", re.IGNORECASE)
_ANY_SEGMENT = "[^/?#]+"


def strict_draft(draft: ScenarioDraft) -> ScenarioDraft:
    """The scenario with these expectations, and a name of its own for each step."""
    strict = deepcopy(draft)
    samples = {sample for sample in draft.samples.values() if sample}
    for number, step in enumerate(strict.steps):
        step.title = step_title(step, number)
        step.think = None
        reply = step.exchange.reply
        if reply is not None:
            # What differs between two recordings of a flow is no mistake of a third one.
            other = step.other_reply or reply
            step.extracts += _expected(reply, other, samples)
            title = _title_of(reply)
            # A title may name what a variable stands for.
            if title == _title_of(other) and not any(sample in title for sample in samples):
                step.contains += [title] if title else []
    return strict


def _title_of(reply: RecordedReply) -> str:
    """The title of a page with its tags; "" without one."""
    match = _TITLE.search(reply.text) if reply.content_type == "text/html" else None
    return match[0] if match else ""


def step_title(step: DraftStep, number: int) -> str:
    """Its number, method and name. number: from 0."""
    return f"{number + 1} {step.exchange.method} {step.name}"


def _expected(reply: RecordedReply, other: RecordedReply, samples: set[str]) -> Iterator[ReplyValue]:
    """Extractions, each of which fails if the reply does not have what both recorded ones had."""
    if isinstance(reply.document, dict):
        others = other.document if isinstance(other.document, dict) else {}
        names = [name for name, value in reply.document.items() if value is not None and others.get(name) is not None]
        for number, name in enumerate(names[:MOST_KEYS]):
            yield ReplyValue(f"proof_{number}", "json", f"/{pointer_part(name)}", "must be there")
    is_same_type = reply.content_type == other.content_type
    if reply.body and is_same_type and re.fullmatch(r"[\w.+-]+/[\w.+-]+", reply.content_type):
        pattern = f"(?i)^\\s*({escaped(reply.content_type)})"
        yield ReplyValue("proof_type", "header", "Content-Type", "must be the same", pattern)
    if 300 <= reply.status < 400 and (location := reply.header("location")):
        pattern = _leads_to(location, other.header("location") or location, samples)
        yield ReplyValue("proof_location", "header", "Location", "must lead to the same path", pattern)
    if reply.document is not None and type(reply.document) is type(other.document):
        for check in type_checks(reply.document, other.document):
            yield ReplyValue(f"proof_type_{check.number}", "jsonpath", check.jsonpath, "must have the same type")


def _leads_to(location: str, other: str, samples: set[str]) -> str:
    """A pattern for a redirect to this path, in which values may be others, of any host. other: where that of a second
    recording leads."""
    parts = url_parts(location)
    own, others = parts.path.split("/"), url_parts(other).path.split("/")
    if len(own) != len(others):
        others = own
    segments = [
        _ANY_SEGMENT if segment != second or is_id_segment(segment) or segment in samples else escaped(segment)
        for segment, second in zip(own, others, strict=True)
    ]
    origin = "(?:https?://[^/?#]+)?" if parts.path.startswith("/") or not parts.path else ""
    return f"^{origin}({'/'.join(segments)})(?:[?#]|$)"
