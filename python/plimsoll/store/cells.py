"""Experiments and their cells, kept."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import func, insert, select, update

from plimsoll.errors import StoreError
from plimsoll.record.cells import CellKey, Level
from plimsoll.redact import storable, storable_json
from plimsoll.store import schema
from plimsoll.store.checks import check_row
from plimsoll.store.owner import is_gone, this_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection, Row

    from plimsoll.record.cells import LoadUnit
    from plimsoll.store.database import Database

_EXPERIMENT = tuple(
    schema.experiment.c[name]
    for name in (
        "id", "name", "created", "status", "ended", "question", "spec", "digest", "files", "seed", "is_aa", "command",
        "writer", "written", "tags", "note",
    )
)  # fmt: skip
_PLACE = ("number", "repeat", "variant", "unit", "level", "operation", "seed")
"""What makes a cell that cell."""
_BECAME = ("phases", "target", "data", "collected")
_STATE = ("state", "reason", "run", "started", "ended", *_BECAME)
_CELL = tuple(schema.cell.c[name] for name in ("id", *_PLACE, *_STATE))


def run_name(experiment: str, label: str) -> str:
    """What the run of a cell is called, and found by when its session was killed."""
    return f"{experiment}: {label}"


@dataclass(frozen=True, slots=True)
class ExperimentFile:
    """What an experiment's file says, to be kept. JSON throughout; passwords in URLs are masked."""

    spec: dict[str, Any]
    digest: str
    """The digest of the spec, in hexadecimal digits."""
    files: dict[str, str]
    """Digests of the files that it names."""
    question: str
    seed: int
    is_aa: bool
    command: str


@dataclass(frozen=True, slots=True)
class StoredExperiment:
    """An experiment of the store. Times are Unix seconds."""

    key: int
    name: str
    created: float
    status: str | None
    """"open", "finished", or None for a mere name that runs were given."""
    ended: float | None
    file: ExperimentFile | None
    is_running: bool
    """A process that lives has it."""
    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def question(self) -> str:
        return self.file.question if self.file is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCell(CellKey):
    """A cell of an experiment, or what it was before it was superseded."""

    key: int
    number: int
    seed: int
    state: str = "pending"
    reason: str = ""
    run: str | None = None
    started: float | None = None
    ended: float | None = None
    phases: dict[str, float] = field(default_factory=dict)
    target: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    collected: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CellOutcome:
    """The outcome of a cell that was run."""

    state: Literal["valid", "invalid", "failed"]
    reason: str = ""
    """One line; "" if and only if it is valid."""
    run: str | None = None
    """The id of what was measured."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase, of those that were reached: prepare, start, healthy, seed, measure, collect, cool_down, stop.
    `measure` is from the start of the generator's process to its end."""
    target: Mapping[str, Any] = field(default_factory=dict)
    """JSON: command, cwd, pid, build, commit, url, exit_status, log (last lines); crashed: how it ended by itself."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON by name: facts of the target, as {"rows": [before, after]}; None for what could not be asked."""
    collected: Mapping[str, str] = field(default_factory=dict)
    """What `collect` hooks printed, by name."""


