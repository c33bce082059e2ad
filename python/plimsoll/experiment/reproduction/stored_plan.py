"""The plan of a stored run, checked as if somebody else had written it."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.errors import StoreError, UsageError
from plimsoll.experiment.reproduction.effects import Effect, effects_of, named_outputs
from plimsoll.load.engine_check import refusal
from plimsoll.load.guard_rails import check_contact
from plimsoll.load.plan_file import read_plan
from plimsoll.load.targets import read_targets
from plimsoll.redact import MASK
from plimsoll.run.manifest import plan_files
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.table import run_options
from plimsoll.run.plan import RunPlan
from plimsoll.run.planned import Outputs, PlannedRun
from plimsoll.run.planning import with_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

    from plimsoll.experiment.reproduction.files import NewCommand, StoredFiles
    from plimsoll.run.options.option import Option
    from plimsoll.store import StoredRun


@dataclass(frozen=True, slots=True)
class ReproducedRun:
    """A stored run that is no cell's, once more."""

    planned: PlannedRun
    effects: tuple[Effect, ...]
    left_out: tuple[str, ...]
    """The outputs that the stored run had, as options: they are written only if the new command line names them."""
    lines: tuple[str, ...] = ()
    """What else there is to say before."""

    @classmethod
    def of(cls, run: StoredRun, command: NewCommand) -> ReproducedRun:
        """Raises UsageError, StoreError."""
        kept = stored_plan(run, command.files)
        # Locustfiles find it in sys.argv, and the new run has it in its manifest: what was really typed.
        plan = replace(kept, command=("plimsoll", *sys.argv[1:]))
        outputs = Outputs(store=command.store, name=run.manifest.name or None)
        planned = with_outputs(PlannedRun(plan, outputs), command.outputs)
        effects = effects_of(planned, command.files.read, run.manifest.digests)
        left_out = dict.fromkeys((*named_outputs(kept.command), *(["--logfile"] if kept.logfile else ())))
        return cls(planned, tuple(effects), tuple(left_out))


def stored_plan(run: StoredRun, files: StoredFiles) -> RunPlan:
    """What was run, as it can be run again; `files` has its files. Raises UsageError when the store was not to have all
    of it, or a file is gone, cannot be read or must not be; StoreError for values that no Plimsoll wrote."""
    plan = _read(run, _kept_plan(run))
    if any(argument == MASK or argument.endswith(f"={MASK}") for argument in plan.arguments):
        raise UsageError(f"run {run.id} had a secret among its options, which is not kept; run it by hand")
    plan = _with_file(plan, run, files)
    if plan.joined:
        raise UsageError(f"the workers of run {run.id} joined by themselves; run it by hand, with --master or --on")
    for file in plan_files(plan):
        if not Path(file).is_file():
            raise UsageError(f"{file} is gone; run {run.id} cannot be run again without it (-f FILE names another)")
        files.check(Path(file))
    with files.checked():
        return replace(plan, scenario=_scenario(run, plan, run.manifest.plan.scenario, files))


def _kept_plan(run: StoredRun) -> dict[str, Any]:
    """The fields of the plan without its scenario. Raises UsageError when they are not all kept."""
    plan = run.manifest.plan
    if not plan.origin:
        raise UsageError(f"run {run.id} does not say how it was made")
    if plan.load is not None and _has_digest(plan.load.to_json()):
        raise UsageError(f"run {run.id} replayed recorded times, which are not kept; run it by hand")
    return {**plan.to_json(), "scenario": None}


def _has_digest(value: Any) -> bool:
    """Whether a digest stands for some part of a stored value."""
    if isinstance(value, dict):
        return "sha256" in value or any(map(_has_digest, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_digest, value))


