"""Shapes that are a table in a plan, and name=value,… on the command line."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from plimsoll.load.levels import LoadLevel
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.shapes.shape import Extent, LoadShape, Values, Wording
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import Duration, Length, LevelValue, StepValue, TomlTable


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


CountValue = Annotated[int, BeforeValidator(_whole), Field(ge=1)]
"""A count, as a number or text."""


class TableShape(TomlTable, LoadShape):
    """Its fields are the arguments of the curve, and its levels."""

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return cls.parse(value) if isinstance(value, str) else value

    @staticmethod
    def parse(text: str) -> dict[str, str]:
        """`from=100/s,count=5` as a table. Raises UsageError."""
        table: dict[str, str] = {}
        for part in text.split(","):
            name, equals, value = (each.strip() for each in part.partition("="))
            if not equals or not name or not value:
                raise BadValueError(f"{shown(part)} is not understood; name=value is expected")
            if name in table:
                raise BadValueError(f"{name} is there twice")
            table[name] = value
        return table

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return tuple(value for _, value in self if isinstance(value, LoadLevel))

    def spec(self, seconds: float | None) -> ShapeSpec:
        values = {name: value.value if isinstance(value, LoadLevel) else value for name, value in self}
        return ShapeSpec.of(self.kind, **values, **({} if self.extent is Extent.OWN else {"seconds": seconds}))


class Ramp(TableShape):
    """ramp = "100/s..900/s": straight from one level to another."""

    kind: ClassVar = "ramp"
    extent: ClassVar = Extent.NEEDED

    start: LevelValue = Field(alias="from")
    """The first level."""
    end: LevelValue = Field(alias="to")
    """The last level, at the end of `duration`."""

    @staticmethod
    def parse(text: str) -> dict[str, str]:
        start, dots, end = text.partition("..")
        if not dots:
            raise BadValueError(f"{shown(text)} is not understood; valid is 100/s..900/s")
        return {"from": start, "to": end}

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        return f"{wording.level(values['start'])} to {wording.level(values['end'])}"


class Staircase(TableShape):
    """staircase = { from = "100/s", step = "100/s", each = "30s", count = 5, rise = "2s" }: level after level."""

    kind: ClassVar = "staircase"
    extent: ClassVar = Extent.OWN

    start: LevelValue = Field(alias="from")
    """The first level."""
    step: StepValue
    """How much more each next level has. Below 0: less."""
    each: Length
    """How long each level holds."""
    count: CountValue
    """How many levels."""
    rise: Duration = 0.0
    """The time from one level to the next, linear."""

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        last = self.start.value + (self.count - 1) * self.step.value
        return (self.start, self.step, *(() if self.count == 1 else (LoadLevel(last, self.start.rate),)))

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        last = values["start"] + values["step"] * (values["count"] - 1)
        count = wording.counted(values["count"], "step")
        return f"{count} from {wording.level(values['start'])} to {wording.level(last)}"


class Spike(TableShape):
    """spike = { base = "100/s", peak = "1000/s", at = "30s", hold = "10s", rise = "1s" }: up to a peak and back."""

    kind: ClassVar = "spike"
    extent: ClassVar = Extent.NEEDED

    base: LevelValue
    """The level before and after."""
    peak: LevelValue
    """The highest level."""
    at: Duration
    """When the peak begins."""
    hold: Duration
    """How long the peak holds."""
    rise: Duration = 0.0
    """The time from base to peak and back, linear."""

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        return f"{wording.level(values['base'])} with a spike to {wording.level(values['peak'])}"


class Sine(TableShape):
    """sine = { mean = "500/s", amplitude = "200/s", period = "1m" }: up and down around a mean."""

    kind: ClassVar = "sine"
    extent: ClassVar = Extent.OPTIONAL

    mean: LevelValue
    """The level in the middle."""
    amplitude: LevelValue
    """The highest level is the mean and this."""
    period: Length
    """The time from one peak to the next."""

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        mean, amplitude = wording.level(values["mean"]), wording.level(values["amplitude"])
        return f"{mean} ± {amplitude} every {wording.seconds(values['period'])}"
