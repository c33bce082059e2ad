"""Numbers as people read them, by the same rules as `web/src/shared/format.ts`. Only what is shown is rounded."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.latency.milliseconds import Milliseconds

NONE = "–"
"""Stands for a number that is not known."""
AT_LEAST = "≥"
"""Stands before a time that may have been longer, because a request was given up on."""
ABOUT = "≈"
"""Stands before a count that its source rounds."""
MANY = 3.0
"""Above this factor percentages are hard to read."""
UNCLEAN = "*"
"""Stands behind a time of which the generator may have added more than too little to matter."""
_NARROW = "\u202f"
"""Between groups of digits: narrow, and never at the end of a line."""


def milliseconds(duration: Milliseconds | None) -> str:
    """Three or more digits; "≥" before a time that may have been longer, "*" behind one that is not clean."""
    if duration is None:
        return NONE
    return f"{known(duration.value, at_least=duration.at_least)}{'' if duration.is_clean else UNCLEAN}"


def with_share(duration: Milliseconds | None) -> str:
    """With its unit: "4.00 ms", "27.6 ms (up to 8.7 ms of it is the generator's)"."""
    if duration is None:
        return NONE
    text = f"{known(duration.value, at_least=duration.at_least)} ms"
    return text if duration.is_clean else f"{text} (up to {significant(duration.share, 2)} ms of it is the generator's)"


def shares_line(durations: Iterable[Milliseconds | None]) -> str:
    """What "*" stands for among these times; "" when all of them are clean."""
    shares = [each.share for each in durations if each is not None and not each.is_clean]
    return f"{UNCLEAN} up to {significant(max(shares), 2)} ms of a marked time is the generator's" if shares else ""


def known(value: float | None, *, at_least: bool = False) -> str:
    """A number with three or more digits; "–" for one that is not known. at_least: it may have been greater."""
    return NONE if value is None or not math.isfinite(value) else f"{AT_LEAST if at_least else ''}{amount(value)}"


def amount(value: float) -> str:
    """Three digits or more: 0.113, 4.21, 21.5, 853, 12 345."""
    size = abs(value)
    if size == 0:
        return "0"
    if size < 0.0005:
        return ">−0.001" if value < 0 else "<0.001"
    decimals = 3 if size < 0.9995 else 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:,.{decimals}f}".replace(",", _NARROW)


def quantity(value: float | None, unit: str, *, at_least: bool = False) -> str:
    """To four digits or more, so that a value beside its limit does not look equal to it: 300.4 ms, 12.5/s, 0.1%."""
    if value is None:
        return NONE
    number = f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}".removesuffix(".0")
    return f"{AT_LEAST if at_least else ''}{number}{'' if unit in ('', '/s', '%') else ' '}{unit}"


def share(part: float, whole: float) -> str:
    """As a percentage; what is not nothing is never shown as 0 %, nor what is not all as 100 %."""
    if not whole:
        return NONE
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "<0.01%"
    if 99.99 < percent < 100:
        return ">99.99%"
    return f"{percent:.2f}%"


def number(value: float) -> str:
    """Four digits, or the whole number: 54.58, 1500, 23 495."""
    return count(value) if abs(value) >= 10_000 else f"{value:.4g}"


def counted(many: float, thing: str) -> str:
    """1 timeout, 1500 timeouts."""
    return f"{number(many)} {thing}{'' if many == 1 else 's'}"


def counted_users(many: float) -> str:
    """1 user, 47 users; the mean of a number that changes is rounded."""
    return counted(round(many) if many >= 10 else many, "user")


def between(low: str, high: str) -> str:
    """6 ms to 9 ms; a single text if both are equal."""
    return low if low == high else f"{low} to {high}"


def change(ratio: float) -> str:
    """1.131 is "+13.1 %"; 52.3 is "52.3 times as much"."""
    return f"{ratio:.3g} times as much" if ratio >= MANY else signed_percent(ratio, ".1f")


def signed_percent(ratio: float, form: str) -> str:
    """0.504 is "−49.6 %" in the form ".1f"."""
    return f"{(ratio - 1) * 100:+{form}} %".replace("-", "−")


def signed_share(change: float) -> str:
    """+27 %, −9.0 %."""
    return f"{'−' if change < 0 else '+'}{short_percent(abs(change))}"


def observed(value: float, unit: str) -> str:
    """A value with its unit: 179.9 MB; 5.38 GiB for many bytes."""
    return size(value) if unit == "bytes" else f"{number(value)} {unit}".rstrip()


def size(in_bytes: float) -> str:
    """512 B, 1.50 GiB."""
    unit, scale = size_unit(in_bytes)
    return f"{in_bytes:.0f} B" if unit == "B" else f"{amount(in_bytes / scale)} {unit}"


def size_unit(in_bytes: float) -> tuple[str, float]:
    """What so many bytes are said in, and the bytes of it: ("MiB", 1048576.0)."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    power = next((power for power in range(len(units)) if abs(in_bytes) < 1024.0 ** (power + 1)), len(units) - 1)
    return units[power], 1024.0**power


