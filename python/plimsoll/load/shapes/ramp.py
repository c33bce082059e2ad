"""Straight from one level to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from plimsoll.load.levels import Level, LevelValue
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.shapes.shape import Extent, FormText, LoadShape, ShapeOption, Wording
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping


class Ramp(Table, LoadShape):
    """ramp = "100/s..900/s", or { from = "100/s", to = "900/s" }."""

    name: ClassVar = "ramp"
    kind: ClassVar = "ramp"
    extent: ClassVar = Extent.NEEDED
    option: ClassVar = ShapeOption("FROM..TO", "100/s..900/s: evenly more over the run time.")
    form: ClassVar = FormText(
        "Ramp", "Evenly from one level to another over the run time, which must be given.", "100/s..900/s", "10..200"
    )

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
    def levels(self) -> tuple[Level, ...]:
        return (self.start, self.end)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(self.kind, start=self.start.value, end=self.end.value, seconds=seconds)

    @staticmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        return f"{wording.level(values['start'])} to {wording.level(values['end'])}"
