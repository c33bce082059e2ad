"""What a value looks like: random, the id of something, or typed by a person.

A form is no evidence by itself. It decides which values of a single recording are looked at, and which parts of a path
may differ between two recordings, or between a recording and its proof.
"""

from __future__ import annotations

import re

SHORTEST_VALUE = 8
"""Characters from which on a value of one recording may be random."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
VAGUE_LABELS = frozenset(("id", "uuid", "pk", "key"))
"""Labels of ids that do not say what they are ids of."""
_ID_LABEL = re.compile(r"(?i:(?:^|[_-])(?:id|uuid|guid|pk)$)|[a-z]Id$")
_TYPED = re.compile(r".*\s.*|[^@]+@[^@]+\.[a-z]+|\d{4}-\d\d-\d\d.*|[\d.]+|[a-zA-Z-]{1,19}|(?:https?:)?//.*", re.DOTALL)
"""What people and programs write by themselves: words, sentences, addresses, dates, plain numbers."""


def is_uuid(value: str) -> bool:
    """Whether a value has the form of a UUID."""
    return _UUID.fullmatch(value) is not None


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
