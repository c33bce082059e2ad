"""Levels with a time each: held or reached one after the other."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, Field, PlainValidator, RootModel, WithJsonSchema, model_validator

from plimsoll.load.durations import parse_duration
from plimsoll.load.levels import LoadLevel, parse_level
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.shapes.shape import Extent, LoadShape, Values, Wording
from plimsoll.load.spec import ShapeSpec


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


_ITEM: dict[str, Any] = {"anyOf": [{"type": ["string", "number"]}, {"type": "array", "minItems": 2, "maxItems": 2}]}
_ITEMS = {"anyOf": [{"type": "string"}, {"type": "array", "items": _ITEM, "minItems": 1}], "title": "times and levels"}
Items = Annotated[
    list[Annotated[Item, PlainValidator(_item)]], Field(min_length=1), BeforeValidator(_items), WithJsonSchema(_ITEMS)
]


def _timed(items: list[Item]) -> tuple[tuple[float, float], ...]:
    """(seconds, level) of each, in the engine's format. Raises UsageError for one without a time."""
    for item in items:
        if item.seconds is None:
            raise BadValueError(f"{item.level.value:g} needs a time in front, as in 30s:100/s")
    return tuple((item.seconds or 0.0, item.level.value) for item in items)


class Stages(RootModel[Items], LoadShape):
    """stages = "30s:100/s, 1m:900/s": linear to each level within its time. The start is 0, or a first level without a
    time: "50/s, 30s:100/s"."""

    kind: ClassVar = "stages"
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

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        levels = [values.get("start", 0.0), *(each for _, each in values["stages"])]
        first, last, most = (wording.level(each) for each in (levels[0], levels[-1], max(levels)))
        return f"{wording.counted(len(levels) - 1, 'stage')} from {first} to {last}, at most {most}"


class Steps(RootModel[Items], LoadShape):
    """steps = "30s:50/s, 30s:100/s": each level for its time. A list as well: [["30s", "50/s"], ["30s", "100/s"]]."""

    kind: ClassVar = "steps"
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

    @staticmethod
    def words(values: Values, wording: Wording) -> str:
        first, last = (wording.level(values["steps"][place][1]) for place in (0, -1))
        return f"{wording.counted(len(values['steps']), 'step')} from {first} to {last}"
