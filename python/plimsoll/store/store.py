"""The store as a whole: its runs by id, and new ones."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, insert, select

from plimsoll.errors import StoreError
from plimsoll.store import schema
from plimsoll.store.database import Database
from plimsoll.store.migrate import migrate
from plimsoll.store.owner import is_gone, this_process
from plimsoll.store.reader import StoredRun
from plimsoll.store.redact import storable, storable_json
from plimsoll.store.writer import RunWriter

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from sqlalchemy import Connection, Row

    from plimsoll.store.cells import Experiments
    from plimsoll.store.imports import Imports

# Without the letters that are taken for digits or for each other.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

_RUN = (
    schema.run.c.id, schema.run.c.status, schema.run.c.started, schema.run.c.ended, schema.experiment.c.name,
    schema.run.c.manifest, schema.run.c.notes, schema.run.c.facts, schema.run.c.writer, schema.run.c.written,
)  # fmt: skip


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
            raise StoreError(f"no store at {database.name}; `plimsoll run` makes one, --store names another")
        try:
            migrate(database)
        except StoreError:
            database.close()
            raise
        return cls(database)

    @property
    def name(self) -> str:
        """Where it is, for people; without a password."""
        return self._database.name

    @property
    def experiments(self) -> Experiments:
        # Here, and not above: a run needs neither these nor what is imported.
        from plimsoll.store.cells import Experiments

        return Experiments(self._database)

    @property
    def imports(self) -> Imports:
        from plimsoll.store.imports import Imports

        return Imports(self._database)

    def start_run(self, manifest: dict[str, Any], *, experiment: str | None = None) -> RunWriter:
        """A new run. manifest: JSON, with "started" in Unix seconds; passwords in URLs are masked before it is kept."""
        started = float(manifest["started"])
        with self._database.write("keep the run") as connection:
            run = _free_id(connection, started)
            row = {
                "id": run,
                "experiment": _experiment(connection, experiment, started) if experiment else None,
                "status": "running",
                "started": started,
                "ended": None,
                "writer": this_process(),
                "written": time.time(),
                "batch": 0,
                "manifest": storable_json(manifest),
                "notes": [],
                "facts": {},
            }
            connection.execute(insert(schema.run), row)
        return RunWriter(self._database, run)

    def runs(self, limit: int | None = None) -> list[StoredRun]:
        """The latest first."""
        query = select(*_RUN).outerjoin_from(schema.run, schema.experiment)
        query = query.order_by(schema.run.c.started.desc(), schema.run.c.id.desc()).limit(limit)
        with self._database.read("list its runs") as connection:
            return [self._stored(row) for row in connection.execute(query)]

    def run(self, ref: str) -> StoredRun:
        """The run with this id, with an id that alone starts so, or for "last" the latest."""
        if ref == "last":
            latest = self.runs(limit=1)
            if not latest:
                raise StoreError(f"store {self.name} has no runs yet")
            return latest[0]
        query = select(*_RUN).outerjoin_from(schema.run, schema.experiment)
        query = query.where(schema.run.c.id.startswith(ref, autoescape=True)).order_by(schema.run.c.id)
        with self._database.read("look for the run") as connection:
            found = [self._stored(row) for row in connection.execute(query)]
        exact = [run for run in found if run.id == ref]
        if len(exact or found) != 1:
            several = ", ".join(run.id for run in found[:5])
            raise StoreError(f"several runs start with {ref!r}: {several}" if found else self._unknown(ref))
        return (exact or found)[0]

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
        run, status, started, ended, experiment, manifest, notes, facts, writer, written = row
        if status == "running" and is_gone(writer, written, time.time()):
            status = "interrupted"
        return StoredRun(run, status, started, ended, experiment, manifest, notes, facts, self._database)


def _free_id(connection: Connection, started: float) -> str:
    """Sortable, typable: the minute in UTC and four random characters."""
    minute = datetime.fromtimestamp(started, UTC).strftime("%Y%m%d-%H%M")
    while True:
        run = f"{minute}-{''.join(secrets.choice(_ALPHABET) for _ in range(4))}"
        if not connection.scalar(select(exists().where(schema.run.c.id == run))):
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