def _read(run: StoredRun, plain: dict[str, Any]) -> RunPlan:
    """The plan of these values. What the limits file says is what it says now, on this machine."""
    known = {option.dest for option in run_options() if option.locust}
    try:
        plan = RunPlan.from_dict(plain)
        _types().validate_python(asdict(plan))
        _check_ranges(plan)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StoreError(f"the plan of run {run.id} has a value that no Plimsoll wrote: {reason}") from error
    options = tuple((name, value) for name, value in plan.options if name in known)
    return replace(plan, rails=plan.rails.of_options, options=options)


@cache
def _types() -> TypeAdapter[RunPlan]:
    from pydantic import TypeAdapter

    return TypeAdapter(RunPlan)


def _check_ranges(plan: RunPlan) -> None:
    """Values that an option would refuse are not taken from a store either. Raises ValueError."""
    for row in run_options():
        value = getattr(plan, row.value_name, None)
        if not row.multiple and isinstance(value, str | int | float) and not isinstance(value, bool):
            _convert(row, value)
    numbers = {field.name: getattr(plan, field.name) for field in fields(plan)}
    for name, value in numbers.items():
        if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) < 1 << 63):
            raise ValueError(f"{name} = {value}")
    for name in ("run_time", "stop_timeout", "processes"):
        if (value := numbers[name]) is not None and value < (name == "processes"):
            raise ValueError(f"{name} = {value}")
    for address in plan.source_addresses:
        ip_address(address)
    for phase in plan.load.phases if plan.load else ():
        phase.shape.build()
    if plan.identify is not None:
        check_contact(plan.identify)


def _convert(row: Option, value: str | float) -> None:
    """Raises ValueError for a value that this option of `plimsoll run` would not take."""
    try:
        TableOption(row=row).type.convert(value, None, None)
    except click.BadParameter as error:
        raise ValueError(f"{row.value_name}: {error.message}") from error


def _with_file(plan: RunPlan, run: StoredRun, files: StoredFiles) -> RunPlan:
    """With the file of the command line in place of the run's own."""
    if files.given is None:
        return plan
    if files.given.suffix == ".py":
        if not plan.locustfiles:
            raise UsageError(f"run {run.id} was made without a locustfile; -f {files.given} does not fit")
        return replace(plan, locustfiles=(str(files.given),))
    if not _is_file(plan.source):
        raise UsageError(f"run {run.id} was made without a plan or a file of targets; -f {files.given} does not fit")
    return replace(plan, source=str(files.given))


def _is_file(source: str | None) -> bool:
    return bool(source) and "://" not in str(source)


def _scenario(run: StoredRun, plan: RunPlan, kept: dict[str, Any] | None, files: StoredFiles) -> dict[str, Any] | None:
    """What native users do: bodies, rows and credentials are in the file, not in the store."""
    if kept is None:
        if not plan.locustfiles:
            raise StoreError(f"the plan of run {run.id} has neither a locustfile nor a scenario; no Plimsoll wrote it")
        return None
    source = plan.source or ""
    if _is_file(source):
        host = kept["targets"][0]["url"] if kept.get("targets") else None
        if source.endswith(".toml"):
            return read_plan(source, host).scenario
        return read_targets(source, host)
    if _has_digest(kept) or MASK in str(kept):
        raise UsageError(f"run {run.id} had a body or credentials, which are not kept; run it by hand")
    if (refused := refusal(kept)) is not None:
        reason = ": ".join(filter(None, refused))
        raise StoreError(f"the scenario of run {run.id} is not one that Plimsoll wrote: {reason}")
    for target in kept["targets"]:
        _check_certificates(target, files)
    return kept


def _check_certificates(target: Mapping[str, Any], files: StoredFiles) -> None:
    """Raises UsageError for a file of a target that must not be read."""
    own = target.get("cert") or ()
    named = [own] if isinstance(own, str) else [*own]
    named += [path for row in (target.get("certs") or {}).get("rows", ()) for path in row]
    named += [target["verify"]] if isinstance(target.get("verify"), str) else []
    for path in named:
        files.check(Path(path))
