"""What the store has of experiments and runs, as statistics see it."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.experiment.drift import RunConditions, drift, facts_of
from plimsoll.experiment.state import from_json
from plimsoll.record.cells import CellKey
from plimsoll.say.validity import check_texts
from plimsoll.stats.compare.noise import noise_of
from plimsoll.stats.kinds import level_of_run
from plimsoll.stats.metric import DEFAULT_METRICS, Metric
from plimsoll.stats.reading import RunReading
from plimsoll.stats.study import Study, Trial
from plimsoll.stats.thresholds.slo import parse_cell_slo, parse_slo
from plimsoll.stats.trial import trial_of
from plimsoll.stats.validity import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.stats.study import Noise
    from plimsoll.store import Store, StoredRun
    from plimsoll.store.cells import ExperimentFile, StoredCell, StoredExperiment

Machine = tuple[str, ...]

MEASURED = ("valid", "invalid")
RUN_METRICS = (*DEFAULT_METRICS, Metric("mean"), Metric("throughput"), Metric("errors"))
"""What is compared of runs that belong to no experiment."""
ABOUT = ("machine", "processor", "number of processors", "kernel", "CPU governor", "Python", "commit of the scenario")


def study_of(store: Store, name: str) -> Study:
    """Everything that an experiment has measured so far. Raises UsageError when there is no such experiment, or nothing
    of it was measured; StoreError."""
    experiment = store.experiments.find(name)
    if experiment is None or experiment.file is None:
        names = [known.name for known in store.experiments.all()]
        raise UsageError(f"store {store.name} has no experiment {name!r}; there are {', '.join(names) or 'none'}")
    cells = store.experiments.cells(experiment.key)
    trials, circumstances = _trials(store, cells)
    if not any(trial.total is not None for trial in trials):
        state = f"{sum(cell.state == 'failed' for cell in cells)} cells have failed" if trials else "none was run"
        raise UsageError(f"experiment {name} has nothing measured yet: of {len(cells)} cells {state}")
    if "capacity" in experiment.file.spec:
        return _search(store, experiment, cells, trials, _about(circumstances))
    spec = from_json(experiment.file.spec)
    return Study(
        name=experiment.name,
        trials=trials,
        question=spec.question,
        variants=tuple(variant.name for variant in spec.variants),
        changes={variant.name: variant.changes for variant in spec.variants if variant.changes},
        against=spec.compare.against,
        metrics=spec.compare.metrics,
        primary=spec.compare.primary,
        delta=spec.compare.smallest,
        tolerance=spec.compare.errors,
        slo=parse_cell_slo(spec.compare.slo) if spec.compare.slo else (),
        interleaved=True,
        gap=_gap(cells, trials),
        looks=spec.compare.looks,
        repeats=spec.repeats,
        noise=() if spec.is_aa else noise_for(store, experiment.file, machine_of(store, experiment)),
        warnings=(*_unfinished(cells), *_notes(cells), *drift(spec, circumstances)),
        source=f"experiment {experiment.name} of {store.name}",
        command=experiment.file.command,
        about=_about(circumstances),
        shape=spec.shape,
        is_aa=spec.is_aa,
    )


def _search(
    store: Store,
    experiment: StoredExperiment,
    cells: Sequence[StoredCell],
    trials: tuple[Trial, ...],
    about: Mapping[str, str],
) -> Study:
    """A search for capacity."""
    from plimsoll.report.probe import probe_of
    from plimsoll.stats.capacity.probe import CapacitySearch

    assert experiment.file is not None
    settings = experiment.file.spec["capacity"]
    criteria = parse_slo(", ".join(settings["slo"]))
    probes = tuple(
        probe_of(store.run(cell.run), criteria, cell.level.value if cell.level else 0.0, cell.data["phase"])
        for cell in cells
        if cell.state in MEASURED and cell.run is not None
    )
    is_over = experiment.status == "finished"
    return Study(
        name=experiment.name,
        trials=trials,
        question=experiment.question,
        metrics=RUN_METRICS,
        source=f"search {experiment.name} of {store.name}",
        command=experiment.file.command,
        about=about,
        search=CapacitySearch(criteria, settings["unit"], settings["seconds"], probes, is_over),
    )


def _trials(store: Store, cells: Sequence[StoredCell]) -> tuple[tuple[Trial, ...], list[RunConditions]]:
    trials: list[Trial] = []
    circumstances: list[RunConditions] = []
    for cell in cells:
        if cell.state in MEASURED and cell.run is not None:
            run = store.run(cell.run)
            trials.append(_measured(store, cell, run))
            circumstances.append(RunConditions(cell, run.manifest, cell.target, cell.data))
        elif cell.state == "failed":
            trials.append(_failed(cell))
    return tuple(trials), circumstances


def _measured(store: Store, cell: StoredCell, run: StoredRun) -> Trial:
    trial = judged_trial(run, RunReading(run), cell, order=cell.number, crashed=_crashed(cell), facts=_facts(cell))
    # What the cell knows besides the run: that its target ended, …
    reasons = () if trial.invalid or cell.state == "valid" else (cell.reason,)
    return replace(trial, invalid=(*trial.invalid, *reasons), collected=cell.collected)


def judged_trial(run: StoredRun, reading: RunReading, cell: CellKey, **given: Any) -> Trial:
    """A run that counts in no comparison if it is invalid, or has not ended. given: as `trial_of` has it."""
    unfit = judge(reading.view, run.manifest, run.facts, run.status).unfit
    return trial_of(run, reading, cell, invalid=tuple(check_texts(unfit)), **given)


def _failed(cell: StoredCell) -> Trial:
    """A cell in which nothing was measured. It has a place in every table, and a reason instead of numbers."""
    return Trial(
        id=f"cell {cell.number}",
        variant=cell.variant,
        level=cell.level,
        operation=cell.operation,
        repeat=cell.repeat,
        order=cell.number,
        invalid=(cell.reason or "it failed",),
        crashed=_crashed(cell),
        facts=_facts(cell),
        collected=cell.collected,
    )


def _crashed(cell: StoredCell) -> str | None:
    crashed = cell.target.get("crashed")
    return str(crashed) if crashed else None


def _facts(cell: StoredCell) -> dict[str, str | float]:
    """{"rows at the start": 0, "rows at the end": 525}, and what the target says it is."""
    facts: dict[str, str | float] = {}
    for name, values in cell.data.items():
        times = ("at the start", "at the end") if isinstance(values, list) else ("",)
        for when, value in zip(times, values if isinstance(values, list) else [values], strict=False):
            if value is not None:
                facts[f"{name} {when}".strip()] = _plain(value)
    for name in ("build", "commit"):
        if cell.target.get(name) is not None:
            facts[name] = _plain(cell.target[name])
    return facts


def _plain(value: Any) -> str | float:
    return value if isinstance(value, int | float | str) else str(value)


def _gap(cells: Sequence[StoredCell], trials: Sequence[Trial]) -> float | None:
    """Seconds that a cell took beyond what its run measured, in the middle; None when none has been measured."""
    durations = {trial.id: trial.duration for trial in trials}
    gaps = [
        cell.ended - cell.started - duration
        for cell in cells
        if cell.started is not None and cell.ended is not None and (duration := durations.get(cell.run or ""))
    ]
    return max(0.0, statistics.median(gaps)) if gaps else None


def _unfinished(cells: Sequence[StoredCell]) -> tuple[str, ...]:
    left = sum(cell.state in ("pending", "running") for cell in cells)
    return (f"{left} of {len(cells)} cells have not been run yet",) if left else ()


def _notes(cells: Sequence[StoredCell]) -> tuple[str, ...]:
    """What was noted of targets, once each."""
    notes = [str(note) for cell in cells for note in cell.target.get("notes") or ()]
    return tuple(dict.fromkeys(notes))


def _about(runs: Sequence[RunConditions]) -> Mapping[str, str]:
    if not runs:
        return {}
    last = runs[-1].manifest
    facts = facts_of(last)
    about = {"Plimsoll": last.version, **{name: facts[name] for name in ABOUT if name in facts}}
    return {name: value for name, value in about.items() if value}


def noise_for(store: Store, file: ExperimentFile, machine: Machine | None = None) -> tuple[Noise, ...]:
    """What A/A experiments of the same scenario say of the bench's own noise. machine: where they must have run."""
    wanted = file.spec["scenarios"], file.files
    studies = []
    for experiment in store.experiments.all():
        known = experiment.file
        alike = known is not None and known.is_aa and (known.spec["scenarios"], known.files) == wanted
        if alike and (machine is None or machine_of(store, experiment) == machine):
            try:
                studies.append(study_of(store, experiment.name))
            except UsageError:
                continue  # nothing measured
    if not studies:
        return ()
    return noise_of(studies)


def machine_of(store: Store, experiment: StoredExperiment) -> Machine | None:
    """What its first run was made on; None before there is one."""
    first = next((cell.run for cell in store.experiments.cells(experiment.key) if cell.run is not None), None)
    if first is None:
        return None
    facts = facts_of(store.run(first).manifest)
    return tuple(facts.get(name, "") for name in ("machine", "processor", "number of processors"))


def study_of_run(run: StoredRun, store: Store, reading: RunReading | None = None) -> Study:
    """One run by itself. reading: if it has been read already."""
    name = run.manifest.name or run.id
    trial = judged_trial(run, reading or RunReading(run), CellKey(name, level_of_run(run.manifest)))
    circumstances = [RunConditions(CellKey(name), run.manifest)]
    return Study(
        name=run.id,
        trials=(trial,),
        metrics=RUN_METRICS,
        source=f"run {run.id} of {store.name}",
        command=run.manifest.command,
        about=_about(circumstances),
    )
