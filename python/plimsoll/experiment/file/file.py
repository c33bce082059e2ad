"""experiment.toml, read: the one way from the file to an `Experiment`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from plimsoll.errors import UsageError
from plimsoll.experiment.file.model import ExperimentTable
from plimsoll.experiment.placeholders import NAMES, fill
from plimsoll.experiment.spec import Compare, Experiment, Scenario, Target, Variant
from plimsoll.load.complaints import complain, complaints
from plimsoll.load.mistakes import BadValueError, Complaint
from plimsoll.load.origins import split_target
from plimsoll.load.plan_file import output_complaints, read_plan
from plimsoll.load.toml_file import read_toml
from plimsoll.run.planning import output_check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.experiment.file.model import CompareTable, ExperimentTargetTable, ScenarioTable, VariantTable
    from plimsoll.load.plan_file import PlanFile
    from plimsoll.load.table import TomlTable
    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Level

DEFAULT = "experiment.toml"
_SOURCES = ("locustfile", "plan", "url")
_SOME_TARGET = "http://127.0.0.1"
"""A plan needs no target of its own here: each cell gives it that of its variant."""


def read_experiment(path: str, *, full: bool = False) -> Experiment:
    """path: a file, or a folder with an experiment.toml. full: with what its table [full] replaces.

    Raises UsageError with every mistake of the file: "experiment.toml:12: levels.users[1]: what is wrong, what to do".
    """
    file = Path(path)
    if file.is_dir():
        file = file / DEFAULT
    data, places = read_toml(file)
    try:
        table = ExperimentTable.model_validate(data, context={"folder": file.parent})
        if full and table.full is not None:
            table = ExperimentTable.model_validate(_whole(data), context={"folder": file.parent})
    except ValidationError as error:
        raise complain(str(file), complaints(error, ExperimentTable), places) from error
    if full and table.full is None:
        raise UsageError(f"{file}: --full needs a table [full], which says what the whole experiment is")
    reading = _Reading(file, table)
    levels: tuple[Level | None, ...] = table.levels.levels if table.levels is not None else (None,)
    scenarios = reading.scenarios(has_levels=table.levels is not None)
    variants = reading.variants()
    reading.found += output_complaints(table.out, table.notify, output_check(has_page=False))
    if reading.found:
        raise complain(str(file), reading.found, places)
    plain = {name: getattr(table, name) for name in ("question", "shape", "seed", "repeats", "budget", "cool_down")}
    return Experiment(
        name=table.name or file.absolute().parent.name,
        file=str(file.absolute()),
        scenarios=scenarios,
        variants=variants,
        levels=levels,
        compare=_compare(table.compare),
        is_full=full,
        out=tuple(table.out),
        notify=tuple(table.notify),
        **plain,
    )


def _whole(data: Mapping[str, Any]) -> dict[str, Any]:
    """With its table [full] in place."""
    full = data["full"]
    merged = {name: {**data.get(name, {}), **full[name]} for name in ("scenario", "target") if name in full}
    return {**data, **full, **merged}


@dataclass(slots=True)
class _Reading:
    """What follows from several tables together."""

    file: Path
    table: ExperimentTable
    found: list[Complaint] = field(default_factory=list)

    def scenarios(self, *, has_levels: bool) -> tuple[Scenario, ...]:
        common = self.table.scenario
        if not self.table.operation:
            return self._checked("scenario", "", _scenario(common, common), has_levels)
        made: list[Scenario] = []
        for place, each in enumerate(self.table.operation):
            made += self._checked(f"operation[{place}]", each.name, _scenario(each, common), has_levels)
        return tuple(made)

    def _checked(self, path: str, name: str, values: dict[str, Any], has_levels: bool) -> tuple[Scenario, ...]:
        """Of one scenario; none when it cannot be made."""
        if not any(values.get(source) for source in _SOURCES):
            self.found.append(Complaint(path, "says not what to run; it needs a locustfile, a plan or a url"))
            return ()
        made = Scenario(name, **values)
        plan = self._plan(path, made)
        if plan is None and made.plan is not None:
            return ()
        if made.run_time is None and plan is not None:
            made = replace(made, run_time=plan_seconds(plan))
        if made.run_time is None:
            self.found.append(Complaint(f"{path}.run_time", 'is missing; say how long a run is, as run_time = "30s"'))
        if not has_levels and (plan is None or plan.load is None):
            self.found.append(
                Complaint("levels", "is missing; say how much load: [levels] with users, rates or a ladder")
            )
        return (made,)

    def _plan(self, path: str, scenario: Scenario) -> PlanFile | None:
        if scenario.plan is None:
            return None
        try:
            file = self.file.parent / Path(scenario.plan).expanduser()
            return read_plan(str(file), _SOME_TARGET, check_output=output_check(has_page=False))
        except UsageError as error:
            first, *_ = str(error).splitlines()
            self.found.append(Complaint(f"{path}.plan", first))
            return None

    def variants(self) -> tuple[Variant, ...]:
        made: list[Variant] = []
        for place, each in enumerate(self.table.variant):
            try:
                target = _target(each, self.table.target)
            except BadValueError as error:
                at = f"variant[{place}]"
                given = error.field in each.model_fields_set or error.field not in self.table.target.model_fields_set
                self.found.append(Complaint(f"{at if given else 'target'}.{error.field}", str(error)))
                continue
            made.append(Variant(each.name, target, each.changes, each.hooks.over(self.table.hooks)))
        return tuple(made)


def plan_seconds(plan: PlanFile) -> float | None:
    """How long a run of it is, without the warm-up."""
    if plan.load is not None and plan.load.seconds is not None:
        return plan.load.seconds - plan.load.warmup_seconds
    return plan.run_time


def _over(own: TomlTable, common: TomlTable) -> dict[str, Any]:
    """What a table says, and where it says nothing, what all share. The entries of tables in it add up."""
    values: dict[str, Any] = {}
    for name in type(common).model_fields:
        mine, shared = getattr(own, name), getattr(common, name)
        values[name] = {**shared, **mine} if isinstance(mine, dict) else shared if mine is None else mine
    return {name: value for name, value in values.items() if value is not None}


def _scenario(own: ScenarioTable, common: ScenarioTable) -> dict[str, Any]:
    """As `Scenario` takes it. An operation with a source of its own has none of the others."""
    if any(getattr(own, name) is not None for name in _SOURCES):
        common = common.model_copy(update=dict.fromkeys(_SOURCES))
    return {name: tuple(value) if isinstance(value, list) else value for name, value in _over(own, common).items()}


def _target(own: VariantTable, common: ExperimentTargetTable) -> Target:
    """Raises BadValueError that names the field."""
    values = _over(own, common)
    _drop_what_was_for_others(values, own)
    if "url" not in values:
        raise BadValueError('is missing, as url = "http://127.0.0.1:{port}"', "url")
    sample = dict.fromkeys(NAMES, "1")
    try:
        split_target(fill(values["url"], sample))
    except BadValueError as error:
        raise BadValueError(str(error), "url") from error
    if "{port}" in values["url"] and not (values.get("start") or "image" in values):
        raise BadValueError("nothing is started that could listen at {port}; it needs start or image", "url")
    if "image" in values and "container_port" not in values:
        raise BadValueError("is missing: where the target listens in its container", "container_port")
    if "image" not in values and "container_port" in values:
        raise BadValueError("is for an image, and there is none", "container_port")
    values["data"] = tuple(each.spec(name) for name, each in values["data"].items())
    if "healthy" in values:
        values["healthy"] = values["healthy"].spec
    if "build" in values:
        values["build"] = values["build"].spec("build")
    return Target(**values)


def _drop_what_was_for_others(values: dict[str, Any], own: VariantTable) -> None:
    """A variant with a URL of its own is there already; one with an image of its own is started by that."""
    is_there = own.url is not None and "{port}" not in own.url and own.start is None and own.image is None
    for name in ("start", "image", "container_port") if is_there else ():
        values.pop(name, None)
    if own.image is not None and own.start is None:
        values.pop("start", None)


def _compare(given: CompareTable) -> Compare:
    def within(metrics: list[Metric]) -> tuple[Metric, ...]:
        return tuple(replace(each, delta=given.smallest) for each in metrics)

    metrics, primary = within(given.metrics), within(given.primary)
    return Compare(tuple(given.against), metrics, primary, given.smallest, given.errors, given.slo or "", given.looks)


def plan_files(spec: Experiment) -> Mapping[str, Path]:
    """The files that its scenarios are in, by how they are written."""
    written = (each.locustfile or each.plan for each in spec.scenarios)
    return {each: spec.path(each) for each in written if each is not None}
