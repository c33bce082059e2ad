"""Arrivals at recorded times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import RootModel

from plimsoll.load.shapes.shape import Extent, LoadShape, ShapeOption, Wording
from plimsoll.load.spec import ShapeSpec
from plimsoll.load.table import ExistingFile
from plimsoll.load.timestamps import read_times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.load.levels import Level


class Replay(RootModel[ExistingFile], LoadShape):
    """replay = "times.txt"."""

    name: ClassVar = "replay"
    kind: ClassVar = "replay"
    extent: ClassVar = Extent.OWN
    option: ClassVar = ShapeOption("FILE", "Arrivals at the times in a file, one per line.")

    @property
    def levels(self) -> tuple[Level, ...]:
        return ()

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(self.kind, times=read_times(self.root))

    @staticmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        return wording.counted(len(values["times"]), "recorded arrival")
