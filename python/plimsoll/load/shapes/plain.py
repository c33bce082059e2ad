"""Shapes that are written as one value: a level that is held, or the file of a replay."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from pydantic import RootModel

from plimsoll.load.file_access import lines_of, read_text
from plimsoll.load.levels import LoadLevel
from plimsoll.load.mistakes import BadValueError, named, shown
from plimsoll.load.shapes.shape import Extent, LoadShape, Values, Wording
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import ExistingFile, RateValue, UsersValue

if TYPE_CHECKING:
    from pathlib import Path

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_SCALES = ((Decimal("1e17"), 9, "Unix ns"), (Decimal("1e14"), 6, "Unix µs"), (Decimal("1e11"), 3, "Unix ms"))
"""From this number on, it has this many decimal places: 1e17 ns are in 1973, and 1e11 ms too."""
_DATE = "RFC 3339"


class Constant(LoadShape):
    kind: ClassVar = "constant"
    extent: ClassVar = Extent.OPTIONAL
    root: LoadLevel

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.root,)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("constant", level=self.root.value, seconds=seconds)

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        return wording.level(values["level"])


class Rate(RootModel[RateValue], Constant):
    """rate = "900/s": as many arrivals per second."""


class Users(RootModel[UsersValue], Constant):
    """users = 50: as many users."""


class Replay(RootModel[ExistingFile], LoadShape):
    """replay = "times.txt": arrivals at the times in a file, one per line, counted from the earliest. They are seconds,
    Unix seconds, ms, µs or ns, or RFC 3339; `#` begins a comment."""

    kind: ClassVar = "replay"
    extent: ClassVar = Extent.OWN

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("replay", times=read_times(self.root))

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        return wording.counted(len(values["times"]), "recorded arrival")


def read_times(path: Path) -> tuple[float, ...]:
    """One time per line, in seconds after the earliest: seconds, Unix seconds, ms, µs or ns, or RFC 3339.

    Blank lines and lines that begin with # are skipped. Raises UsageError with the line.
    """
    times: list[Decimal] = []
    notation = ""
    for number, line in enumerate(lines_of(read_text(path)), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        with named(f"{path}:{number}"):
            time, kind = _time(text)
        if kind != (notation := notation or kind):
            raise BadValueError(f"{path}:{number}: {shown(text)} looks like {kind}, the lines before like {notation}")
        times.append(time)
    if not times:
        raise BadValueError(f"{path} has no times: one per line is expected")
    first = min(times)
    return tuple(float(time - first) for time in times)


def _time(text: str) -> tuple[Decimal, str]:
    """Seconds, and the notation."""
    if _NUMBER.fullmatch(text):
        number = Decimal(text)
        for least, places, name in _SCALES:
            if number >= least:
                return number.scaleb(-places), name
        return number, "seconds"
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        date = None
    if date is None or "-" not in text[:10]:
        raise BadValueError(f"{shown(text)} is not a time; valid are 12.5, 1767225600, 2026-01-01T00:00:00Z")
    if date.tzinfo is None:
        raise BadValueError(f"{shown(text)} does not say where; add Z for UTC, or +02:00")
    whole = int(date.replace(microsecond=0).timestamp())
    return Decimal(whole) + Decimal(date.microsecond).scaleb(-6), _DATE
