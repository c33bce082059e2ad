"""How much load, as an experiment says it: a list of levels, or a ladder."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from plimsoll.load.levels import parse_level
from plimsoll.load.mistakes import BadValueError, at, shown
from plimsoll.load.table import RATE_SCHEMA, USERS_SCHEMA, TomlTable, one_or_more
from plimsoll.stats.study import Level

MOST_LEVELS = 1000


class LadderTable(TomlTable):
    """ladder = { from = 48, to = 578, factor = 1.5 }; for rates "100/s" or unit = "/s"."""

    start: str | float = Field(alias="from")
    """The first level."""
    to: str | float
    """The last level."""
    factor: Annotated[float, Field(gt=1)] | None = None
    """Each level is so many times the one before."""
    step: str | float | None = None
    """Or so much more."""
    unit: Literal["users", "/s"] | None = None
    """What bare numbers are."""

    @model_validator(mode="after")
    def _check(self) -> LadderTable:
        if (self.factor is None) == (self.step is None):
            raise BadValueError("needs either a factor or a step", "" if self.factor is None else "step")
        first, last = self._level("from", self.start), self._level("to", self.to)
        if first.unit != last.unit:
            raise BadValueError(f"{shown(self.to)} are {last.unit}, but from is in {first.unit}", "to")
        if last <= first:
            raise BadValueError(f"{last} is not above {first}; a ladder goes up", "to")
        if self.step is not None and self._level("step", self.step).value <= 0:
            raise BadValueError("must be above 0", "step")
        if len(self.levels) > MOST_LEVELS:
            raise BadValueError(f"has {len(self.levels)} rungs; at most {MOST_LEVELS} are possible")
        return self

    def _level(self, field: str, value: str | float) -> Level:
        return at(field, lambda given: level(given, self.unit), value)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The last rung is `to`: it takes the place of one that is less than half a step below it."""
        first, last = level(self.start, self.unit), level(self.to, self.unit)
        step = self._level("step", self.step).value if self.step is not None else 0.0
        rungs = [first.value]
        while len(rungs) <= MOST_LEVELS:
            here = rungs[-1] * self.factor if self.factor is not None else rungs[-1] + step
            half = here / self.factor**0.5 if self.factor is not None else here - step / 2
            if last.value < here * (1 - 1e-9) and last.value < half and len(rungs) > 1:
                rungs.pop()
            if here >= last.value * (1 - 1e-9):
                rungs.append(last.value)
                break
            rungs.append(here)
        if first.unit == "users":
            rungs = [float(round(each)) for each in rungs]
        return tuple(Level(first.unit, each) for each in dict.fromkeys(rungs))


def level(value: Any, unit: str | None = None) -> Level:
    """50 are users, "300/s" is a rate; a bare number is a rate where unit says so. Raises UsageError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadValueError(f"{shown(value)} is not a level")
    parsed = parse_level(value, bare_is_rate=unit == "/s")
    if unit == "users" and parsed.rate:
        raise BadValueError(f"{shown(value)} is a rate, not a number of users")
    if parsed.value <= 0:
        raise BadValueError("is zero: nothing would be sent")
    if not parsed.rate and parsed.value != int(parsed.value):
        raise BadValueError(f"{shown(value)} is not a whole number of users")
    return Level("/s" if parsed.rate else "users", parsed.value)


def _users(value: Any) -> Level:
    return level(value, "users")


def _rate(value: Any) -> Level:
    return level(value, "/s")


_Users = Annotated[Level, PlainValidator(_users), USERS_SCHEMA]
_Rate = Annotated[Level, PlainValidator(_rate), RATE_SCHEMA]


class LevelsTable(TomlTable):
    """[levels]"""

    users: Annotated[list[_Users], BeforeValidator(one_or_more)] | None = None
    """Numbers of users, increasing."""
    rates: Annotated[list[_Rate], BeforeValidator(one_or_more)] | None = None
    """Rates, as `"300/s"`, increasing."""
    ladder: LadderTable | None = None
    """Levels from one to another: `{ from = 48, to = 578, factor = 1.5 }`."""

    @model_validator(mode="after")
    def _check(self) -> LevelsTable:
        given = [name for name in ("users", "rates", "ladder") if getattr(self, name) is not None]
        if len(given) != 1:
            reason = f"contradicts {given[0]}; there is one of users, rates and ladder" if given else ""
            raise BadValueError(reason or "needs users, rates or a ladder", given[1] if given else "")
        name, listed_ones = given[0], self.users or self.rates or []
        if self.ladder is None and not listed_ones:
            raise BadValueError("must not be empty", name)
        for place, (before, after) in enumerate(pairwise(listed_ones), 1):
            if after == before or after in listed_ones[:place]:
                raise BadValueError(f"{after} is there twice; for more runs of a level say repeats", f"{name}[{place}]")
            if after < before:
                raise BadValueError(f"{after} comes after {before}; levels go up", f"{name}[{place}]")
        return self

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.ladder.levels if self.ladder is not None else tuple(self.users or self.rates or ())
