"""How a shape is written, in a plan as on the command line: one class per notation.

A new one is a class here and a field of `phases.PhaseTable`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, Field, PlainValidator, RootModel, model_validator

from plimsoll.load.durations import Duration, Length, parse_duration
from plimsoll.load.levels import LevelValue, LoadLevel, RateValue, StepValue, UsersValue, parse_level
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import ExistingFile, TomlTable
from plimsoll.load.timestamps import read_times


class Extent(Enum):
    """Where the length of a shape comes from."""

    OWN = "it says so itself"
    NEEDED = "it must be given"
    OPTIONAL = "it may be given; without it the shape has no end"


class Notation(ABC):
    """One way to write a shape."""

    extent: ClassVar[Extent]

    @property
    @abstractmethod
    def levels(self) -> tuple[LoadLevel, ...]:
        """The levels it is made of, the first first; none for events of their own."""

    @abstractmethod
    def spec(self, seconds: float | None) -> ShapeSpec:
        """seconds: its length, unless that is its own."""


class Rate(RootModel[RateValue], Notation):
    """rate = "900/s": as many arrivals per second."""

    extent: ClassVar = Extent.OPTIONAL

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.root,)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("constant", level=self.root.value, seconds=seconds)


class Users(RootModel[UsersValue], Notation):
    """users = 50: as many users."""

    extent: ClassVar = Extent.OPTIONAL

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.root,)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("constant", level=self.root.value, seconds=seconds)


class Ramp(TomlTable, Notation):
    """ramp = "100/s..900/s": straight from one level to another."""

    extent: ClassVar = Extent.NEEDED

    start: LevelValue = Field(alias="from")
    end: LevelValue = Field(alias="to")

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        start, dots, end = value.partition("..")
        if not dots:
            raise BadValueError(f"{shown(value)} is not understood; valid is 100/s..900/s")
        return {"from": start, "to": end}

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.start, self.end)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("ramp", start=self.start.value, end=self.end.value, seconds=seconds)


class Item(NamedTuple):
    """`30s:100/s`, or only a level."""

    seconds: float | None
    level: LoadLevel


def _item(value: Any) -> Item:
    if isinstance(value, str):
        seconds, colon, level = value.rpartition(":")
        return Item(parse_duration(seconds) if colon else None, parse_level(level))
    if isinstance(value, list) and len(value) == 2:
        return Item(parse_duration(value[0]), parse_level(value[1]))
    raise BadValueError(f'{shown(value)} is not understood; valid are "30s:100/s" and ["30s", "100/s"]')


def _items(value: Any) -> Any:
    """`30s:50,1m:100` as a list."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Items = Annotated[list[Annotated[Item, PlainValidator(_item)]], Field(min_length=1), BeforeValidator(_items)]


def _timed(items: list[Item]) -> tuple[tuple[float, float], ...]:
    """(seconds, level) of each, as the engine has them. Raises UsageError for one without a time."""
    for item in items:
        if item.seconds is None:
            raise BadValueError(f"{item.level.value:g} needs a time in front, as in 30s:100/s")
    return tuple((item.seconds or 0.0, item.level.value) for item in items)


class Steps(RootModel[Items], Notation):
    """steps = "30s:50/s, 30s:100/s": one level after the other."""

    extent: ClassVar = Extent.OWN

    @model_validator(mode="after")
    def _check(self) -> Steps:
        _timed(self.root)
        return self

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return tuple(item.level for item in self.root)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("steps", steps=_timed(self.root))


class Stages(RootModel[Items], Notation):
    """stages = "30s:100/s, 1m:900/s": straight to one level after the other, from a first one without a time, or 0."""

    extent: ClassVar = Extent.OWN

    @model_validator(mode="after")
    def _check(self) -> Stages:
        _timed(self._targets)
        if not self._targets:
            raise BadValueError("is a level to begin at, but no stage; valid is 30s:100/s,1m:900/s")
        return self

    @property
    def _first(self) -> LoadLevel:
        first = self.root[0]
        return first.level if first.seconds is None else LoadLevel(0.0, first.level.rate)

    @property
    def _targets(self) -> list[Item]:
        return self.root[1:] if self.root[0].seconds is None else self.root

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self._first, *(item.level for item in self._targets))

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("stages", stages=_timed(self._targets), start=self._first.value)


def _pairs(value: Any) -> Any:
    """`from=100/s,count=5` as a table."""
    if not isinstance(value, str):
        return value
    table: dict[str, str] = {}
    for part in value.split(","):
        name, equals, text = (each.strip() for each in part.partition("="))
        if not equals or not name or not text:
            raise BadValueError(f"{shown(part)} is not understood; name=value is expected")
        if name in table:
            raise BadValueError(f"{name} is there twice")
        table[name] = text
    return table


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


class Staircase(TomlTable, Notation):
    """staircase = { from = "100/s", step = "100/s", each = "30s", count = 5 }, perhaps with rise = "2s"."""

    extent: ClassVar = Extent.OWN

    start: LevelValue = Field(alias="from")
    step: StepValue
    each: Length
    count: Annotated[int, BeforeValidator(_whole), Field(ge=1)]
    rise: Duration = 0.0

    text = model_validator(mode="before")(_pairs)

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        last = self.start.value + (self.count - 1) * self.step.value
        return (self.start, self.step, *(() if self.count == 1 else (LoadLevel(last, self.start.rate),)))

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(
            "staircase", start=self.start.value, step=self.step.value, each=self.each, count=self.count, rise=self.rise
        )


class Spike(TomlTable, Notation):
    """spike = { base = "100/s", peak = "1000/s", at = "30s", hold = "10s" }, perhaps with rise = "1s"."""

    extent: ClassVar = Extent.NEEDED

    base: LevelValue
    peak: LevelValue
    at: Duration
    hold: Duration
    rise: Duration = 0.0

    text = model_validator(mode="before")(_pairs)

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.base, self.peak)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(
            "spike", base=self.base.value, peak=self.peak.value, at=self.at, hold=self.hold, seconds=seconds,
            rise=self.rise,
        )  # fmt: skip


class Sine(TomlTable, Notation):
    """sine = { mean = "500/s", amplitude = "200/s", period = "1m" }."""

    extent: ClassVar = Extent.OPTIONAL

    mean: LevelValue
    amplitude: LevelValue
    period: Length

    text = model_validator(mode="before")(_pairs)

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.mean, self.amplitude)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(
            "sine", mean=self.mean.value, amplitude=self.amplitude.value, period=self.period, seconds=seconds
        )


class Replay(RootModel[ExistingFile], Notation):
    """replay = "times.txt": arrivals at recorded times."""

    extent: ClassVar = Extent.OWN

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return ()

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("replay", times=read_times(self.root))
