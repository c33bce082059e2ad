"""Small random damage to a file."""

from collections.abc import Callable, Sequence
from random import Random

LONGEST = 20_000
"""Bytes of a damaged file."""
WORDS = (
    b"", b"0", b"-1", b"1e309", b"-0.0", b"nan", b"inf", b"9" * 400, b"18446744073709551616", b"\xc2\xb2", b"\xd9\xa3",
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b"'", b"`", b",", b";", b"|", b"{", b"}", b"[",
    b"]", b"null", b"true", b"{}", b"[]", b"=1+1", b"\x1b[2J", b"%s", b"${x}", b"../..", b"http://", b"https://[::1",
    b"1h1h", b"10%", b"1,5", b"1.5ms", b"[" * 200, b"a" * 2000, b"\xf0\x9f\x92\xa5",
)  # fmt: skip
"""Texts that often break programs."""


def damaged(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    """Returns text with one to four damages. seeds: files to take parts from."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text = chance.choice(_WAYS)(text, seeds, chance)[:LONGEST]
    return text


def _piece(text: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randint(0, len(text))
    return start, min(len(text), start + chance.choice((0, 1, 1, 2, 5, 20, 200)))


def _word(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    start, end = _piece(text, chance)
    return text[:start] + chance.choice(WORDS) + text[end:]


def _number(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    """Replace a number."""
    places = [place for place, byte in enumerate(text) if 48 <= byte <= 57]
    if not places:
        return text
    start = end = chance.choice(places)
    while end < len(text) and (48 <= text[end] <= 57 or text[end] == 46):
        end += 1
    return text[:start] + chance.choice(WORDS[:11]) + text[end:]


def _bit(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    if not text:
        return text
    place = chance.randrange(len(text))
    return text[:place] + bytes([text[place] ^ 1 << chance.randrange(8)]) + text[place + 1 :]


def _cut(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    return text[: chance.randint(0, len(text))]


def _lines(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    """Repeat, remove or move a line."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.randint(0, 2)):
        lines.insert(chance.randint(0, len(lines)), line)
    return b"".join(lines)


def _splice(text: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(seeds)
    start, end = _piece(other, chance)
    at = chance.randint(0, len(text))
    return text[:at] + other[start : end + 50] + text[at:]


_WAYS: tuple[Callable[[bytes, Sequence[bytes], Random], bytes], ...] = (_word, _number, _bit, _cut, _lines, _splice)
