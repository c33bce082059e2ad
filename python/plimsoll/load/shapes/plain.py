"""Shapes that are written as one value: a level that is held, or the file of a replay."""

from __future__ import annotations

from typing import ClassVar

from pydantic import RootModel

from plimsoll.load.levels import LoadLevel
from plimsoll.load.shapes.shape import Extent, FormShape, LoadShape, ShapeOption, Values, Wording
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import ExistingFile, RateValue, UsersValue
from plimsoll.load.timestamps import read_times


class Constant(LoadShape):
    kind: ClassVar = "constant"
    extent: ClassVar = Extent.OPTIONAL
    root: LoadLevel

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        return (self.root,)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("constant", level=self.root.value, seconds=seconds)

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        return wording.level(values["level"])


class Rate(RootModel[RateValue], Constant):
    """rate = "900/s": as many arrivals per second."""

    option: ClassVar = ShapeOption("RATE", "Open model: so many arrivals per second; 900/s, 54000/m.")
    form: ClassVar = FormShape("constant", "Constant", "The same load from beginning to end.", "900/s", "50")


class Users(RootModel[UsersValue], Constant):
    """users = 50: as many users."""


class Replay(RootModel[ExistingFile], LoadShape):
    """replay = "times.txt": arrivals at the times in a file, one per line, counted from the earliest. They are seconds,
    Unix seconds, ms, µs or ns, or RFC 3339; `#` begins a comment."""

    kind: ClassVar = "replay"
    extent: ClassVar = Extent.OWN
    option: ClassVar = ShapeOption("FILE", "Arrivals at the times in a file, one per line.")

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of("replay", times=read_times(self.root))

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        return wording.counted(len(values["times"]), "recorded arrival")
