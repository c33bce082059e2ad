"""What the text around tables says of the load: users, rates, durations, how fast users were started.

A mention is taken where its form leaves no doubt: `users = 48`, `(10 VUS, 180 seconds)`, `req/s = 31.5 31.6`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 2_000
"""Characters of a line that are looked at."""
_PEOPLE = r"(?:concurrent |simultaneous |virtual )?(?:users|clients|vus?|connections|threads)"
_NUMBER = r"\d+(?:\.\d+)?"

_SPAWN = re.compile(
    rf"(?:users\s*(?:/|per)\s*s(?:ec(?:ond)?)?|(?:spawn|hatch)[ _-]rate)\s*[:=]\s*({_NUMBER})(?![\d.])", re.I
)
_USERS = re.compile(
    rf"(?:(?:no\.?|number|#)\s*(?:of\s+)?{_PEOPLE}|peak concurren(?:t|cy)(?:\s+users)?|concurrency|{_PEOPLE})\s*[:=]"
    rf"[ \t]*(\d[\d,]*)?(?![\d.])",
    re.I,
)
_COUNTED = re.compile(rf"(\d[\d,]*)\s*{_PEOPLE}\b", re.I)
_RATE = re.compile(r"\b(?:req(?:uest)?s?\s*/\s*s(?:ec)?|rps)\s*[:=]\s*(?P<rest>[^|]*)", re.I)
_OFFERED = re.compile(
    rf"(?:target|offered|arrival|attack)\s+rate\s*[:=]\s*({_NUMBER})\s*(?:/\s*s(?:ec)?|req/s|rps)?", re.I
)
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "fifteen": 15, "twenty": 20,
    "thirty": 30, "forty": 40, "sixty": 60,
}  # fmt: skip
_UNITS = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_LENGTH = rf"({_NUMBER}|{'|'.join(_WORDS)})[ -]?(s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b"
_DURATION = re.compile(rf"\b(?:duration|run[ -]?time|test length)\s*[:=]?\s*{_LENGTH}", re.I)
_IN_PROSE = re.compile(rf"\b{_LENGTH}(?=[^.;]*?\b(?:runs?|tests?|spikes?|load|attacks?)\b)", re.I)
_ANY_LENGTH = re.compile(rf"\b{_LENGTH}", re.I)
_RAMP_WORDS = re.compile(r"\b(?:ramp|warm|after|every|within|timeout|of at most)", re.I)
_HEADING = re.compile(r"#{1,6}\s+(?P<text>.+?)\s*#*")


@dataclass(frozen=True, slots=True)
class Mentions:
    """What one line says; None: nothing."""

    users: int | None = None
    unclear: str = ""
    """A level is mentioned, and cannot be read: why."""
    offered: float | None = None
    spawn_rate: float | None = None
    seconds: float | None = None
    rates: tuple[float, ...] = ()
    """Requests per second that were reached, as many as there are arms."""
    is_level_line: bool = False
    """The line, or the cell, begins with the level: a table of that level follows."""

    def __bool__(self) -> bool:
        return bool(self.unclear or self.rates) or any(
            each is not None for each in (self.users, self.offered, self.spawn_rate, self.seconds)
        )


def mentions(text: str) -> Mentions:
    """text: one line, or what stands before a title in a header. Of a longer line the beginning counts."""
    text = text[:LONGEST]
    spawn = _SPAWN.search(text)
    rest = _SPAWN.sub(" ", text)
    # Without a number it is a word like any other, unless the line begins with it.
    found = [each for each in _USERS.finditer(rest) if each[1] or _begins([each], rest)]
    # "10 VUS" counts where it stands apart: in parentheses, in a heading, or with nothing else.
    apart = " ".join(re.findall(r"\(([^()]*)\)", rest)) or (rest if _is_apart(rest) else "")
    told = {match[1] for match in found} or set(_COUNTED.findall(apart))
    users, unclear = None, ""
    if len(told) == 1:
        number = next(iter(told))
        if number is None:
            unclear = "no number follows"
        else:
            users = int(number.replace(",", ""))
    elif told and _begins(found, rest):
        unclear = "several numbers"
    rate = _RATE.search(rest)
    offered = _OFFERED.search(rest)
    return Mentions(
        users=users,
        unclear=unclear,
        offered=float(offered[1]) if offered else None,
        spawn_rate=float(spawn[1]) if spawn else None,
        seconds=_seconds(rest, apart),
        rates=_rates(rate["rest"]) if rate and not offered else (),
        is_level_line=_begins(found, rest),
    )


def _begins(found: list[re.Match[str]], text: str) -> bool:
    return bool(found) and not text[: found[0].start()].strip(" |#*")


def _is_apart(text: str) -> bool:
    return bool(_HEADING.fullmatch(text.strip())) or bool(_COUNTED.fullmatch(text.strip(" :.#*")))


def _rates(rest: str) -> tuple[float, ...]:
    """Every number that is no time of day: in "9.6 --> 18min = 8.9" the second one is 8.9."""
    return tuple(
        float(match[1]) for match in re.finditer(rf"(?<![\d.])({_NUMBER})(?![\d.]|\s*(?:min|sec|s|h)\b|[A-Za-z])", rest)
    )


def _seconds(text: str, apart: str) -> float | None:
    named = _DURATION.search(text)
    if named:
        return _length(named)
    lengths = {_length(match) for match in _ANY_LENGTH.finditer(apart)} if _COUNTED.search(apart) else set()
    if not lengths and not _RAMP_WORDS.search(text):
        lengths = {_length(match) for match in _IN_PROSE.finditer(text)}
    return lengths.pop() if len(lengths) == 1 else None


def _length(match: re.Match[str]) -> float:
    number = match[1].lower()
    unit = match[2].lower()
    seconds = _UNITS[unit] if unit in _UNITS else _UNITS[unit.removesuffix("s")]
    return float(_WORDS.get(number) or number) * seconds


def strip_mentions(title: str) -> tuple[str, str]:
    """(what a header's first cell tells of the load, the title behind it), as in "users = 48 req/s = 9.4 Method"."""
    if "=" not in title and ":" not in title:
        return "", title
    lead, _, last = title.rpartition(" ")
    return (lead, last) if lead and mentions(lead) and not any(c.isdigit() for c in last) else ("", title)


def heading(lines: list[str], index: int) -> str | None:
    """The heading that a line is: Markdown's, or a few words with blank lines around them."""
    text = lines[index][:LONGEST].strip()
    if marked := _HEADING.fullmatch(text):
        return marked["text"]
    if not text or not text[0].isalpha() or len(text.split()) > 6 or text[-1] in ".,:;!?" or set(text) & set("|="):
        return None
    before = index == 0 or not lines[index - 1].strip()
    after = index + 1 == len(lines) or not lines[index + 1].strip()
    return text if before and after else None
