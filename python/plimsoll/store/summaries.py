"""What runs come to in short, kept so that a list of them need not read them whole."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select

from plimsoll.errors import StoreError
from plimsoll.redact import storable_json
from plimsoll.store.checks import DAMAGE, check_row
from plimsoll.store.schema import summary as table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.store.database import Database
    from plimsoll.store.reader import StoredRun


class Summaries:
    """Of a store. What a summary says is its maker's business: the store computes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(
        self, runs: Sequence[StoredRun], make: Callable[[StoredRun], dict[str, Any]], rules: str
    ) -> dict[str, dict[str, Any]]:
        """By the id of the run. Those of runs that are over are made once and kept; one that goes on has none, and
        neither has one that cannot be read.

        make: JSON of a run. rules: a version of what `make` does; what was made by others is made again. Raises
        StoreError when the store as a whole cannot be read.
        """
        over = {run.id: run for run in runs if run.status != "running"}
        found = self._kept(over, rules)
        for key, run in over.items():
            if key not in found:
                with contextlib.suppress(StoreError, *DAMAGE):
                    found[key] = storable_json(make(run))
                    self._keep(run, found[key], rules)
        return found

    def _kept(self, runs: dict[str, StoredRun], rules: str) -> dict[str, dict[str, Any]]:
        column = table.c
        columns = column.run, column.written, column.figures
        query = select(*columns).where(column.run.in_(list(runs)), column.rules == rules)
        with self._database.read("read its summaries") as connection:
            rows = connection.execute(query).all()
            for row in rows:
                check_row(columns, row)
        # A run that was taken for interrupted may have been written to since.
        return {run: figures for run, written, figures in rows if written == runs[run].written}

    def _keep(self, run: StoredRun, figures: dict[str, Any], rules: str) -> None:
        row = {"run": run.id, "rules": rules, "written": run.written, "figures": figures}
        with self._database.write("keep a summary") as connection:
            connection.execute(delete(table).where(table.c.run == run.id))
            connection.execute(insert(table), row)
