"""The experiments and imported studies of the store, and the cells of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from plimsoll.errors import RefError
from plimsoll.report.render.experiment_listing import state_of
from plimsoll.server.answers import answer, read
from plimsoll.server.history.runs import short, summaries_of
from plimsoll.server.messages import CellItem, ExperimentItem, Label, Matrix

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.report.run_summary import RunSummary
    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.store import Store
    from plimsoll.store.cells import StoredCell, StoredExperiment
    from plimsoll.store.imports import ListedStudy


class ExperimentHistory:
    """GET /api/experiments, GET and PATCH /api/experiments/{name}."""

    def __init__(self, place: OpenStore) -> None:
        self._place = place

    def list(self, _: Request) -> Response:
        store = self._place.get_if_there()
        return answer({"experiments": _items(store) if store is not None else []})

    def matrix(self, request: Request) -> Response:
        store, name = self._place.get(), request.path_params["name"]
        experiment = store.experiments.find(name)
        if experiment is None:
            return answer(Matrix(_study_item(_study(store, name), name), (), (), (), 0, (), has_page=True))
        return answer(_matrix(store, experiment))

    async def label(self, request: Request) -> Response:
        label = await read(request, Label)
        return await run_in_threadpool(self._label, request.path_params["name"], label)

    def _label(self, name: str, label: Label) -> Response:
        store = self._place.get()
        if store.experiments.find(name) is None:
            store.labels.of_study(_study(store, name).id, tags=label.tags, note=label.note)
            return answer(_study_item(_study(store, name), name))
        store.labels.of_experiment(name, tags=label.tags, note=label.note)
        experiment = store.experiments.find(name)
        assert experiment is not None, "experiments are not deleted"
        return answer(_item(store, experiment, store.experiments.runs()))


def _items(store: Store) -> list[ExperimentItem]:
    """All experiments, the latest first."""
    runs = store.experiments.runs()
    experiments = [_item(store, each, runs) for each in store.experiments.all()]
    names = {each.name for each in experiments}
    # An experiment hides a study of the same name; the study is still found by its id.
    studies = [_study_item(each, each.id if each.name in names else each.name) for each in store.imports.listed()]
    return sorted((*experiments, *studies), key=lambda each: -each.created)


def _item(store: Store, experiment: StoredExperiment, runs: Counter[int]) -> ExperimentItem:
    states = store.experiments.states(experiment.key)
    return ExperimentItem(
        name=experiment.name,
        question=experiment.question,
        status=state_of(experiment, states),
        created=experiment.created,
        ended=experiment.ended,
        cells=dict(states),
        runs=runs[experiment.key],
        tags=experiment.tags,
        note=experiment.note,
        is_aa=experiment.file is not None and experiment.file.is_aa,
    )


def _study_item(study: ListedStudy, name: str) -> ExperimentItem:
    return ExperimentItem(
        name=name,
        question=study.question,
        status="imported",
        created=study.created,
        ended=None,
        cells={},
        runs=study.trials,
        tags=study.tags,
        note=study.note,
        is_imported=True,
    )


def _study(store: Store, name: str) -> ListedStudy:
    """The imported study with this name or id. Raises RefError."""
    for study in store.imports.listed():
        if name in (study.name, study.id):
            return study
    raise RefError(f"store {store.name} has no experiment or imported study {name!r}")


def _matrix(store: Store, experiment: StoredExperiment) -> Matrix:
    # Imported here because it loads the dependencies of running experiments.
    from plimsoll.experiment.study import MEASURED

    cells = store.experiments.cells(experiment.key)
    runs = {cell.run for cell in cells if cell.run is not None}
    summaries = summaries_of(store, store.several(runs))
    spec = experiment.file.spec if experiment.file is not None else {}
    return Matrix(
        experiment=_item(store, experiment, store.experiments.runs()),
        variants=_in_order(spec.get("variants") or (), (cell.variant for cell in cells)),
        levels=_levels(cells),
        operations=_in_order(spec.get("scenarios") or (), (cell.operation for cell in cells)),
        repeats=max((cell.repeat for cell in cells), default=0),
        cells=tuple(_cell(cell, summaries.get(cell.run or "")) for cell in cells),
        has_page=any(cell.state in MEASURED and cell.run in summaries for cell in cells),
    )


def _in_order(declared: Iterable[Mapping[str, Any]], found: Iterable[str]) -> tuple[str, ...]:
    """In the order of the experiment's file; cells run in another order."""
    there = set(found)
    return tuple(name for each in declared if (name := str(each.get("name", ""))) in there)


def _levels(cells: Sequence[StoredCell]) -> tuple[str, ...]:
    """The levels as text, the lowest first."""
    by_value = {cell.level.value if cell.level else 0.0: _level(cell) for cell in cells}
    return tuple(by_value[value] for value in sorted(by_value))


def _level(cell: StoredCell) -> str:
    """Empty if the plan defines the load."""
    return str(cell.level or "")


def _cell(cell: StoredCell, summary: RunSummary | None) -> CellItem:
    return CellItem(
        number=cell.number,
        variant=cell.variant,
        level=_level(cell),
        operation=cell.operation,
        repeat=cell.repeat,
        state=cell.state,
        reason=cell.reason,
        run=cell.run or "",
        summary=short(summary) if summary is not None else None,
    )
