"""Formats numbers and names for sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.study import Level, Study, Trial

MOST_NAMED = 4
"""Names in a list before "and n more"."""
MANY = 3.0
"""Above this factor percentages are hard to read."""
_BYTES = ("bytes", "KiB", "MiB", "GiB", "TiB")


def ms(milliseconds: float) -> str:
    """ "870 ms", "8.5 s"."""
    if abs(milliseconds) < 1000:
        return f"{milliseconds:.3g} ms"
    return f"{milliseconds / 1000:.3g} s"


def seconds(value: float) -> str:
    """ "0.82 s", "120 s": two digits or the whole seconds."""
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s"


def percent(share: float) -> str:
    """Three digits: 0.1312 is "13.1 %", 0.00042 is "0.042 %". Never 100 % of less than all."""
    shown = f"{share * 100:.3g} %"
    return "99.9 %" if shown == "100 %" and share < 1 else shown


def whole_percent(share: float) -> str:
    """0.979 is "98 %"."""
    return f"{share * 100:.0f} %"


def change(ratio: float) -> str:
    """1.131 is "+13.1 %"; 52.3 is "52.3 times as much"."""
    if ratio >= MANY:
        return f"{ratio:.3g} times as much"
    return signed(ratio, ".1f")


def signed(ratio: float, form: str) -> str:
    """0.504 is "−49.6 %" in the form ".1f"."""
    return f"{(ratio - 1) * 100:+{form}} %".replace("-", "−")


def number(value: float) -> str:
    """Four significant digits, with a thousands separator only if it helps: "54.58", "23 495"."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4g}"


def quantity(value: float, unit: str) -> str:
    """ "5.38 GiB" for many bytes, else "179.9 MB"."""
    if unit != "bytes":
        return f"{number(value)} {unit}".rstrip()
    power = min(len(_BYTES) - 1, int(math.log2(max(abs(value), 1)) / 10))
    scaled = value / 1024**power
    return f"{scaled:.0f} {_BYTES[power]}" if abs(scaled) >= 999.5 else f"{scaled:.3g} {_BYTES[power]}"


def users(many: float) -> str:
    """ "1 user", "47 users"; the mean of a number that changes is rounded."""
    return count(round(many) if many >= 10 else many, "user")


def between(low: str, high: str) -> str:
    """E.g. "6 ms to 9 ms", or a single text if both are equal."""
    return low if low == high else f"{low} to {high}"


def times(all_ms: Iterable[float]) -> str:
    """ "6 ms to 9.1 s": from the shortest to the longest."""
    known = sorted(all_ms)
    return between(ms(known[0]), ms(known[-1]))


def lead(who: str) -> str:
    """The start of a sentence: "new, GET /todos/: "; "" without a name."""
    return f"{who}: " if who else ""


def several(names: Sequence[str]) -> str:
    """ "a, b and c"; after `MOST_NAMED`: "a, b, c, d and 7 more"."""
    if len(names) > MOST_NAMED + 1:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return listed(names)


def listed(names: Iterable[str]) -> str:
    """ "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def count(many: float, thing: str) -> str:
    """ "1 request", "1500 requests"."""
    return f"{number(many)} {thing}{'' if many == 1 else 's'}"


def subject(study: Study, variant: str, operation: str = "", endpoint: str = "") -> str:
    """The subject of a finding, with only the names that make it distinct: "new, GET /todos/"; "" if none is needed."""
    named = [
        variant if len(study.variants) > 1 else "",
        # An operation named after its endpoint is not repeated.
        operation if len(study.operations) > 1 and not (endpoint and endpoint in operation) else "",
        endpoint,
    ]
    return ", ".join(name for name in named if name)


def at(study: Study, level: Level | None) -> str:
    """ " at 48 users"; "" in a study of one level."""
    return f" at {level}" if level is not None and len(study.levels) > 1 else ""


def cell(study: Study, trial: Trial, endpoint: str = "") -> str:
    """All runs of one variant at one level: "new, GET /todos/ at 48 users"; "" if no name is needed."""
    return (subject(study, trial.variant, trial.operation, endpoint) + at(study, trial.level)).strip()


def compared(study: Study, key: tuple[str, str], level: Level | None, operation: str) -> str:
    """A row of two variants: "read: GET /todos/ at 48 users"."""
    label = f"{key[0]} {key[1]}".strip()
    of = operation if len(study.operations) > 1 and operation != label else ""
    return lead(of) + f"{label}{at(study, level)}"


def place(study: Study, trial: Trial, endpoint: str = "") -> str:
    """One run among the others: "new, GET /todos/ at 48 users (run 2)"."""
    repeats = study.cell(trial.variant, trial.level, trial.operation)
    number_of_run = f"(run {repeats.index(trial) + 1})" if len(repeats) > 1 else ""
    return " ".join(part for part in (cell(study, trial, endpoint), number_of_run) if part) or trial.id
