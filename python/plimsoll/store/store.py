"""The store as a whole: its runs by id, and new ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVarTuple

from sqlalchemy import exists, func, insert, select, update

from plimsoll.errors import RefError, StoreError
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest, new_run_id
from plimsoll.redact import redact, storable, storable_json
from plimsoll.store import schema
from plimsoll.store.checks import DAMAGE, check_row
from plimsoll.store.database import Database
from plimsoll.store.labels import has_tag, has_words, words_of
from plimsoll.store.migrate import migrate
from plimsoll.store.owner import interrupt, is_gone, this_process
from plimsoll.store.reader import StoredRun
from plimsoll.store.writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType
    from typing import Self

    from sqlalchemy import Connection, Row, Select

    from plimsoll.store.cells import StoredExperiments
    from plimsoll.store.imports import Imports
    from plimsoll.store.labels import Labels
    from plimsoll.store.summaries import Summaries

Chosen = TypeVarTuple("Chosen")

_RUN = (
    schema.run.c.id, schema.run.c.status, schema.run.c.started, schema.run.c.ended, schema.experiment.c.name,
    schema.run.c.manifest, schema.run.c.notes, schema.run.c.facts, schema.run.c.writer, schema.run.c.written,
    schema.run.c.tags, schema.run.c.note,
)  # fmt: skip
_PLAIN = (schema.run.c.id, schema.run.c.started, schema.run.c.ended, schema.run.c.written)
"""What a list shows of a damaged run."""


class Store:
    """Runs in an SQLite file or a PostgreSQL database. Everything raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, location: str | None = None, *, create: bool = True) -> Store:
        """location: a path, an SQLAlchemy URL, or None for `plimsoll.db` in the current directory.

        create: whether a missing SQLite file may be made; who only reads says False.
        """
        database = Database(location)
        if not create and database.file is not None and not database.file.is_file():
            raise RefError(f"no store at {database.name}; `plimsoll run` makes one, --store names another")
        if database.file is not None and not database.file.parent.exists():
            hint = f"there is no folder {database.file.parent}; make it first, or choose another"
            raise StoreError(f"store {database.name}: {hint}")
        try:
            migrate(database)
        except StoreError:
            database.close()
            raise
        return cls(database)

    @property
    def name(self) -> str:
        """The location of the store, for people; without a password."""
        return self._database.name

    @property
    def experiments(self) -> StoredExperiments:
        # Here, and not above: a run needs neither these nor what is imported.
        from plimsoll.store.cells import StoredExperiments

        return StoredExperiments(self._database)

    @property
    def imports(self) -> Imports:
        from plimsoll.store.imports import Imports

        return Imports(self._database)

    def start_run(self, manifest: Manifest, *, experiment: str | None = None, run: str | None = None) -> RunWriter:
        """A new run. manifest: with `started`; passwords in URLs are masked in what is kept. run: the id that it is to
        have; it has another where that is taken."""
        if manifest.started is None:
            raise ValueError("a run begins at some time: its manifest has no started")
        started, plain = float(manifest.started), storable_json(manifest.to_json())
        with self._database.write("keep the run") as connection:
            run = _free_id(connection, started, run)
            row: dict[str, Any] = {
                "id": run,
                "experiment": _experiment(connection, experiment, started) if experiment else None,
                "status": "running",
                "started": started,
                "ended": None,
                "writer": this_process(),
                "written": time.time(),
                "batch": 0,
                "manifest": plain,
                "notes": [],
                "facts": {},
                "words": words_of(run, experiment or "", Manifest.from_json(plain)),
            }
            connection.execute(insert(schema.run), row)
        return RunWriter(self._database, run)

    def resume_run(self, run: StoredRun, notes: Collection[str], facts: RunFacts) -> RunWriter:
        """Go on with a run whose writer has ended: this process is its writer from now on. notes, facts: those that it
        has from now on, whatever follows."""
        column = schema.run.c
        with self._database.write("go on with the run") as connection:
            lost = connection.execute(select(column.writer, column.written).where(column.id == run.id)).one_or_none()
            values = {
                "writer": this_process(),
                "written": time.time(),
                "notes": storable_json(list(notes)),
                "facts": storable_json(facts.to_json()),
            }
            gone = lost.writer if lost is not None and is_gone(*lost, time.time()) else None
            # Two processes may want it at the same time.
            theirs = update(schema.run).where(column.id == run.id, column.writer == gone)
            if not connection.execute(theirs.values(values)).rowcount:
                raise StoreError(f"store {self.name}: another process goes on with run {run.id}")
            batch = connection.scalar(select(column.batch).where(column.id == run.id))
        return RunWriter(self._database, run.id, batch or 0)

    @property
    def labels(self) -> Labels:
        from plimsoll.store.labels import Labels

        return Labels(self._database)

    @property
    def summaries(self) -> Summaries:
        from plimsoll.store.summaries import Summaries

        return Summaries(self._database)

    def runs(self, limit: int | None = None, *, search: str = "", tag: str = "") -> list[StoredRun]:
        """The latest first. search, tag: as in `part`."""
        with self._database.read("list its runs") as connection:
            return self._runs(connection, limit, 0, search, tag)

    def part(
        self, limit: int | None, offset: int = 0, *, search: str = "", tag: str = ""
    ) -> tuple[list[StoredRun], int]:
        """Some of the runs that are asked for, the latest first, and how many there are in all.

        search: those in whose id, name, host, files, commit, experiment, tags or note every word of it stands, in upper
        or lower case. tag: those that have it.
        """
        count = self._matching(select(func.count()).select_from(schema.run), search, tag)
        with self._database.read("list its runs") as connection:
            return self._runs(connection, limit, offset, search, tag), int(connection.scalar(count) or 0)

    def _runs(self, connection: Connection, limit: int | None, offset: int, search: str, tag: str) -> list[StoredRun]:
        query = self._matching(select(*_RUN).outerjoin_from(schema.run, schema.experiment), search, tag)
        query = query.order_by(schema.run.c.started.desc(), schema.run.c.id.desc()).limit(limit).offset(offset)
        try:
            return [self._stored(row) for row in connection.execute(query)]
        except (StoreError, *DAMAGE):
            # One damaged run hides no other.
            listed = query.with_only_columns(*_PLAIN, maintain_column_froms=True)
            return [self._listed(connection, row) for row in connection.execute(listed).all()]

    def _listed(self, connection: Connection, row: Row[*tuple[Any, ...]]) -> StoredRun:
        """The run of a row of `_PLAIN`, which is enough for a list if the rest of it is damaged."""
        check_row(_PLAIN, row)
        run, started, ended, written = row
        query = select(*_RUN).outerjoin_from(schema.run, schema.experiment).where(schema.run.c.id == run)
        try:
            return self._stored(connection.execute(query).one())
        except StoreError as error:
            damage = str(error)
        except DAMAGE as error:
            damage = f"store {self.name}: run {run} is damaged: {redact(str(error))}"
        damage += "; the other runs are not affected: restore this one from a backup of the store, or run it again"
        return StoredRun(
            run, "damaged", started, ended, None, Manifest(), [], RunFacts(), written, (), "", self._database, damage
        )

    def _matching(self, query: Select[*Chosen], search: str, tag: str) -> Select[*Chosen]:
        if search.strip():
            query = query.where(*has_words(search))
        return query.where(has_tag(schema.run.c.tags, tag, self._database)) if tag else query

    def run(self, ref: str) -> StoredRun:
        """The run with this id, with an id that alone starts so, or for "last" the latest."""
        if ref == "last":
            latest = self.runs(limit=1)
            if not latest:
                raise RefError(f"store {self.name} has no runs yet")
            latest[0].check()
            return latest[0]
        query = select(*_RUN).outerjoin_from(schema.run, schema.experiment)
        query = query.where(schema.run.c.id.startswith(storable(ref), autoescape=True)).order_by(schema.run.c.id)
        with self._database.read("look for the run") as connection:
            found = [self._stored(row) for row in connection.execute(query)]
        exact = [run for run in found if run.id == ref]
        if len(exact or found) != 1:
            several = ", ".join(run.id for run in found[:5])
            raise RefError(f"several runs start with {ref!r}: {several}" if found else self._unknown(ref))
        return (exact or found)[0]

    def ids(self) -> list[str]:
        """The ids of all runs, the latest first."""
        query = select(schema.run.c.id).order_by(schema.run.c.started.desc(), schema.run.c.id.desc())
        with self._database.read("list its runs") as connection:
            return list(connection.scalars(query))

    def several(self, ids: Collection[str]) -> list[StoredRun]:
        """The runs with these very ids, in the order of their start; what is not there is left out."""
        query = select(*_RUN).outerjoin_from(schema.run, schema.experiment).where(schema.run.c.id.in_(list(ids)))
        with self._database.read("look for the runs") as connection:
            return [self._stored(row) for row in connection.execute(query.order_by(schema.run.c.started))]

    def interrupt(self, run: StoredRun) -> None:
        """Ask the process that makes the run to end, as Ctrl-C does; of an experiment's run, that of the experiment.

        Raises StoreError when that cannot be done from here.
        """
        column = schema.experiment.c.writer
        with self._database.read("look for the run") as connection:
            writer = _writer(connection, run)
            leaders = connection.scalars(select(column).where(column.is_not(None))).all()
        interrupt(writer, leaders)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _unknown(self, ref: str) -> str:
        return f"store {self.name} has no run {ref!r}; `plimsoll runs` lists them"

    def _stored(self, row: Row[*tuple[Any, ...]]) -> StoredRun:
        check_row(_RUN, row, joined=(schema.experiment.c.name,))
        run, status, started, ended, experiment, manifest, notes, facts, writer, written, tags, note = row
        if status == "running" and is_gone(writer, written, time.time()):
            status = "interrupted"
        try:
            known, found = Manifest.from_json(manifest), RunFacts.from_json(facts)
        except ValueError as error:
            raise StoreError(f"store {self.name}: run {run} is damaged: {error}") from error
        described = started, ended, experiment, known, notes, found, written, tuple(tags), note
        return StoredRun(run, status, *described, self._database)


def _writer(connection: Connection, run: StoredRun) -> str:
    writer: str = connection.scalars(select(schema.run.c.writer).where(schema.run.c.id == run.id)).one()
    return writer


def _free_id(connection: Connection, started: float, wanted: str | None = None) -> str:
    run = wanted or new_run_id(started)
    while connection.scalar(select(exists().where(schema.run.c.id == run))):
        run = new_run_id(started)
    return run


def _experiment(connection: Connection, name: str, created: float) -> int:
    """The number of the experiment with this name, which is made if there is none."""
    column = schema.experiment.c
    name = storable(name)
    number = connection.scalar(select(column.id).where(column.name == name))
    if number is None:
        row = {"name": name, "created": created}
        number = connection.scalar(insert(schema.experiment).returning(column.id), row)
    assert number is not None
    return int(number)
