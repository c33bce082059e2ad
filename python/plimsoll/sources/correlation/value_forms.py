"""What a value looks like: random, the id of something, or typed by a person.

A form is no evidence by itself. It decides which values of a single recording are looked at, and which parts of a path
may differ between two recordings, or between a recording and its proof.
"""

from __future__ import annotations

import re
from datetime import datetime

SHORTEST_VALUE = 8
"""Characters from which on a value of one recording may be random."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_UNIX = re.compile(r"[1-9][0-9]{9}(?P<ms>[0-9]{3})?")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z")
CLOCK_RANGE_S = 60
"""Seconds that a value may be from the time when it was sent, and still be the time of the client."""
VAGUE_LABELS = frozenset(("id", "uuid", "pk", "key"))
"""Labels of ids that do not say what they are ids of."""
_ID_LABEL = re.compile(r"(?i:(?:^|[_-])(?:id|uuid|guid|pk)$)|[a-z]Id$")
_TYPED = re.compile(r".*\s.*|[^@]+@[^@]+\.[a-z]+|\d{4}-\d\d-\d\d.*|[\d.]+|[a-zA-Z-]{1,19}|(?:https?:)?//.*", re.DOTALL)
"""What people and programs write by themselves: words, sentences, addresses, dates, plain numbers."""


def is_uuid(value: str) -> bool:
    """Whether a value has the form of a UUID."""
    return _UUID.fullmatch(value) is not None


def clock_form(value: str, sent_at: float | None) -> str | None:
    """The variable of plans (now, unix, unix_ms) for a value that is the time when it was sent; else None.

    sent_at: Unix seconds; None: unknown."""
    if sent_at is None:
        return None
    if match := _UNIX.fullmatch(value):
        said, form = int(value) / (1000 if match["ms"] else 1), "unix_ms" if match["ms"] else "unix"
    elif _ISO.fullmatch(value):
        try:
            said, form = datetime.fromisoformat(value).timestamp(), "now"
        except ValueError:
            return None
    else:
        return None
    return form if abs(said - sent_at) <= CLOCK_RANGE_S else None


def is_telling(value: str) -> bool:
    """Whether a value is so long and random that neither chance nor a person made it."""
    if len(value) < SHORTEST_VALUE or _TYPED.fullmatch(value):
        return len(value) >= 10 and value.isdigit()
    return any(character.isdigit() for character in value) or len(value) >= 20


def is_id_label(label: str) -> bool:
    """Whether a key or a field says that its value is an id: id, order_id, orderId, but not paid."""
    return _ID_LABEL.search(label) is not None


def is_id_segment(segment: str) -> bool:
    """Whether a segment of a path has the form of an id: 7, 7.json, a UUID, a long code."""
    stem = segment.partition(".")[0]
    return stem.isdigit() or is_uuid(stem) or is_telling(segment)
