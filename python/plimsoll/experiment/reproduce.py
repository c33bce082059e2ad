"""Runs a stored run again, and says what has changed since."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.experiment.cell_values import CellFolder
from plimsoll.experiment.drift import facts_of
from plimsoll.experiment.file.file import read_experiment
from plimsoll.experiment.state import cell_of, changes, file_digests, from_json, kept_file
from plimsoll.load.plan_file import read_plan
from plimsoll.load.targets import read_targets
from plimsoll.run.manifest import manifest, plan_files
from plimsoll.run.plan import RunPlan
from plimsoll.store.redact import MASK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.experiment.spec import Experiment
    from plimsoll.store import Store, StoredRun
    from plimsoll.store.cells import CellOutcome, StoredCell, StoredExperiment


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """A line for each thing that both have, with different values."""
    return [f"{name}: then {was}, now {now[name]}" for name, was in then.items() if name in now and now[name] != was]


def plan_of(run: StoredRun) -> RunPlan:
    """What was run, as it can be run again. Raises UsageError when the store was not to have all of it, or a file is
    gone or cannot be read."""
    plain = _kept_plan(run)
    if MASK in (plain.get("arguments") or ()) or any(str(each).endswith(f"={MASK}") for each in plain["arguments"]):
        raise UsageError(f"run {run.id} had a secret among its options, which is not kept; run it by hand")
    if _has_digest(plain.get("load")):
        raise UsageError(f"run {run.id} replayed recorded times, which are not kept; run it by hand")
    plan = RunPlan.from_dict({**plain, "scenario": None})
    _check_files(run, plan.locustfiles)
    # What the limits file says is what it says now, on this machine.
    rails = plan.rails.of_options
    return replace(plan, rails=rails, scenario=_scenario(run, plan, plain.get("scenario")))


def _kept_plan(run: StoredRun) -> dict[str, Any]:
    plain: dict[str, Any] | None = run.manifest.get("plan")
    if not plain:
        raise UsageError(f"run {run.id} does not say how it was made")
    return plain


def _scenario(run: StoredRun, plan: RunPlan, kept: dict[str, Any] | None) -> dict[str, Any] | None:
    """What native users do: bodies, rows and credentials are in the file, not in the store."""
    if kept is None:
        return None
    source = plan.source or ""
    if "://" not in source:
        host = kept["targets"][0]["url"] if kept.get("targets") else None
        if source.endswith(".toml"):
            return read_plan(source, host).scenario
        return read_targets(source, host)
    if _has_digest(kept) or MASK in str(kept):
        raise UsageError(f"run {run.id} had a body or credentials, which are not kept; run it by hand")
    return kept


def _has_digest(value: Any) -> bool:
    """Whether something in it was left out for a digest."""
    if isinstance(value, dict):
        return "sha256" in value or any(map(_has_digest, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_digest, value))


def _check_files(run: StoredRun, files: Sequence[str]) -> None:
    for file in files:
        if not Path(file).is_file():
            raise UsageError(f"{file} is gone; run {run.id} cannot be run again without it")


def now_of(run: StoredRun) -> dict[str, Any]:
    """The manifest that the same run would have now. Raises UsageError."""
    plan = RunPlan.from_dict({**_kept_plan(run), "scenario": None})
    _check_files(run, plan_files(plan))
    return manifest(plan, None)


@dataclass(frozen=True, slots=True)
class ReproducedCell:
    """A cell of an experiment, once more."""

    spec: Experiment
    cell: ExperimentCell
    then: Mapping[str, Any]
    """What was known of its target."""
    lines: tuple[str, ...]

    @classmethod
    def of(cls, experiment: StoredExperiment, row: StoredCell) -> ReproducedCell:
        """The cell of this row, from the stored file of the experiment. Raises UsageError."""
        assert experiment.file is not None
        spec = from_json(experiment.file.spec)
        lines = [f"cell of experiment {experiment.name}: {cell_of(row).label}"]
        try:
            # Passwords are only in the file.
            written = read_experiment(spec.file, full=spec.is_full)
            written = replace(written, name=spec.name, variants=spec.variants, is_aa=True) if spec.is_aa else written
            changed = [] if spec.is_aa else changes(experiment.file, kept_file(written, ""))
        except UsageError as error:
            changed = [str(error).splitlines()[0]]
        if changed:
            lines += [f"{spec.file} is no longer what it was, so what was kept of it is run:"]
            lines += [f"  {each}" for each in changed]
        elif not spec.is_aa:
            spec = written
        file_digests(spec)  # they must be there
        again = replace(spec, name=f"{spec.name}, once more")  # its run is not one of the experiment's
        return cls(again, replace(cell_of(row), key=None, run=None, state="pending"), row.target, tuple(lines))

    @property
    def commands(self) -> tuple[str, ...]:
        """What it runs on this machine besides Plimsoll, as in a shell."""
        return tuple(map(shlex.join, self.spec.variant(self.cell.variant).commands))

    def run(self, store: str, report: Callable[[str], None]) -> CellOutcome:
        from plimsoll.experiment.cell import run_cell
        from plimsoll.experiment.source import clean_up

        with tempfile.TemporaryDirectory(prefix="plimsoll-reproduce-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            where = CellFolder(folder / "cell", folder / "shared", store)
            where.path.mkdir()
            where.shared.mkdir()
            try:
                result = run_cell(self.cell, self.spec, where, report)
            finally:
                clean_up(self.spec.folder, where.shared)
        for line in differences(target_facts(self.then), target_facts(result.target)):
            report(line)
        return result


def target_facts(target: Mapping[str, Any]) -> dict[str, str]:
    names = {"commit": "commit of the target", "build": "build of the target", "image": "image of the target"}
    return {said: str(target[name]) for name, said in names.items() if target.get(name) is not None}


def circumstances(run: StoredRun) -> list[str]:
    """What differs now from then. Raises UsageError when a file of the run is gone."""
    found = differences(facts_of(run.manifest), facts_of(now_of(run)))
    return found or ["machine, versions and files are as they were then"]


def cell_again(store: Store, run: StoredRun) -> ReproducedCell | None:
    """None for a run that is not a cell's, or is one of a search for capacity, which is complete by itself. Raises
    UsageError."""
    found = store.experiments.cell_of(run.id)
    if found is None or found[0].file is None or "capacity" in found[0].file.spec:
        return None
    return ReproducedCell.of(*found)
