"""One level all the time: a rate, or a number of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import RootModel

from plimsoll.load.levels import Level, RateValue, UsersValue
from plimsoll.load.shapes.shape import Extent, FormText, LoadShape, ShapeOption, Wording
from plimsoll.load.spec import ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Constant(LoadShape):
    """One level."""

    kind: ClassVar = "constant"
    extent: ClassVar = Extent.OPTIONAL
    root: Level

    @property
    def levels(self) -> tuple[Level, ...]:
        return (self.root,)

    def spec(self, seconds: float | None) -> ShapeSpec:
        return ShapeSpec.of(self.kind, level=self.root.value, seconds=seconds)

    @staticmethod
    def words(values: Mapping[str, Any], wording: Wording) -> str:
        return wording.level(values["level"])


class Rate(RootModel[RateValue], Constant):
    """rate = "900/s": as many arrivals per second."""

    name: ClassVar = "rate"
    option: ClassVar = ShapeOption("RATE", "Open model: so many arrivals per second; 900/s, 54000/m.")
    form: ClassVar = FormText("Constant", "The same load from beginning to end.", "900/s", "50")


class Users(RootModel[UsersValue], Constant):
    """users = 50: as many users. The command line and the form have fields of their own for them."""

    name: ClassVar = "users"
