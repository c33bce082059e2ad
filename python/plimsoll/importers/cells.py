"""One cell of a table: a number with or without its unit, text, nothing, or something unreadable."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

MS: dict[str, float] = {
    "ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "msec": 1.0, "millis": 1.0, "milliseconds": 1.0,
    "s": 1e3, "sec": 1e3, "secs": 1e3, "seconds": 1e3, "m": 60e3, "min": 60e3, "minutes": 60e3, "h": 3600e3,
}  # fmt: skip
"""Milliseconds of a unit of time."""
BYTES: dict[str, float] = {
    "b": 1, "byte": 1, "bytes": 1, "kb": 1e3, "kib": 1024, "mb": 1e6, "mib": 1024**2, "gb": 1e9, "gib": 1024**3,
}  # fmt: skip
"""Bytes of a unit of size."""

COUNTS: dict[str, float] = {"k": 1e3, "m": 1e6, "mio": 1e6}
"""Multiples that a count may have behind it: 12.3k."""

_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "null", "none", "?"})
_NUMBER = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ%/]*)")
_MARKUP = "*_`~ "
_MARKS_ONLY = "*_` "
_ABOUT = re.compile(r"(?:~(?!~)|≈|about |approx\.? |ca\.? )\s*(?=\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableCell:
    kind: Literal["number", "text", "nothing", "garbled"]
    text: str
    """As in the file."""
    value: float = 0.0
    unit: str = ""
    """In lower case."""
    decimals: int = 0
    is_about: bool = False
    """Whether the text says that it is rounded: ~12,300."""

    @classmethod
    def of(cls, text: str) -> TableCell:
        """A number is garbled if a second one, or letters that are no unit, are next to it."""
        bare = _without_markup(text)
        if bare.lower() in _NOTHING:
            return cls("nothing", text)
        about = _ABOUT.match(text.strip(_MARKS_ONLY))
        found = _NUMBER.fullmatch(_ABOUT.sub("", bare) if about else bare)
        if found is None:
            return cls("garbled" if bare[0].isdigit() else "text", text)
        unit = found[2].lower()
        known = (MS, BYTES, COUNTS, ("%", "/s", "rps", "req/s"))
        if unit and not any(unit in units for units in known):
            return cls("garbled", text)
        digits = found[1].replace(",", "")
        mantissa = digits.lower().split("e")[0]
        if not math.isfinite(float(digits)):
            return cls("garbled", text)
        return cls("number", text, float(digits), unit, len(mantissa.partition(".")[2]), about is not None)

    @property
    def name(self) -> str:
        """The text without Markdown's marks. Blanks inside a path come from wrapped table cells."""
        bare = _without_markup(self.text.replace("\\|", "|")) if self.kind != "nothing" else ""
        return bare.replace(" ", "") if bare.startswith("/") else bare


def _without_markup(text: str) -> str:
    """Without Markdown's marks around it, and with one blank for any white space. Takes linear time."""
    return re.sub(r"\s+", " ", text).strip(_MARKUP)
