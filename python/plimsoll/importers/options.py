"""Import options: data that a file does not contain."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.importers.cells import MS
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

Names = str | tuple[str, ...]
"""One name; or several, in the order of the file, or each as "found=NAME"."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """None and "" are options not given."""

    name: str = ""
    """Of the study."""
    users: float | None = None
    rate: float | None = None
    """Offered arrivals per second."""
    duration: float | None = None
    """Seconds."""
    ramp: float | None = None
    """Seconds in which users started."""
    think: float | None = None
    """Seconds."""
    variant: Names = ()
    operation: Names = ()
    tool: str = ""
    unit: str = ""
    """Of times without a unit."""
    slo: str = ""
    """An objective of the study, as `parse_cell_slo` reads it."""
    primary: tuple[str, ...] = ()
    """The metrics that the study is about, as `Metric.parse` reads them."""
    repeat_of: tuple[str, ...] = ()
    """Variants that are repeats of others, each as "REPEAT=VARIANT"."""
    column: tuple[str, ...] = ()
    """Meanings of a table's columns, each as "TITLE=MEANING"."""

    def __post_init__(self) -> None:
        for name in ("users", "rate", "duration"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{name}: must be greater than 0, not {value:g}")
        for name in ("ramp", "think"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}: must not be less than 0, not {value:g}")
        if self.users is not None and self.rate is not None:
            raise UsageError("users and rate: a closed model has users, an open one a rate; give one of them")
        if self.unit and self.unit not in MS:
            raise UsageError(f"unit: must be one of {listed(['ns', 'us', 'ms', 's', 'min'], 'or')}, not {self.unit!r}")

    @classmethod
    def of(cls, **given: object) -> ImportOptions:
        """Raises UsageError for an unknown option or an invalid value."""
        known = [each.name for each in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(f"{unknown[0]!r} is no option of an import; there are {listed(known, 'and')}")
        for name in ("variant", "operation", "column", "primary", "repeat_of"):
            if isinstance(given.get(name), list):
                given[name] = tuple(given[name])  # type: ignore[arg-type]
        return cls(**given)  # type: ignore[arg-type]


def renamed(found: Sequence[str], given: Names, what: str) -> dict[str, str]:
    """The name for each found one. Raises UsageError, listing those found, if they do not match."""
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or names == ("",):
        return {each: each for each in found}
    if all("=" in name for name in names):
        pairs = dict(name.split("=", 1) for name in names)
        unknown = [each for each in pairs if each not in found]
        if unknown:
            raise UsageError(f"{what}: there is no {unknown[0]!r} in the file; found were {listed(list(found))}")
        result = {each: pairs.get(each, each) for each in found}
    elif len(names) != len(found):
        raise UsageError(
            f"{what}: {len(names)} name{'s' * (len(names) != 1)} for {len(found)} that were found "
            f"({listed(list(found)) or 'none'}); give as many, or `{found[0] if found else 'A'}=NAME` for one"
        )
    else:
        result = dict(zip(found, names, strict=True))
    if len(set(result.values())) != len(result):
        raise UsageError(f"{what}: two would have the same name: {listed(list(result.values()))}")
    return result
