"""Equal steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from plimsoll.load.durations import Duration, Length
from plimsoll.load.levels import Level, LevelValue, StepValue
from plimsoll.load.shapes.keyed import CountValue, KeyedShape
from plimsoll.load.shapes.shape import Extent, FormText, ShapeOption, Wording
from plimsoll.load.spec import ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Staircase(KeyedShape):
    """staircase = { from = "100/s", step = "100/s", each = "30s", count = 5 }, perhaps with rise = "2s"."""

    name: ClassVar = "staircase"
    kind: ClassVar = "staircase"
    extent: ClassVar = Extent.OWN
    option: ClassVar = ShapeOption("KEY=VALUE,…", "from=100/s,step=100/s,each=30s,count=5[,rise=2s]")
    form: ClassVar = FormText(
        "Staircase", "Equal steps up: from a level, by so much, each for so long, so many of them.",
        "from=100/s,step=100/s,each=30s,count=5", "from=10,step=10,each=30s,count=5",
    )  # fmt: skip

    start: LevelValue = Field(alias="from")
    step: StepValue
    each: Length
    count: CountValue
    rise: Duration = 0.0

    @property
    def levels(self) -> tuple[Level, ...]:
        last = self.start.value + (self.count - 1) * self.step.value
        return (self.start, self.step, *(() if self.count == 1 else (Level(last, self.start.rate),)))

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(
            self.kind, start=self.start.value, step=self.step.value, each=self.each, count=self.count, rise=self.rise
        )

    @staticmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        last = values["start"] + values["step"] * (values["count"] - 1)
        count = wording.counted(values["count"], "step")
        return f"{count} from {wording.level(values['start'])} to {wording.level(last)}"
