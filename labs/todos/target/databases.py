"""Database operations for the lab, besides the service's own queries: schema, seed, lag, plans, rows.

All functions take engines and block. None is called during a measurement.
"""

import time

from sqlalchemy import Connection, Select, create_engine, func, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.pool import NullPool

from .models import FIRST_ID, Todo, create_schema, newest_first
from .settings import Settings

REPLAY_SECONDS = 30.0
SEED_TODO = {"title": "Buy milk", "description": "Two litres, before the shop closes at six today"}
"""The same todo as in the locustfile, so that the size of a list shows the number of todos."""

INSERT = text("""
    INSERT INTO todos (title, description, created_at)
    SELECT :title, :description,
           date_trunc('second', now()) - (:of - n) * interval '1 second' - interval '123 ms 456 us'
    FROM generate_series(1, :of) AS n
""")
"""One todo per second up to now. With microseconds, like those of clients: without them the text would be shorter."""

DELETE = text(f"DELETE FROM todos WHERE (id - {FIRST_ID}) * :rows / :of = (id - {FIRST_ID} + 1) * :rows / :of")
"""Leaves `rows` of `of`, evenly spread."""


class Databases:
    """The primary and the replica, with the lab's own connections, so that the service's pools stay free."""

    def __init__(self, settings: Settings) -> None:
        self.variant = settings.variant
        self.primary = create_engine(settings.primary_url, poolclass=NullPool)
        self.replica = create_engine(settings.replica_url, poolclass=NullPool) if settings.replica_url else None

    def prepare(self) -> None:
        """Make the schema, and wait until the replica has it. Raises TimeoutError."""
        create_schema(self.primary, self.variant)
        self.wait_for_replica()

    def rows(self) -> int:
        """How many todos there are."""
        with self.primary.connect() as connection:
            return connection.scalar(select(func.count()).select_from(Todo)) or 0

    def plan(self) -> str:
        """How PostgreSQL executes the list's query, where this variant sends it: EXPLAIN (ANALYZE, BUFFERS) as text."""
        with (self.replica or self.primary).connect() as connection:
            return "\n".join(connection.scalars(text(f"EXPLAIN (ANALYZE, BUFFERS) {sql(newest_first(self.variant))}")))

    def lag_ms(self) -> float | None:
        """How late the replica applied what the primary wrote last, as the primary heard it; 0 once it has nothing left
        to apply. None without a replica."""
        if self.replica is None:
            return None
        with self.primary.connect() as connection:
            query = "SELECT extract(epoch FROM max(replay_lag)) * 1000 FROM pg_stat_replication"
            return float(connection.scalar(text(query)) or 0)

    def seed(self, rows: int, of: int) -> None:
        """Fill the table with `of` todos, delete all but `rows` of them, spread evenly, and vacuum.

        With rows = of it is compact. With fewer it is as after months of use: its pages are mostly free space, which
        a sequential scan reads all the same and new rows fill in no order. Raises TimeoutError."""
        with self.primary.connect() as connection:
            autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
            fill(autocommit, rows, of)
        self.wait_for_replica()

    def wait_for_replica(self) -> None:
        """Until the replica has applied all that the primary has written so far. Raises TimeoutError."""
        if self.replica is None:
            return
        with self.primary.connect() as connection:
            written = connection.scalar(text("SELECT pg_current_wal_lsn()::text"))
        applied = text("SELECT pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn)")
        deadline = time.monotonic() + REPLAY_SECONDS
        while time.monotonic() < deadline:
            with self.replica.connect() as connection:
                if connection.scalar(applied, {"written": written}):
                    return
            time.sleep(0.02)
        raise TimeoutError(f"the replica has not applied {written} within {REPLAY_SECONDS:.0f} s")


def fill(connection: Connection, rows: int, of: int) -> None:
    """As Databases.seed. connection: must commit each statement, for VACUUM."""
    connection.execute(text("TRUNCATE todos RESTART IDENTITY"))
    connection.execute(INSERT, SEED_TODO | {"of": of})
    if rows < of:
        connection.execute(DELETE, {"rows": rows, "of": of})
    connection.execute(text("VACUUM (ANALYZE) todos"))


def sql(query: Select[Todo]) -> str:
    """The text of a query, with its values."""
    return str(query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}))
