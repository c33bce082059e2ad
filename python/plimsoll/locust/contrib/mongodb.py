"""Documents over pymongo."""

from __future__ import annotations

import time
from typing import Any

from plimsoll.locust.contrib.libraries import library
from plimsoll.users.events import events
from plimsoll.users.user import User

_MongoClient: Any = library("pymongo", "pymongo").MongoClient
_PyMongoError: Any = library("pymongo.errors", "pymongo").PyMongoError


class MongoDBClient(_MongoClient):  # type: ignore[misc]
    """pymongo's client with a reported query; its other methods are unchanged and not reported."""

    def __init__(self, conn_string: str, db_name: str) -> None:
        super().__init__(conn_string)
        self.db = self[db_name]

    def execute_query(self, collection_name: str, query: Any) -> None:
        """Fetch all documents that match. Reported as MONGODB, QUERY."""
        start, started = time.time(), time.perf_counter()
        error: Exception | None = None
        try:
            # The cursor sends nothing until it is read.
            list(self.db[collection_name].find(query))
        except _PyMongoError as caught:
            error = caught
        events.request.fire(
            request_type="MONGODB",
            name="QUERY",
            response_time=(time.perf_counter() - started) * 1000,
            response_length=0,
            exception=error,
            start_time=start,
            context={},
        )


class MongoDBUser(User):
    """Has its own client for conn_string and db_name."""

    abstract = True

    conn_string: str
    db_name: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.client = MongoDBClient(conn_string=self.conn_string, db_name=self.db_name)

    def on_stop(self) -> None:
        self.client.close()
