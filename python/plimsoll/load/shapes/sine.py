"""Up and down around a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from plimsoll.load.durations import Length
from plimsoll.load.levels import Level, LevelValue
from plimsoll.load.shapes.keyed import KeyedShape
from plimsoll.load.shapes.shape import Extent, FormText, ShapeOption, Wording
from plimsoll.load.spec import ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Sine(KeyedShape):
    """sine = { mean = "500/s", amplitude = "200/s", period = "1m" }."""

    name: ClassVar = "sine"
    kind: ClassVar = "sine"
    extent: ClassVar = Extent.OPTIONAL
    option: ClassVar = ShapeOption("KEY=VALUE,…", "mean=500/s,amplitude=200/s,period=1m")
    form: ClassVar = FormText(
        "Sine", "Up and down around a mean.", "mean=500/s,amplitude=200/s,period=1m", "mean=50,amplitude=20,period=1m"
    )

    mean: LevelValue
    amplitude: LevelValue
    period: Length

    @property
    def levels(self) -> tuple[Level, ...]:
        return (self.mean, self.amplitude)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(
            self.kind, mean=self.mean.value, amplitude=self.amplitude.value, period=self.period, seconds=seconds
        )

    @staticmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        mean, amplitude = wording.level(values["mean"]), wording.level(values["amplitude"])
        return f"{mean} ± {amplitude} every {wording.seconds(values['period'])}"
