"""What the prose of a report states of the test as a whole: the tool, corrected times, limits, its claims."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from labs.published.context import LONGEST

from plimsoll.stats.study import Claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.importers.result_file import ResultFile

TOOLS: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"\b{pattern}\b", re.I)
    for name, pattern in (
        ("locust", "locust"), ("k6", "k6"), ("vegeta", "vegeta"), ("wrk2", "wrk2"), ("wrk", "wrk"), ("oha", "oha"),
        ("jmeter", "j ?meter"), ("gatling", "gatling"), ("artillery", "artillery"), ("goose", "goose attack"),
        ("hyperfoil", "hyperfoil"), ("nighthawk", "nighthawk"), ("yandex.tank", "yandex[.-]?tank"), ("siege", "siege"),
    )
}  # fmt: skip
_CORRECTED = re.compile(
    r"\bcorrected (?:for (?:stalls|coordinated omission)|values)\b|\b(?:hdr|coordinated[ -]omission) correction\b", re.I
)
_STATUS = re.compile(r"\bstatus(?: code)?[ :]+([1-5]\d\d)\b", re.I)
_OPEN_FILES = re.compile(r"\bulimit -n\b[^.;\d]{0,60}(\d+)|\bopen files?(?: limit)?\b[^.;\d]{0,40}(\d+)", re.I)
_CLAIM = re.compile(
    r"\b(?P<relation>more|less|fewer) than (?P<percent>\d+(?:\.\d+)?) ?%(?P<what>[^.%]{0,80}?)\b(?:fail|error)", re.I
)


def tool_of(text: str) -> str | None:
    """The one load generator that a text names; None if there is none, or more than one."""
    found = [name for name, pattern in TOOLS.items() if pattern.search(text)]
    return found[0] if len(found) == 1 else None


def is_corrected(text: str) -> bool:
    """Whether a text says that its times were changed afterwards."""
    return bool(_CORRECTED.search(text))


def status_of_failures(text: str) -> int | None:
    """The one HTTP status that a text names."""
    found = set(_STATUS.findall(text))
    return int(found.pop()) if len(found) == 1 else None


def open_files(text: str) -> int | None:
    """How many files the generator may have open, if a text names one number."""
    found = {first or second for first, second in _OPEN_FILES.findall(text)}
    return int(found.pop()) if len(found) == 1 else None


def claims(source: ResultFile, lines: Sequence[str]) -> tuple[Claim, ...]:
    """Sentences such as "more than 90 % of the requests failed". They may go over the end of a line."""
    found = []
    shortened = [line[:LONGEST] for line in lines]
    for number, (line, behind) in enumerate(zip(shortened, [*shortened[1:], ""], strict=True), 1):
        for match in _CLAIM.finditer(f"{line} {behind}"):
            if match.start() >= len(line):
                continue
            relation = ">" if match["relation"].lower() == "more" else "<"
            share = round(float(match["percent"]) / 100, 12)
            found.append(Claim(source.place(number), line.strip(), "errors", relation, share))  # type: ignore[arg-type]
    return tuple(found)
