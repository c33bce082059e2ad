"""The load options of `run`: the same notations as in a plan, and their combination with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.load.durations import parse_length
from plimsoll.load.mistakes import named, nearest
from plimsoll.load.shapes.registry import SHAPES, shape_options
from plimsoll.load.shapes.shape import Extent
from plimsoll.load.spec import Limits, Load, Phase, ShapeSpec
from plimsoll.say.durations import format_duration
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.load.phases import PhaseTable
    from plimsoll.load.plan_file import PlanFile

SHAPE_OPTIONS = tuple(shape_options())
"""Each replaces a plan's phases."""
LIMIT_OPTIONS = ("max_users", "on_saturation", "iterations", "requests")
LOAD_OPTIONS = (*SHAPE_OPTIONS, *LIMIT_OPTIONS, "spacing", "warmup", "run_time", "users", "spawn_rate")

OPEN_ONLY = ("spacing", "max_users", "on_saturation")
_COUNTS = ("max_users", "iterations", "requests")


def load_from_options(plan: PlanFile | None = None, **options: Any) -> Load | None:
    """The load that these options define, combined with a plan's; None: N users started as in Locust.

    options: those of LOAD_OPTIONS, as text or numbers, run_time and warmup also in seconds; None = not given. A shape,
    or users, replaces the plan's phases. warmup precedes run_time. Raises UsageError with the name of the option.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in LOAD_OPTIONS:
            raise TypeError(f"{name} is no load option; near is {nearest(name, LOAD_OPTIONS)}")
    for name in ("run_time", "warmup"):
        if name in given:
            with named(_flag(name)):
                given[name] = parse_length(given[name])
    limits = _limits(plan.limits if plan else Limits(), given)
    shapes = [name for name in SHAPE_OPTIONS if name in given]
    if len(shapes) > 1:
        raise UsageError(f"{_flag(shapes[1])} contradicts {_flag(shapes[0])}; give one of them")
    run_time = given.get("run_time", plan.run_time if plan else None)
    if shapes:
        return _shaped(shapes[0], given, limits, run_time)
    if plan and plan.load and "users" not in given:
        return _of_plan(plan.load, given, limits)
    _refuse(given, OPEN_ONLY, f"the open model; it needs {listed([_flag(name) for name in SHAPE_OPTIONS], 'or')}")
    replaces = plan is not None and plan.load is not None
    if not (replaces or "warmup" in given or limits.iterations or limits.requests):
        return None
    return _users(given, limits, run_time)


def _shaped(kind: str, given: Mapping[str, Any], limits: Limits, run_time: float | None) -> Load:
    for name in ("users", "spawn_rate"):
        if name in given:
            hint = "; --max-users limits them" if name == "users" else ""
            raise UsageError(f"{_flag(name)} contradicts {_flag(kind)}, which says how much load there is{hint}")
    table = _table(kind, given, run_time)
    if table.model == "closed":
        _refuse(given, OPEN_ONLY, f"the open model; {_flag(kind)} is a number of users. For a rate write 100/s")
        limits = replace(limits, max_users=None, on_saturation="wait")
    if run_time is not None and table.seconds is not None and run_time < table.seconds:
        hint = "leave --run-time out" if "run_time" in given else "the plan says so in stop.time; give --run-time"
        raise UsageError(
            f"the run ends after {format_duration(run_time)}, but {_flag(kind)} lasts "
            f"{format_duration(table.seconds)}; {hint}"
        )
    warmup = given.get("warmup", 0.0)
    phases = [table.phase(kind, warmup)]
    if warmup:
        phases.insert(0, _warmup(kind, table, warmup))
    return _load(table.model, phases, limits)


def _table(kind: str, given: Mapping[str, Any], run_time: float | None) -> PhaseTable:
    # Only here: pydantic takes long to import, and most runs have a number of users.
    from pydantic import ValidationError

    from plimsoll.load.complaints import complaints
    from plimsoll.load.phases import PhaseTable

    values = {name: given[name] for name in (kind, "spacing") if name in given}
    if run_time is not None and SHAPES[kind].shape.extent is not Extent.OWN:
        values["duration"] = run_time
    try:
        return PhaseTable.model_validate(values, context={"folder": Path()})
    except ValidationError as error:
        found = complaints(error, PhaseTable)[0]
        field, _, rest = found.path.partition(".")
        if field == "duration":
            raise UsageError(f"--run-time is missing: {_flag(kind)} needs one, as in -t 1m") from error
        raise UsageError(f"{_flag(field)}: {f'{rest}: ' if rest else ''}{found.message}") from error


def _warmup(kind: str, table: PhaseTable, seconds: float) -> Phase:
    levels = table.shape.levels
    if not levels or not levels[0].value:
        why = "begins at 0" if levels else "has recorded times"
        raise UsageError(
            f"--warmup keeps the first level of a shape, and {_flag(kind)} {why}; "
            "a plan can have a [[phase]] with warmup = true"
        )
    shape = ShapeSpec.of("constant", level=levels[0].value, seconds=seconds)
    return Phase("warm-up", shape, 0.0, seconds, poisson=table.spacing == "poisson", warmup=True)


def _of_plan(load: Load, given: Mapping[str, Any], limits: Limits) -> Load:
    """The plan's phases, with the limits of the options, and cut at the end of --run-time."""
    for name in ("warmup", "spacing", "spawn_rate"):
        if name in given:
            raise UsageError(f"{_flag(name)} has no meaning for the phases of a plan; say it there")
    if load.model == "closed":
        _refuse(given, OPEN_ONLY, "the open model; the phases of this plan are numbers of users")
    # Only here: a plan has been read by now, and other runs need no pydantic.
    from plimsoll.load.phases import cut

    phases = load.phases
    if (end := given.get("run_time")) is not None:
        phases = tuple(cut(phase, end) for phase in phases if phase.start < end)
        if all(phase.warmup for phase in phases):
            raise UsageError(f"--run-time ends after {format_duration(end)}, when the plan's warm-up is not over")
    return _load(load.model, phases, limits)


