"""A phase in a plan, and the schedule of several phases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import PrivateAttr, create_model, model_validator

from plimsoll.load.mistakes import BadValueError, Complaint
from plimsoll.load.shapes.registry import SHAPES
from plimsoll.load.shapes.shape import Extent, LoadShape
from plimsoll.load.spec import Model, Phase, ShapeSpec
from plimsoll.load.table import Duration, Length, TomlTable
from plimsoll.say.durations import format_duration
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class _NamedTable(TomlTable):
    name: str | None = None
    """The name of the phase in reports."""


if TYPE_CHECKING:
    _ShapedTable = _NamedTable
else:
    _fields = {name: (kind.shape | None, None) for name, kind in SHAPES.items()}
    _ShapedTable = create_model("_ShapedTable", __base__=_NamedTable, **_fields)


class PhaseTable(_ShapedTable):
    """[[phase]]: a field for each shape, of which a phase has one."""

    duration: Length | None = None
    """The length, for shapes that do not define it. Without one, a constant level holds until the run is stopped."""
    start: Duration | None = None
    """The time from the start of the run. By default the end of the phase before. Phases that overlap add up."""
    spacing: Literal["uniform", "poisson"] | None = None
    """Of arrivals: evenly, or at random around the rate."""
    warmup: bool = False
    """`true`: sent and recorded, but left out of results. Warm-up phases come first."""

    _spec: ShapeSpec = PrivateAttr()
    _seconds: float | None = PrivateAttr()

    @model_validator(mode="after")
    def _check(self) -> PhaseTable:
        kind = self._check_kind()
        self._check_levels(kind)
        self._check_duration(kind)
        self._check_spacing(kind)
        try:
            self._spec = self.shape.spec(self.duration)
            self._seconds = self._spec.build().seconds
        except ValueError as error:
            raise BadValueError(str(error), kind) from error
        return self

    def _check_kind(self) -> str:
        given = self.given(SHAPES)
        if not given:
            raise BadValueError(f"says not how much; it needs one of {listed(SHAPES, 'or')}")
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a phase has one of {listed(SHAPES, 'or')}", given[1])
        return given[0]

    def _check_levels(self, kind: str) -> None:
        levels = self.shape.levels
        if len({level.rate for level in levels}) > 1:
            raise BadValueError('mixes rates ("900/s") and users (900)', kind)
        if levels and not any(level.value for level in levels):
            raise BadValueError("is zero all the time: nothing would be sent", kind)

    def _check_duration(self, kind: str) -> None:
        extent = self.shape.extent
        if extent is Extent.NEEDED and self.duration is None:
            raise BadValueError(f'is missing: {kind} needs one, as in duration = "1m"', "duration")
        if extent is Extent.OWN and self.duration is not None:
            raise BadValueError(f"is too much: {kind} says itself how long it lasts; leave duration out", "duration")

    def _check_spacing(self, kind: str) -> None:
        if self.spacing is not None and self.model == "closed":
            raise BadValueError("is of the open model; users have no arrivals to be spaced", "spacing")
        if self.spacing is not None and not self.shape.levels:
            raise BadValueError(f"contradicts {kind}, which has a spacing of its own; leave spacing out", "spacing")

    @property
    def kind(self) -> str:
        return self.given(SHAPES)[0]

    @property
    def shape(self) -> LoadShape:
        shape: LoadShape = getattr(self, self.kind)
        return shape

    @property
    def model(self) -> Model:
        return "open" if all(level.rate for level in self.shape.levels) else "closed"

    @property
    def seconds(self) -> float | None:
        """Its length; None: without end."""
        return self._seconds

    def phase(self, name: str, start: float) -> Phase:
        return Phase(self.name or name, self._spec, start, self._seconds, self.spacing == "poisson", self.warmup)


def arrange(tables: Sequence[PhaseTable], stop: float | None) -> tuple[tuple[Phase, ...], list[Complaint]]:
    """The phases, one after the other unless they have a start, and contradictions between them.

    stop: seconds after which the run ends in any case.
    """
    phases: list[Phase] = []
    found: list[Complaint] = []
    end: float | None = 0.0
    for index, table in enumerate(tables):
        if table.start is None and end is None:
            why = f"would never begin: phase[{index - 1}] has no end; give that a duration"
            found.append(Complaint(f"phase[{index}]", why))
        phases.append(table.phase(_name(tables, index), table.start if table.start is not None else end or 0.0))
        end = phases[-1].end
    found += [*_models(tables), *_warmups(phases)]
    if stop is not None:
        found += _past(phases, stop)
        phases = [cut(phase, stop) for phase in phases]
    return tuple(phases), found


def cut(phase: Phase, stop: float) -> Phase:
    """The phase cut at `stop`, which is after its start."""
    seconds = stop - phase.start
    if seconds < 0 or (phase.seconds is not None and phase.seconds <= seconds):
        return phase
    shape = phase.shape.ending(seconds) if phase.seconds is None else phase.shape
    return replace(phase, seconds=seconds, shape=shape)


def _name(tables: Sequence[PhaseTable], index: int) -> str:
    """For a phase without a name: "ramp", "ramp 2"; "warm-up"."""

    def label(table: PhaseTable) -> str:
        return "warm-up" if table.warmup else table.kind

    before = sum(label(table) == label(tables[index]) for table in tables[:index])
    return label(tables[index]) + (f" {before + 1}" if before else "")


def _models(tables: Sequence[PhaseTable]) -> Iterator[Complaint]:
    first = tables[0]
    for index, table in enumerate(tables):
        if table.model != first.model:
            yield Complaint(
                f"phase[{index}].{table.kind}",
                f"is of the {table.model} model, {first.kind} of phase[0] of the {first.model} one; "
                "a run has either rates or users",
            )


def _warmups(phases: Sequence[Phase]) -> Iterator[Complaint]:
    measured = [index for index, phase in enumerate(phases) if not phase.warmup]
    if not measured:
        yield Complaint("phase[0].warmup", "nothing is measured: every phase is a warm-up")
        return
    first = min(measured, key=lambda index: phases[index].start)
    begin = phases[first].start
    for index, phase in enumerate(phases):
        if phase.warmup and (why := _wrong_warmup(phase, first, begin)):
            yield Complaint(f"phase[{index}].warmup", why)


def _wrong_warmup(phase: Phase, first: int, begin: float) -> str:
    """The error of a warm-up; "" for none. first, begin: the first measured phase, and its start."""
    if phase.start >= begin:
        return f"a warm-up comes first, but phase[{first}] begins with it or before"
    if phase.end is None:
        return "a warm-up must end; give it a duration"
    if phase.end > begin:
        ends, begins = format_duration(phase.end), format_duration(begin)
        return f"a warm-up until {ends} overlaps phase[{first}], which begins at {begins}"
    return ""


def _past(phases: Sequence[Phase], stop: float) -> Iterator[Complaint]:
    at = f"stop.time ends the run at {format_duration(stop)}"
    for index, phase in enumerate(phases):
        if phase.start >= stop:
            yield Complaint(f"phase[{index}].start", f"begins at {format_duration(phase.start)}, but {at}")
        elif phase.end is not None and phase.end > stop:
            yield Complaint(f"phase[{index}].duration", f"ends at {format_duration(phase.end)}, but {at}")
