"""The run of a cell as data: who loads the target, and how much."""

from __future__ import annotations

import re
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.experiment.file.model import DECIDED
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.placeholders import fill
from plimsoll.run.guard import Place, check_places
from plimsoll.run.options.command import read_words
from plimsoll.run.planning import planned_run, read_source
from plimsoll.say.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.experiment.spec import Experiment, Scenario
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import PlannedRun

ANY_URL = "http://127.0.0.1:1"
"""In place of a target that is not there yet."""
_FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][a-z-]*")


def planned_cell(
    cell: ExperimentCell,
    spec: Experiment,
    url: str,
    *,
    store: str | None,
    summary: Path,
    outputs: Mapping[str, Any] | None = None,
) -> PlannedRun:
    """url: the target's, without a slash at its end. outputs: as `CellFolder` has them. Raises PlimsollError that names
    fields of the experiment."""
    scenario = spec.scenario(cell.operation)
    changes = {
        **_how_much(cell, scenario),
        "seed": cell.seed,
        "name": f"{spec.name}: {cell.label}",
        **(outputs or {}),
        "headless": True,
        "only_summary": True,
        "summary": str(summary),
        **({"store": store} if store is not None else {}),
    }
    # Relative paths begin where the experiment's file is.
    with chdir(spec.folder):
        try:
            words = read_words([*_who(scenario, spec, url), *scenario.arguments])
            source = read_source(words.arguments, words.given)
            if outputs is None:
                changes["out"] = (*words.given["out"], *spec.out)
            else:
                source = source.with_outputs_of_plan(lambda _: False)
            return planned_run(words, source, changes)
        except PlimsollError as error:
            text = _FLAG.sub(lambda flag: DECIDED.get(flag[0], flag[0]), str(error))
            raise UsageError(f"{_where(scenario)}: {text}") from error


def check_runs(spec: Experiment) -> tuple[list[RunPlan], list[Place]]:
    """Plan the runs of the first variant with a target that is not there, and check that all targets may get load.

    Returns these plans, and the targets as far as they are known. Commands of hooks may make the files of a plan; those
    runs are planned only when the hooks are done. Raises UsageError.
    """
    has_hooks = any(each.hooks.prepare or each.hooks.seed or each.hooks.reset for each in spec.variants)
    variant = spec.variants[0].name
    plans = [
        planned_cell(cell, spec, ANY_URL, store=None, summary=Path("summary.json")).plan
        for cell in cells_in_order(replace(spec, repeats=1))
        if cell.variant == variant and not (has_hooks and spec.scenario(cell.operation).plan)
    ]
    targets: list[Place] = []
    for each in spec.variants:
        place = Place(fill(each.target.url, {"port": 1, "variant": each.name}))
        if "{" in place.url:
            continue
        targets.append(place)
        try:
            for rails in {plan.rails for plan in plans}:
                check_places(rails, [place])
        except UsageError as error:
            raise UsageError(f"variant {each.name}: {error}") from error
    return plans, targets


def _where(scenario: Scenario) -> str:
    return f"operation {scenario.name}" if scenario.name else "scenario"


def _who(scenario: Scenario, spec: Experiment, url: str) -> list[str]:
    if scenario.locustfile is not None:
        return ["-f", str(spec.path(scenario.locustfile)), *scenario.classes, "-H", url]
    if scenario.plan is not None:
        return [str(spec.path(scenario.plan)), "-H", url]
    return [f"{url}/{(scenario.url or '').lstrip('/')}"]


def _how_much(cell: ExperimentCell, scenario: Scenario) -> Mapping[str, Any]:
    """By name of the option. What the experiment leaves open is left to the options' own defaults."""
    values: dict[str, Any] = {
        "run_time": scenario.run_time,
        "stop_timeout": scenario.stop_timeout,
        "warmup": format_duration(scenario.warmup) if scenario.warmup else None,
        "processes": scenario.processes if scenario.processes != 1 else None,
        "spacing": scenario.spacing,
        "max_users": scenario.max_users,
        "tags": scenario.tags or None,
        "exclude_tags": scenario.exclude_tags or None,
    }
    if cell.level is not None and cell.level.unit == "users":
        rate = scenario.spawn_rate
        # A locustfile's users would else come one per second.
        values |= {"users": int(cell.level.value), "spawn_rate": rate or (scenario.locustfile and cell.level.value)}
    elif cell.level is not None:
        values["rate"] = f"{cell.level.value:.12g}/s"
    return {name: value for name, value in values.items() if value is not None}
