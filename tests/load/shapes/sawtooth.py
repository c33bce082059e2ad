"""A load shape of the tests, made of stages, and its row in the registry; run as a script, `plimsoll` that has it."""

from __future__ import annotations

from typing import ClassVar

from plimsoll.load.shapes.registry import SHAPES
from plimsoll.load.shapes.shape import Extent, FormShape, ShapeKind, ShapeOption, Values, Wording
from plimsoll.load.shapes.tables import CountValue, TableShape
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import Length, LevelValue


class Sawtooth(TableShape):
    """sawtooth = { low = "10/s", high = "50/s", each = "1s", teeth = 3 }."""

    kind: ClassVar = "sawtooth"
    extent: ClassVar = Extent.OWN

    low: LevelValue
    high: LevelValue
    each: Length
    teeth: CountValue

    def spec(self, seconds: float | None) -> ShapeSpec:
        low, high = self.low.value, self.high.value
        curve = ShapeSpec.of("stages", stages=((self.each, high), (0.0, low)) * self.teeth, start=low)
        return ShapeSpec.of(self.kind, curve, low=low, high=high, teeth=self.teeth)

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        teeth = wording.counted(values["teeth"], "tooth").replace("tooths", "teeth")
        return f"{teeth} from {wording.level(values['low'])} to {wording.level(values['high'])}"


SHAPES["sawtooth"] = ShapeKind(
    f"{__name__}:Sawtooth",
    ShapeOption("KEY=VALUE,…", "low=10/s,high=50/s,each=1s,teeth=3"),
    FormShape("sawtooth", "Sawtooth", "Up, and down at once.", "low=10/s,…", "low=1,…"),
)

if __name__ == "__main__":
    from plimsoll.cli import main

    main(prog_name="plimsoll")
