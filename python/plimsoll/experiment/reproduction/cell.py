"""A cell of an experiment, once more, with its target."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.experiment.cell_values import CellFolder
from plimsoll.experiment.file.file import plan_files, read_experiment
from plimsoll.experiment.placeholders import fill
from plimsoll.experiment.planned_cell import ANY_URL, planned_cell
from plimsoll.experiment.reproduction.cell_effects import cell_effects
from plimsoll.experiment.reproduction.changes import differences, target_facts
from plimsoll.experiment.reproduction.effects import effects_of, named_outputs, observed
from plimsoll.experiment.state import cell_of, changes, file_digests, from_json, kept_file
from plimsoll.experiment.target import known_values
from plimsoll.observe.kinds import touches
from plimsoll.report.writing import STDOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.experiment.reproduction.effects import Effect
    from plimsoll.experiment.reproduction.files import NewCommand
    from plimsoll.experiment.spec import Experiment, Variant
    from plimsoll.run.planned import PlannedRun
    from plimsoll.store import Store, StoredRun
    from plimsoll.store.cells import CellOutcome, StoredCell, StoredExperiment


@dataclass(frozen=True, slots=True)
class ReproducedCell:
    """A cell of an experiment, once more."""

    spec: Experiment
    cell: ExperimentCell
    then: Mapping[str, Any]
    """What was known of its target."""
    lines: tuple[str, ...]
    command: NewCommand
    planned: PlannedRun
    """Its run, with a stand-in for the target's URL."""
    effects: tuple[Effect, ...]
    left_out: tuple[str, ...]
    """The outputs that the stored run had, as options, and what it listened for."""

    @classmethod
    def of(cls, experiment: StoredExperiment, row: StoredCell, run: StoredRun, command: NewCommand) -> ReproducedCell:
        """The cell of this row, from the stored file of the experiment. Raises UsageError."""
        assert experiment.file is not None
        files = command.files
        kept = from_json(experiment.file.spec)
        kept = replace(kept, file=str(files.given)) if files.given is not None else kept
        cell = replace(cell_of(row), key=None, run=None, state="pending")
        with files.checked():
            files.check(Path(kept.file))
            spec, lines = _present(kept, experiment)
            # Its run is not one of the experiment's.
            spec = replace(spec, name=f"{spec.name}, once more")
            spec, listeners = _without_listeners(spec, cell.variant)
            for path in plan_files(spec).values():
                files.check(path)
            file_digests(spec)  # they must be there
            url = _url(cell, spec)
            planned = _planned(cell, spec, url, command)
            for locustfile in planned.plan.locustfiles:
                files.check(Path(locustfile))
        effects = (
            *cell_effects(cell, spec),
            *observed(_observed(spec.variant(cell.variant))),
            *effects_of(planned, files.read, run.manifest.digests, url),
        )
        label = f"cell of experiment {experiment.name}: {cell.label}"
        left_out = (
            *named_outputs(spec.scenario(cell.operation).arguments),
            *(f"observe {listener}" for listener in listeners),
        )
        return cls(spec, cell, row.target, (label, *lines), command, planned, effects, left_out)

    def run(self, report: Callable[[str], None]) -> CellOutcome:
        from plimsoll.experiment.cell import run_cell
        from plimsoll.experiment.source import clean_up

        with tempfile.TemporaryDirectory(prefix="plimsoll-reproduce-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            where = CellFolder(folder / "cell", folder / "shared", self.command.store, self.command.outputs)
            where.path.mkdir()
            where.shared.mkdir()
            try:
                result = run_cell(self.cell, self.spec, where, report)
            finally:
                if self.spec.variant(self.cell.variant).target.git is not None:
                    clean_up(self.spec.folder, where.shared)
        for line in differences(target_facts(self.then), target_facts(result.target)):
            report(line)
        return result


def _present(kept: Experiment, experiment: StoredExperiment) -> tuple[Experiment, list[str]]:
    """The experiment as its file has it now, where passwords are; as it was kept, with lines that say what has changed,
    if that is not the same."""
    assert experiment.file is not None
    try:
        written = read_experiment(kept.file, full=kept.is_full)
        written = replace(written, name=kept.name, variants=kept.variants, is_aa=True) if kept.is_aa else written
        changed = [] if kept.is_aa else changes(experiment.file, kept_file(written, ""))
    except UsageError as error:
        changed = [str(error).splitlines()[0]]
    if changed:
        before = f"{kept.file} is no longer what it was, so what was kept of it is run:"
        return kept, [before, *(f"  {change}" for change in changed)]
    return (kept if kept.is_aa else written), []


def _without_listeners(spec: Experiment, name: str) -> tuple[Experiment, tuple[str, ...]]:
    """Without what the target's observation would listen for, and what that was."""
    variant = spec.variant(name)
    wanted = variant.target.observe
    if not isinstance(wanted, tuple):
        return spec, ()
    listeners = tuple(text for text in wanted if touches(text) == "listens")
    target = replace(variant.target, observe=tuple(text for text in wanted if text not in listeners))
    variants = tuple(replace(other, target=target) if other.name == name else other for other in spec.variants)
    return replace(spec, variants=variants), listeners


def _url(cell: ExperimentCell, spec: Experiment) -> str:
    """The target's URL, with what is not known yet in braces."""
    variant = spec.variant(cell.variant)
    return fill(variant.target.url, known_values(cell, spec, variant)).rstrip("/")


def _planned(cell: ExperimentCell, spec: Experiment, url: str, command: NewCommand) -> PlannedRun:
    """The run of the cell. Its summary is that of the command: a cell has one of its own besides."""
    known, summary = ANY_URL if "{" in url else url, Path(STDOUT)
    planned = planned_cell(cell, spec, known, store=command.store, summary=summary, outputs=command.outputs)
    return replace(planned, outputs=replace(planned.outputs, summary=command.outputs["summary"]))


def _observed(variant: Variant) -> tuple[str, ...]:
    target = variant.target
    own = target.observe if isinstance(target.observe, tuple) else ()
    return own if target.postgres is None else (*own, target.postgres)


def cell_again(store: Store, run: StoredRun, command: NewCommand) -> ReproducedCell | None:
    """None for a run that is not a cell's, or is one of a search for capacity, which is complete by itself. Raises
    UsageError."""
    found = store.experiments.cell_of(run.id)
    if found is None or found[0].file is None or "capacity" in found[0].file.spec:
        return None
    return ReproducedCell.of(*found, run, command)
