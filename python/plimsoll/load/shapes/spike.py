"""A base with one peak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from plimsoll.load.durations import Duration
from plimsoll.load.levels import Level, LevelValue
from plimsoll.load.shapes.keyed import KeyedShape
from plimsoll.load.shapes.shape import Extent, FormText, ShapeOption, Wording
from plimsoll.load.spec import ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Spike(KeyedShape):
    """spike = { base = "100/s", peak = "1000/s", at = "30s", hold = "10s" }, perhaps with rise = "1s"."""

    name: ClassVar = "spike"
    kind: ClassVar = "spike"
    extent: ClassVar = Extent.NEEDED
    option: ClassVar = ShapeOption("KEY=VALUE,…", "base=100/s,peak=1000/s,at=30s,hold=10s[,rise=1s]")
    form: ClassVar = FormText(
        "Spike", "A base with one peak: when it comes and how long it holds. The run time must be given.",
        "base=100/s,peak=1000/s,at=30s,hold=10s", "base=10,peak=100,at=30s,hold=10s",
    )  # fmt: skip

    base: LevelValue
    peak: LevelValue
    at: Duration
    hold: Duration
    rise: Duration = 0.0

    @property
    def levels(self) -> tuple[Level, ...]:
        return (self.base, self.peak)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(
            self.kind, base=self.base.value, peak=self.peak.value, at=self.at, hold=self.hold, seconds=seconds,
            rise=self.rise,
        )  # fmt: skip

    @staticmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        return f"{wording.level(values['base'])} with a spike to {wording.level(values['peak'])}"