def _users(given: Mapping[str, Any], limits: Limits, run_time: float | None) -> Load:
    """--users, with additions to Locust: a warm-up, or an end after this many iterations or requests."""
    users = int(given.get("users", 1))
    rise = users / float(given["spawn_rate"]) if "spawn_rate" in given else 0.0
    warmup = given.get("warmup", 0.0)
    phases = []
    if warmup:
        shape = _rising(users, rise, 0.0, warmup)
        phases.append(Phase("warm-up", shape, 0.0, warmup, warmup=True))
    rest = min(rise - warmup, run_time if run_time is not None else rise)
    if rest > 0:
        phases.append(Phase("start", _rising(users, rise, warmup, rest), warmup, rest))
        run_time = None if run_time is None else run_time - rest
        warmup += rest
    if run_time is None or run_time > 0:
        shape = ShapeSpec.of("constant", level=float(users), seconds=run_time)
        phases.append(Phase("users", shape, warmup, run_time))
    return _load("closed", phases, replace(limits, max_users=None, on_saturation="wait"))


def _rising(users: int, rise: float, begin: float, seconds: float) -> ShapeSpec:
    """The part from `begin` on of a rise from 0 to `users` in `rise` seconds, and of the level after it."""

    def level(at: float) -> float:
        return users * min(1.0, at / rise) if rise else float(users)

    stages = [(seconds, level(begin + seconds))]
    if begin < rise < begin + seconds:
        stages = [(rise - begin, float(users)), (begin + seconds - rise, float(users))]
    return ShapeSpec.of("stages", stages=tuple(stages), start=level(begin))


def _limits(weak: Limits, given: Mapping[str, Any]) -> Limits:
    """weak: the plan's limits, which the options override."""
    values = {name: given[name] for name in LIMIT_OPTIONS if name in given}
    for name in _COUNTS:
        if name in values:
            values[name] = _count(name, values[name])
    if values.get("on_saturation", "wait") not in ("wait", "drop"):
        raise UsageError(f"--on-saturation must be wait or drop, not {values['on_saturation']}")
    return replace(weak, **values)


def _load(model: Any, phases: Any, limits: Limits) -> Load:
    return Load(model, tuple(phases), limits.max_users, limits.on_saturation, limits.iterations, limits.requests)


def _count(name: str, value: str | int) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 2**53:
        raise UsageError(f"{_flag(name)} must be a whole number above 0, not {value}")
    return int(text)


def _refuse(given: Mapping[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if name in given:
            raise UsageError(f"{_flag(name)} is of {why}")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
