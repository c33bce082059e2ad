"""SQL over psycopg."""

from __future__ import annotations

from typing import Any

from plimsoll.locust.contrib.libraries import library
from plimsoll.users.events import events
from plimsoll.users.user import User

psycopg = library("psycopg", "'psycopg[binary]'")


class PostgresClient:
    """One connection. Statements are not committed: closing rolls them back, and after a failed statement all others of
    the connection fail too, as in Locust."""

    def __init__(self, conn_string: str) -> None:
        self.connection = psycopg.connect(conn_string)

    def execute_query(self, query: Any) -> None:
        """Reported as postgres_success or postgres_failure, always with the name execute_query."""
        with events.request.measure("postgres_success", "execute_query") as meta:
            try:
                self.connection.execute(query)
            except Exception:
                meta["request_type"] = "postgres_failure"
                raise

    def close(self) -> None:
        self.connection.close()


class PostgresUser(User):
    """Connects to conn_string when it is created, and disconnects when it stops."""

    abstract = True

    conn_string: str
    """A connection string of libpq: "postgresql://user:password@host:5432/database" or "host=… dbname=…"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.client = PostgresClient(conn_string=self.conn_string)

    def on_stop(self) -> None:
        self.client.close()
