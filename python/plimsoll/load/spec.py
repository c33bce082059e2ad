"""Load as plain values: shared by coordinator and workers, and stored in a manifest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll._engine import Shape

Model = Literal["open", "closed"]
Saturation = Literal["wait", "drop"]
NOTIFIED = "webhook="
"""Before a URL of `--notify` in the notation of `--out`."""
OBJECTIVES = ("first_token", "time_per_token", "time")
"""Times of a response that a plan or --slo may limit."""

_PARTS = 1000
"""Number of intervals that are added up for a phase shorter than its shape."""


_PEAKS: dict[str, Callable[[dict[str, Any]], float]] = {
    "constant": lambda values: values["level"],
    "ramp": lambda values: max(values["start"], values["end"]),
    "steps": lambda values: max(level for _, level in values["steps"]),
    "staircase": lambda values: max(values["start"], values["start"] + (values["count"] - 1) * values["step"]),
    "spike": lambda values: max(values["base"], values["peak"]),
    "sine": lambda values: values["mean"] + values["amplitude"],
    "stages": lambda values: max(values["start"], *(level for _, level in values["stages"])),
    "replay": lambda values: _most_per_second(values["times"]),
}
"""The curves of the engine, which are the constructors of `_engine.Shape`, and the highest level of each."""


@dataclass(frozen=True, slots=True)
class ShapeSpec:
    """A shape with its values: `build` makes the curve that the engine draws."""

    kind: str
    """A curve of the engine, or the name of a shape composed of one."""
    values: tuple[tuple[str, Any], ...]
    """Numbers, None, or tuples of numbers and pairs; for a curve, the arguments of its constructor."""
    curve: ShapeSpec | None = None
    """The curve of the engine for a composed shape."""

    def __post_init__(self) -> None:
        if self.curve is None and self.kind not in _PEAKS:
            raise ValueError(f"no shape is called {self.kind!r}")

    @classmethod
    def of(cls, kind: str, curve: ShapeSpec | None = None, /, **values: Any) -> ShapeSpec:
        return cls(kind, tuple(values.items()), curve)

    @property
    def peak(self) -> float:
        """Its highest level; for a replay, the most arrivals within a second."""
        return self.curve.peak if self.curve else _PEAKS[self.kind](dict(self.values))

    def build(self) -> Shape:
        """Raises ValueError for values out of range."""
        if self.curve:
            return self.curve.build()
        shape: Shape = getattr(Shape, self.kind)(**dict(self.values))
        return shape

    def ending(self, seconds: float) -> ShapeSpec:
        """A shape without end, limited to this many seconds."""
        values = dict(self.values) | {"seconds": seconds}
        return ShapeSpec.of(self.kind, self.curve and self.curve.ending(seconds), **values)

    def to_dict(self) -> dict[str, Any]:
        data = {"kind": self.kind, "values": {name: _lists(value) for name, value in self.values}}
        return data | {"curve": self.curve.to_dict()} if self.curve else data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ShapeSpec:
        values = tuple((name, _tuples(value)) for name, value in data["values"].items())
        return cls(data["kind"], values, cls.from_dict(data["curve"]) if "curve" in data else None)


@dataclass(frozen=True, slots=True)
class Phase:
    """A shape with a position in the run. Times are in seconds since the start of the run."""

    name: str
    shape: ShapeSpec
    start: float = 0.0
    """>= 0."""
    seconds: float | None = None
    """Its length, >= 0, never longer than its shape; None: until the run is stopped."""
    poisson: bool = False
    """Random arrivals around the rate, not evenly spaced. Open model only."""
    warmup: bool = False
    """Sent and recorded, but left out of results."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and self.start >= 0):
            raise ValueError(f"a phase cannot start at {self.start}")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise ValueError(f"a phase cannot last {self.seconds} s")

    @property
    def end(self) -> float | None:
        return None if self.seconds is None else self.start + self.seconds

    @property
    def arrivals(self) -> float | None:
        """The integral over its length, approximately; None: without end."""
        shape, seconds = self.shape.build(), self.seconds
        if seconds is None or shape.seconds == seconds:
            return shape.count
        times = dict(self.shape.values).get("times")
        if times is not None:
            return float(sum(time < seconds for time in times))
        return sum(shape.level((step + 0.5) / _PARTS * seconds) for step in range(_PARTS)) * seconds / _PARTS

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name, "shape": self.shape.to_dict(), "start": self.start, "seconds": self.seconds,
            "poisson": self.poisson, "warmup": self.warmup,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Phase:
        return cls(**{**data, "shape": ShapeSpec.from_dict(data["shape"])})


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a load, independent of its shape."""

    max_users: int | None = None
    """Maximum concurrent users in the open model, >= 1; None: the engine's own limit."""
    on_saturation: Saturation = "wait"
    """How an arrival is handled when all of them are busy. Open model."""
    iterations: int | None = None
    """The run ends once this many have started, >= 1."""
    requests: int | None = None
    """The run ends once this many requests have started, >= 1."""

    def __post_init__(self) -> None:
        for name in ("max_users", "iterations", "requests"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if self.on_saturation not in ("wait", "drop"):
            raise ValueError(f"on_saturation must be wait or drop, not {self.on_saturation!r}")


@dataclass(frozen=True, slots=True)
class Load:
    """Phases of one model, and their limits."""

    model: Model
    phases: tuple[Phase, ...]
    max_users: int | None = None
    on_saturation: Saturation = "wait"
    iterations: int | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        if self.model not in ("open", "closed"):
            raise ValueError(f"there is no {self.model!r} model")
        if not self.phases:
            raise ValueError("a load needs a phase")
        if self.model == "closed" and any(phase.poisson or phase.shape.kind == "replay" for phase in self.phases):
            raise ValueError("only the open model has arrivals")
        Limits(self.max_users, self.on_saturation, self.iterations, self.requests)

    @property
    def warmup_seconds(self) -> float:
        """The end of the last warm-up phase; 0 without one."""
        return max((phase.end or 0.0 for phase in self.phases if phase.warmup), default=0.0)

    @property
    def seconds(self) -> float | None:
        """The end of the last phase; None: until stopped."""
        ends = [phase.end for phase in self.phases]
        return None if None in ends else max(end for end in ends if end is not None)

    @property
    def peak(self) -> float:
        """Users or arrivals per second: the sum of overlapping phases at their highest. The real peak may be lower."""
        return max(sum(each.shape.peak for each in self._under_way(phase.start)) for phase in self.phases)

    @property
    def most_users(self) -> int:
        """Maximum concurrent users of the closed model. There may be fewer."""
        return math.floor(self.peak + 0.5)

    @property
    def arrivals(self) -> float | None:
        """Total of the open model, approximately; None: until stopped."""
        found = [each.arrivals for each in self.phases]
        total = None if None in found else sum(each for each in found if each is not None)
        return self.iterations if total is None else min(total, self.iterations or total)

    def users_at(self, seconds: float) -> int:
        """Users of the closed model at this time: the levels of the current phases, rounded half up."""
        if self.model != "closed":
            raise ValueError("the open model has arrivals, and as many users as they need")
        return math.floor(self.level_at(seconds) + 0.5)

    def level_at(self, seconds: float) -> float:
        """Users, or arrivals per second, at this time: the sum of the current phases, as the curves have it."""
        return sum(phase.shape.build().level(seconds - phase.start) for phase in self._under_way(seconds))

    def _under_way(self, seconds: float) -> list[Phase]:
        return [phase for phase in self.phases if phase.start <= seconds and (phase.end is None or seconds < phase.end)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message or a manifest."""
        return {
            "model": self.model, "phases": [phase.to_dict() for phase in self.phases], "max_users": self.max_users,
            "on_saturation": self.on_saturation, "iterations": self.iterations, "requests": self.requests,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Load:
        """The inverse of `to_dict`, after a format that has only lists."""
        return cls(**{**data, "phases": tuple(Phase.from_dict(phase) for phase in data["phases"])})


def _most_per_second(times: Sequence[float]) -> float:
    ordered, first, most = sorted(times), 0, 0
    for place, time in enumerate(ordered):
        while time - ordered[first] >= 1:
            first += 1
        most = max(most, place - first + 1)
    return float(most)


def _lists(value: Any) -> Any:
    return [_lists(each) for each in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list | tuple) else value