def count(value: float) -> str:
    """8 579"""
    return f"{value:,.0f}".replace(",", _NARROW)


def rounded(number: float, rounding: float) -> float:
    """A count with the digits that its source has. rounding: half the step of the source; 0 for an exact count."""
    if not rounding:
        return number
    step = 10.0 ** math.floor(math.log10(2 * rounding))
    return round(number / step) * step


def source_count(number: int | None, rounding: float) -> str:
    """A count for a table: "8 579", or "≈8 600" if its source rounds it."""
    return NONE if number is None else f"{ABOUT if rounding else ''}{count(rounded(number, rounding))}"


def significant(number: float, digits: int) -> str:
    """At least so many digits, never as a power of ten; what is nothing is 0."""
    if not number or not math.isfinite(number):
        return "0" if not number else NONE
    whole = math.floor(math.log10(abs(float(f"{number:.{digits - 1}e}"))))
    return f"{number:.{max(0, digits - 1 - whole)}f}"


def percent(share: float) -> str:
    """Three digits: 0.1312 is "13.1 %", 0.00042 is "0.042 %". Never 100 % of less than all."""
    shown = f"{share * 100:.3g} %"
    return "99.9 %" if shown == "100 %" and share < 1 else shown


def percent_reached(share: float) -> str:
    """Rounded down to 0.1 %, so that it is not equal to a limit that it does not reach: 0.9896 is "98.9 %"."""
    return f"{math.floor(share * 1000) / 10:g} %"


def whole_percent(share: float) -> str:
    """0.979 is "98 %"."""
    return f"{share * 100:.0f} %"


def waiting_share(waited_s: float, of_all_s: float) -> str:
    """The share of an endpoint in all waiting: 80 %, <1 %; "–" for one without waiting."""
    part = waited_s / of_all_s if of_all_s else 0.0
    return NONE if not part else "<1 %" if part < 0.005 else whole_percent(part)


def short_percent(share: float) -> str:
    """5 %, 7.4 %, 0.1 %: two digits, and none that say nothing."""
    shown = significant(100 * share, 2)
    return f"{shown.rstrip('0').rstrip('.') if '.' in shown else shown} %"


def p_value(p: float) -> str:
    """.13, .050; below .001 only that."""
    if p < 0.001:
        return "<.001"
    shown = significant(p, 2)
    return "=" + (shown.removeprefix("0") if p < 1 and float(shown) < 1 else "1")


def signed(number: float, places: int) -> str:
    """+1.5, −0.3; 0.0 has no sign."""
    shown = f"{abs(number):.{places}f}"
    return shown if not float(shown) else f"{'+' if number > 0 else '−'}{shown}"


def moment(unix: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time of this machine's zone, with the zone: "2026-11-29 06:03:19 +01", "… UTC". Readers may be elsewhere.
    form: of `strftime`."""
    return " ".join(_moment(unix, form))


def moments(title: str, times: Iterable[float]) -> tuple[str, list[str]]:
    """A column of short times and its title, which has their zone. Times of several zones, those of summer and of
    winter, have each their own. The id of a run has the year."""
    known = [_moment(unix, "%m-%d %H:%M") for unix in times]
    zones = {zone for _, zone in known}
    if len(zones) == 1:
        return f"{title} {zones.pop()}", [text for text, _ in known]
    return title, [" ".join(each) for each in known]


def _moment(unix: float, form: str) -> tuple[str, str]:
    """And its zone."""
    local = datetime.fromtimestamp(unix).astimezone()
    offset = local.strftime("%z")
    if not local.utcoffset():
        return local.strftime(form), "UTC"
    return local.strftime(form), offset[:3] if offset[3:] == "00" else f"{offset[:3]}:{offset[3:]}"
