"""Common patterns of many request names: `/item/17` and `/item/4` match `/item/[0-9]+`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Part = tuple[str, str]
    """(text, class of characters), with the class "" for a literal text."""
    Segment = tuple[Part, ...]
    Name = tuple[Segment, ...]

MOST_SAMPLED = 2_000
"""Maximum number of names examined."""
LONGEST_NAME = 500
"""Maximum characters of a name examined."""
MOST_SEGMENTS = 30
"""Segments of a name, including the borders between them, that are replaced by words in turn."""
LONGEST = 120
"""Maximum characters of a pattern in a sentence."""
MOST, FEW, LEAST_SHARE = 0.5, 0.25, 0.1
"""Shares of the names: "most" of them, too few to stop the search, and too few to mention."""
LEAST = 5
"""Names with a pattern: fewer may be similar by chance."""
WORD = "[^/]+"
_CLASSES = {
    "uuid": "[0-9a-f-]+",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "hex": "[0-9a-f]+",
    "token": "[A-Za-z0-9_-]+",
    "number": "[0-9]+",
}
_BORDERS = re.compile(r"([/?&=#])")
_VALUES = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"(?P<uuid>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})"
    r"|(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"|(?P<hex>(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{8,})"
    r"|(?P<token>(?=(?:[A-Za-z_-]*[0-9]){3})(?=(?:[0-9_-]*[A-Za-z]){3})[A-Za-z0-9_-]{16,})"
    r")(?![0-9A-Za-z])|(?P<number>[0-9]+)"
)
_PLACEHOLDERS = {_CLASSES["date"]: "[date]", WORD: "[name]"}
"""Of the classes that are no ids."""


@dataclass(frozen=True, slots=True)
class NamePattern:
    """The pattern of a share of some names."""

    text: str
    """Classes of characters in place of what differs: /item/[0-9]+"""
    name: str
    """One name for all of them: /item/[id]"""
    share: float


def name_pattern(names: Iterable[str]) -> NamePattern | None:
    """The pattern with the most names; None if it has few of them. Parts common to all its names stay."""
    split = [_split(name[:LONGEST_NAME]) for name in islice(names, MOST_SAMPLED)]
    if not split:
        return None
    alike = [[part for segment in name for part in segment] for name in _alike(split)]
    varying = [len({own for own, _ in parts}) > 1 for parts in zip(*alike, strict=True)]
    if len(alike) < max(LEAST, LEAST_SHARE * len(split)) or not any(varying):
        return None
    parts = [(own, kind if varies else "") for (own, kind), varies in zip(alike[0], varying, strict=True)]
    text = "".join(kind or own for own, kind in parts)
    name = "".join(_PLACEHOLDERS.get(kind, "[id]") if kind else own for own, kind in parts)
    return NamePattern(text, name, len(alike) / len(split)) if len(text) <= LONGEST else None


def _split(name: str) -> Name:
    """Borders are separate segments."""
    segments: list[Segment] = []
    for text in _BORDERS.split(name):
        if text:
            segments.append(_parts(text))
    return tuple(segments)


def _parts(text: str) -> Segment:
    parts: list[Part] = []
    end = 0
    for found in _VALUES.finditer(text):
        if found.start() > end:
            parts.append((text[end : found.start()], ""))
        parts.append((found[0], _CLASSES[found.lastgroup or ""]))
        end = found.end()
    return (*parts, *([(text[end:], "")] if end < len(text) else []))


def _alike(names: Sequence[Name]) -> list[Name]:
    """The largest group of names that differ only in values; if that is small, also in one whole segment."""
    by_shape = _grouped((_shape(name), name) for name in names)
    largest = max(by_shape, key=len)
    if len(largest) >= FEW * len(names):
        return largest
    by_word = _grouped((_shape(wider), wider) for name in names for wider in _with_a_word(name))
    words = max((group for group in by_word if _has_many_words(group)), key=len, default=largest)
    return max(largest, words, key=len)


def _grouped(names: Iterable[tuple[tuple[str, ...], Name]]) -> list[list[Name]]:
    groups: dict[tuple[str, ...], list[Name]] = {}
    for shape, name in names:
        groups.setdefault(shape, []).append(name)
    return list(groups.values())


def _shape(name: Name) -> tuple[str, ...]:
    return tuple(kind or own for segment in name for own, kind in segment)


def _with_a_word(name: Name) -> Iterator[Name]:
    """The name with each of its segments in turn as a word. None for a name with very many."""
    if len(name) > MOST_SEGMENTS:
        return
    for place, segment in enumerate(name):
        text = "".join(own for own, _ in segment)
        if not _BORDERS.fullmatch(text) and any(not kind for _, kind in segment):
            yield (*name[:place], ((text, WORD),), *name[place + 1 :])


def _has_many_words(group: list[Name]) -> bool:
    """An API has few different parts."""
    words = {own for name in group for segment in name for own, kind in segment if kind == WORD}
    return len(words) >= max(LEAST, len(group) / 100)
