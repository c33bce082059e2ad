"""Reads plan.toml: the only way from the file to a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from plimsoll.errors import UsageError
from plimsoll.load.complaints import complain, complaints
from plimsoll.load.engine_check import check
from plimsoll.load.mistakes import Complaint
from plimsoll.load.phases import arrange
from plimsoll.load.plan_model import PlanTable
from plimsoll.load.scenario import scenario_of
from plimsoll.load.spec import NOTIFIED, Limits, Load
from plimsoll.load.toml_file import read_toml
from plimsoll.stats.thresholds.grammar import parse_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.load.toml_file import Places


@dataclass(frozen=True, slots=True)
class PlanFile:
    """The content of a plan."""

    path: str
    name: str
    """By default the file's name without its suffix."""
    scenario: dict[str, Any] | None
    """The behaviour of native users as JSON for `_engine.Scenario`; None if the plan has only phases."""
    load: Load | None
    """None without phases."""
    limits: Limits
    """Also in `load`; needed here for a load from options."""
    run_time: float | None
    """Seconds; None: to the end of the phases."""
    stop_timeout: float | None
    """Seconds; None: not given."""
    thresholds: tuple[str, ...]
    out: tuple[str, ...]
    """Where its figures go, as `outputs.kinds` has it; a URL of `notify` is `NOTIFIED` followed by it."""
    seed: int | None
    """None: not given."""
    users_per_connection: int | None
    """None: not given."""


def read_plan(
    path: str, host: str | None = None, schema: str | None = None, check_output: Callable[[str], None] | None = None
) -> PlanFile:
    """Raises UsageError with every error of the file: "plan.toml:12: phase[1].rate: the error, the fix".

    host: a URL that replaces the first target's. schema: of its calls, if the plan has none. check_output: raises
    UsageError for an output that cannot be; without it outputs are not checked.
    """
    file = Path(path)
    data, places = read_toml(file)
    try:
        plan = PlanTable.model_validate(data, context={"folder": file.parent})
    except ValidationError as error:
        raise complain(path, complaints(error, PlanTable), places) from error
    found: list[Complaint] = []
    _check_thresholds(plan, found)
    out = (*plan.out, *(f"{NOTIFIED}{url}" for url in plan.notify))
    if check_output is not None:
        found += output_complaints(plan.out, plan.notify, check_output)
    load = _load(plan, found)
    scenario = _scenario(plan, host, schema, places, found) if plan.flow or plan.request else None
    if found:
        raise complain(path, found, places)
    return PlanFile(
        path=path, name=plan.name or file.stem, scenario=scenario, load=load, limits=plan.limits,
        run_time=plan.stop.time, stop_timeout=plan.stop_timeout, thresholds=tuple(plan.thresholds), out=out,
        seed=plan.seed, users_per_connection=plan.users_per_connection,
    )  # fmt: skip


def _check_thresholds(plan: PlanTable, found: list[Complaint]) -> None:
    for number, text in enumerate(plan.thresholds):
        try:
            parse_threshold(text)
        except UsageError as error:
            reason, *_ = str(error).removeprefix("threshold: ").splitlines()
            found.append(Complaint(f"thresholds[{number}]", f"{text!r}: {reason}"))


def output_complaints(
    out: Sequence[str], notify: Sequence[str], check_output: Callable[[str], None]
) -> Iterator[Complaint]:
    """What is wrong with the outputs of a file. Their texts are not repeated: they may have secrets."""
    written = [(f"out[{number}]", text) for number, text in enumerate(out)]
    written += [(f"notify[{number}]", f"{NOTIFIED}{url}") for number, url in enumerate(notify)]
    for path, text in written:
        try:
            check_output(text)
        except UsageError as error:
            yield Complaint(path, str(error))


def _load(plan: PlanTable, found: list[Complaint]) -> Load | None:
    if not plan.phase:
        return None
    phases, mismatches = arrange(plan.phase, plan.stop.time)
    found += mismatches
    model = plan.phase[0].model
    if model == "closed":
        why = "is of the open model (rates); here the phases say how many users there are"
        found += [Complaint(name, why) for name in plan.given(("max_users", "on_saturation"))]
    if found:
        return None
    limits = plan.limits
    return Load(model, phases, limits.max_users, limits.on_saturation, limits.iterations, limits.requests)


def _scenario(
    plan: PlanTable, host: str | None, schema: str | None, places: Places, found: list[Complaint]
) -> dict[str, Any] | None:
    definition, draft = scenario_of(plan, places.line, host, schema)
    found += draft.complaints
    if not draft.complaints and (refused := check(definition, draft)):
        found.append(refused)
    return definition