class StoredExperiments:
    """The experiments of a store. Everything raises StoreError. One process at a time has an experiment: it `begin`s or
    `resume`s it, and then is the one that writes its cells."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[StoredExperiment]:
        """The latest first, without mere names."""
        column = schema.experiment.c
        query = select(*_EXPERIMENT).where(column.status.is_not(None)).order_by(column.created.desc(), column.id.desc())
        with self._database.read("list its experiments") as connection:
            return [_experiment(row) for row in connection.execute(query)]

    def find(self, name: str) -> StoredExperiment | None:
        """The experiment of that very name; None also for a mere name."""
        with self._database.read("look for the experiment") as connection:
            row = connection.execute(select(*_EXPERIMENT).where(schema.experiment.c.name == storable(name))).first()
            return _experiment(row) if row is not None and row.status is not None else None

    def cells(self, experiment: int, *, superseded: bool = False) -> list[StoredCell]:
        """In their order. superseded: those, too, before the ones that took their place."""
        column = schema.cell.c
        query = select(*_CELL).where(column.experiment == experiment).order_by(column.number, column.id)
        if not superseded:
            query = query.where(column.state != "superseded")
        with self._database.read("read the cells") as connection:
            return [_cell(row) for row in connection.execute(query)]

    def states(self, experiment: int) -> Counter[str]:
        """How many of its cells have each state, without the superseded ones."""
        column = schema.cell.c
        query = select(column.state, func.count()).where(column.experiment == experiment, column.state != "superseded")
        with self._database.read("count the cells") as connection:
            return Counter(dict(connection.execute(query.group_by(column.state)).all()))

    def runs(self) -> Counter[int]:
        """How many runs each experiment has, by its key; also those of cells that were superseded."""
        column = schema.run.c.experiment
        query = select(column, func.count()).where(column.is_not(None)).group_by(column)
        with self._database.read("count the runs of experiments") as connection:
            return Counter(dict(connection.execute(query).all()))

    def cell_of(self, run: str) -> tuple[StoredExperiment, StoredCell] | None:
        """The cell that a run belongs to."""
        with self._database.read("look for the cell") as connection:
            row = connection.execute(select(schema.cell.c.experiment, *_CELL).where(schema.cell.c.run == run)).first()
            if row is None:
                return None
            number, *values = row
            experiment = connection.execute(select(*_EXPERIMENT).where(schema.experiment.c.id == number)).one()
            return _experiment(experiment), _cell(values)

    def begin(self, name: str, file: ExperimentFile, cells: Iterable[Mapping[str, Any]]) -> int:
        """A new experiment, or an old one's name with a new file: then what it had is superseded. Its key.

        cells: pending ones, by the columns number, repeat, variant, unit, level, operation and seed.
        """
        name = storable(name)
        column = schema.experiment.c
        values = {**_row(file), "status": "open", "created": time.time(), "ended": None}
        with self._database.write("keep the experiment") as connection:
            key = connection.scalar(select(column.id).where(column.name == name).with_for_update())
            if key is None:
                key = connection.scalar(insert(schema.experiment).returning(column.id), {"name": name, **values})
                assert key is not None
            else:
                self._claim(connection, key)
                connection.execute(update(schema.experiment).where(column.id == key).values(values))
                old = update(schema.cell).where(schema.cell.c.experiment == key)
                connection.execute(old.where(schema.cell.c.state != "pending").values(state="superseded"))
                connection.execute(
                    schema.cell.delete().where(schema.cell.c.experiment == key, schema.cell.c.state == "pending")
                )
            self._claim(connection, key)
            _add(connection, key, cells)
        return int(key)

    def resume(self, experiment: int, file: ExperimentFile, again: Sequence[str] = ()) -> None:
        """Make it this process's. Cells that were being run, or have one of the states `again`, become pending again;
        what they had is superseded. file: as it is now, in what it may differ."""
        column = schema.cell.c
        with self._database.write("take the experiment up again") as connection:
            self._claim(connection, experiment)
            query = select(column.id, column.state, *(column[name] for name in _PLACE), column.started)
            query = query.where(column.experiment == experiment, column.state.in_(("running", *again)))
            for row in connection.execute(query).all():
                key, state, *values, started = row
                place = dict(zip(_PLACE, values, strict=True))
                if state == "running":
                    _take_orphan(connection, experiment, key, place, started)
                connection.execute(update(schema.cell).where(column.id == key).values(state="superseded"))
                _add(connection, experiment, [place])
            this = update(schema.experiment).where(schema.experiment.c.id == experiment)
            connection.execute(this.values(**_row(file), status="open", ended=None))

    def add(self, experiment: int, cells: Iterable[Mapping[str, Any]]) -> None:
        """Further pending cells, as with `begin`."""
        with self._database.write("keep further cells") as connection:
            _add(connection, experiment, cells)

    def start(self, experiment: int, cell: int, promised: float) -> None:
        """The cell is being run. promised: seconds for which nothing more may be heard of it."""
        now = time.time()
        with self._database.write("start a cell") as connection:
            this = update(schema.experiment).where(schema.experiment.c.id == experiment)
            # From another machine, all that can be seen of us is when we last wrote.
            connection.execute(this.values(written=now + promised))
            connection.execute(
                update(schema.cell).where(schema.cell.c.id == cell).values(state="running", started=now, ended=None)
            )

    def finish(self, experiment: int, cell: int, became: CellOutcome) -> None:
        """Store the outcome of a cell; its run belongs to the experiment from now on."""
        now = time.time()
        values = {
            "state": became.state,
            "reason": storable(became.reason),
            "run": became.run,
            "ended": now,
            **{name: storable_json(dict(getattr(became, name))) for name in _BECAME},
        }
        with self._database.write("keep a cell") as connection:
            connection.execute(update(schema.cell).where(schema.cell.c.id == cell).values(values))
            this = update(schema.experiment).where(schema.experiment.c.id == experiment)
            connection.execute(this.values(written=now))
            if became.run is not None:
                _adopt(connection, experiment, became.run)

    def give_back(self, experiment: int, cell: int) -> None:
        """The cell was interrupted: it is pending again, and what there was of a run is superseded."""
        column = schema.cell.c
        with self._database.write("give a cell back") as connection:
            query = select(*(column[name] for name in _PLACE), column.started).where(column.id == cell)
            *values, started = connection.execute(query).one()
            place = dict(zip(_PLACE, values, strict=True))
            if _take_orphan(connection, experiment, cell, place, started):
                connection.execute(update(schema.cell).where(column.id == cell).values(state="superseded"))
                _add(connection, experiment, [place])
            else:
                connection.execute(update(schema.cell).where(column.id == cell).values(state="pending", started=None))

    def leave(self, experiment: int, *, finished: bool) -> None:
        """This process is done with it. finished: nothing of it is pending."""
        values = {"status": "finished" if finished else "open", "ended": time.time() if finished else None}
        with self._database.write("leave the experiment") as connection:
            this = update(schema.experiment).where(schema.experiment.c.id == experiment)
            connection.execute(this.values(**values, writer=None, written=None))

    def _claim(self, connection: Connection, experiment: int) -> None:
        column = schema.experiment.c
        query = select(column.name, column.writer, column.written).where(column.id == experiment).with_for_update()
        name, writer, written = connection.execute(query).one()
        now = time.time()
        if writer not in (None, this_process()) and not is_gone(writer, written or 0.0, now):
            raise StoreError(f"experiment {name} is being run by another process; wait for it, or stop it")
        this = update(schema.experiment).where(column.id == experiment)
        connection.execute(this.values(writer=this_process(), written=now))


def _cell(row: Sequence[Any]) -> StoredCell:
    check_row(_CELL, row)
    key, number, repeat, variant, unit, level, operation, seed, *became = row
    return StoredCell(
        key=key,
        number=number,
        repeat=repeat,
        variant=variant,
        level=_level(unit, level),
        operation=operation,
        seed=seed,
        **dict(zip(_STATE, became, strict=True)),
    )


def _level(unit: LoadUnit | None, value: float | None) -> Level | None:
    return Level(unit, value) if unit is not None and value is not None else None


def _experiment(row: Row[*tuple[Any, ...]]) -> StoredExperiment:
    check_row(_EXPERIMENT, row)
    key, name, created, status, ended, question, spec, digest, files, seed, is_aa, command, *rest = row
    writer, written, tags, note = rest
    file = ExperimentFile(spec, digest, files, question, seed, is_aa, command) if spec is not None else None
    running = writer is not None and not is_gone(writer, written or 0.0, time.time())
    return StoredExperiment(key, name, created, status, ended, file, running, tuple(tags), note)


def _row(file: ExperimentFile) -> dict[str, Any]:
    return {
        "spec": storable_json(file.spec),
        "digest": file.digest,
        "files": storable_json(file.files),
        "question": storable(file.question),
        "seed": file.seed,
        "is_aa": file.is_aa,
        "command": storable(file.command),
    }


def _add(connection: Connection, experiment: int, cells: Iterable[Mapping[str, Any]]) -> None:
    rows = [
        {**{name: _text(each[name]) for name in _PLACE}, "experiment": experiment, "state": "pending"} for each in cells
    ]
    if rows:
        connection.execute(insert(schema.cell), rows)


def _text(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _take_orphan(
    connection: Connection, experiment: int, cell: int, place: Mapping[str, Any], started: float | None
) -> bool:
    """Whether the cell began a run that was not finished; the run is then attached to the cell."""
    column = schema.run.c
    name = connection.scalar(select(schema.experiment.c.name).where(schema.experiment.c.id == experiment))
    level = _level(place["unit"], place["level"])
    cell_key = CellKey(variant=place["variant"], level=level, operation=place["operation"], repeat=place["repeat"])
    named = column.manifest["scenario", "name"].as_string() == run_name(str(name), cell_key.label)
    query = select(column.id).where(named)
    query = query.where(column.started >= (started or 0.0) - 1.0).order_by(column.started.desc())
    run = connection.scalar(query.limit(1))
    if run is None:
        return False
    connection.execute(update(schema.cell).where(schema.cell.c.id == cell).values(run=run, reason="interrupted"))
    _adopt(connection, experiment, run)
    return True


def _adopt(connection: Connection, experiment: int, run: str) -> None:
    connection.execute(update(schema.run).where(schema.run.c.id == run).values(experiment=experiment))
