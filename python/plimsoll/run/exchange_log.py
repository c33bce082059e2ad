"""Every exchange of a run in a Parquet file: `--log-exchanges`.

Workers hand their rows over as the engine packed them (crates/record/src/log.rs has the layout); the engine makes
columns of them here, in the coordinator, in a thread of their own, so that neither the load nor the run waits
for a disk.
"""

from __future__ import annotations

import logging
import os
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from plimsoll._engine import exchange_columns
from plimsoll.errors import UsageError
from plimsoll.record import OUTCOMES
from plimsoll.redact import redact
from plimsoll.report.render.interval_rows import import_parquet
from plimsoll.report.writing import check_writable
from plimsoll.run.coordinator.progress import Observer
from plimsoll.store.database import create_for_owner

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from plimsoll.run.transport.messages import Exchanges

logger = logging.getLogger("plimsoll.run")

STAMPS = ("due", "sent", "first_byte", "arrival", "read")
TIMES = ("dns", "connect", "tls")
BYTES = ("bytes_out", "bytes_in", "bytes_body")

GROUP = 200_000
"""Rows of a row group, about."""
WAITING = 64 << 20
"""Bytes of packed rows that may wait for the disk: some four million rows."""

SOURCES = ("kernel", "user", "rejected")


class ExchangeFile(Observer):
    """A file that exchanges are added to while a run goes on; a context manager. An older one stays until it begins.

    Stamps become ns since second 0 of the run, other times ns; `first_byte` is null without a response.
    """

    def __init__(self, path: str) -> None:
        """Raises UsageError when the file cannot be written, or pyarrow is not there."""
        self._arrow, self._parquet = import_parquet()
        self._schema = self._make_schema()
        self._path = path
        check_writable(path)
        self._writer: Any = None
        self._queue: SimpleQueue[tuple[int, Exchanges] | None] = SimpleQueue()
        self._lock = Lock()
        self._waiting = 0
        """Bytes of rows in the queue."""
        self._failed = False
        self._thread: Thread | None = None

    def start(self, started: float, stamp: str) -> None:
        """Raises UsageError when the file cannot be written."""
        try:
            create_for_owner(self._path)
            self._writer = self._open(self._parquet, self._path)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else error
            raise UsageError(f"cannot write {self._path}: {reason}") from error
        self._thread = Thread(target=self._work, name="exchanges", daemon=True)
        self._thread.start()

    def add(self, worker: int, exchanges: Exchanges) -> None:
        """Returns at once. What a slow disk leaves waiting is bounded by `WAITING`; the rest is given up, and said."""
        with self._lock:
            full = self._waiting + len(exchanges.rows) > WAITING
            if not full:
                self._waiting += len(exchanges.rows)
        if full:
            self._say("the disk is too slow for them")
        else:
            self._queue.put((worker, exchanges))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            return
        self._queue.put(None)
        self._thread.join()
        try:
            self._writer.close()
        except OSError as failure:
            self._say(failure)

    def _open(self, parquet: Any, path: str) -> Any:
        """Numbers differ from row to row, most of them by little: to look each up in a dictionary would take four times
        as long."""
        words = [field.name for field in self._schema if self._arrow.types.is_dictionary(field.type)]
        numbers = {name: "DELTA_BINARY_PACKED" for name in self._schema.names if name not in words}
        return parquet.ParquetWriter(
            path, self._schema, compression="zstd", use_dictionary=words, column_encoding=numbers
        )

    def _work(self) -> None:
        pending: list[Any] = []
        while (job := self._queue.get()) is not None:
            worker, exchanges = job
            pending.append(self._table(worker, exchanges))
            with self._lock:
                self._waiting -= len(exchanges.rows)
            if sum(table.num_rows for table in pending) >= GROUP:
                self._write(pending)
        self._write(pending)

    def _write(self, pending: list[Any]) -> None:
        """As one row group; small ones make files large and slow to read."""
        try:
            if pending:
                self._writer.write_table(self._arrow.concat_tables(pending).unify_dictionaries())
        except OSError as error:
            self._say(error)
        pending.clear()

    def _say(self, error: object) -> None:
        if not self._failed:
            logger.error("the file of exchanges is not complete: %s", error)
        self._failed = True

    def _make_schema(self) -> Any:
        arrow = self._arrow
        words = arrow.dictionary(arrow.int32(), arrow.string())
        return arrow.schema(
            [
                ("worker", arrow.int32()),
                ("serial", arrow.uint64()),
                *((name, words) for name in ("method", "name", "outcome", "stamp")),
                *((name, arrow.uint16()) for name in ("status", "hops", "retries")),
                *((name, arrow.int64()) for name in (*STAMPS, *TIMES, *BYTES)),
            ]
        )

    def _table(self, worker: int, exchanges: Exchanges) -> Any:
        arrow = self._arrow
        rows, values = exchange_columns(exchanges.rows, exchanges.epoch + exchanges.rows_ahead)
        methods, names = ([redact(each[place]) for each in exchanges.endpoints] for place in (0, 1))

        def column(name: str, kind: Any, valid: bytes | None = None) -> Any:
            buffers = [None if each is None else arrow.py_buffer(each) for each in (valid, values[name])]
            return arrow.Array.from_buffers(kind, rows, buffers)

        def words(name: str, words: Sequence[str]) -> Any:
            return arrow.DictionaryArray.from_arrays(column(name, arrow.int32()), arrow.array(words, arrow.string()))

        made = {
            "worker": arrow.repeat(arrow.scalar(worker, arrow.int32()), rows),
            "method": words("endpoint", methods),
            "name": words("endpoint", names),
            "outcome": words("outcome", OUTCOMES),
            "stamp": words("stamp", SOURCES),
        }
        for field in self._schema:
            if field.name not in made:
                valid = values["has_first_byte"] if field.name == "first_byte" else None
                made[field.name] = column(field.name, field.type, valid)
        return arrow.Table.from_arrays([made[field.name] for field in self._schema], schema=self._schema)
