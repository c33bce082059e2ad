"""Every exchange of a run in a Parquet file: `--log-exchanges`.

Workers hand their rows over as the engine packed them (crates/record/src/log.rs has the layout); they become
columns here, in the coordinator, in a thread of their own, so that neither the load nor the run waits for a disk.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll._engine import outcomes
from plimsoll.errors import UsageError
from plimsoll.report.render.interval_rows import import_parquet
from plimsoll.store.redact import redact

if TYPE_CHECKING:
    from typing import Self

    from plimsoll.run.transport.messages import Exchanges

logger = logging.getLogger("plimsoll.run")

STAMPS = ("due", "sent", "first_byte", "arrival", "read")
TIMES = ("dns", "connect", "tls")
BYTES = ("bytes_out", "bytes_in", "bytes_body")

ROW = np.dtype(
    [
        *((name, "<u8") for name in (*STAMPS, *TIMES, *BYTES)),
        ("endpoint", "<u4"),
        *((name, "<u2") for name in ("status", "hops", "retries")),
        ("outcome", "u1"),
        ("source", "u1"),
        ("serial", "<u8"),
        ("reserved", "V4"),
    ]
)
"""One exchange as a worker hands it over: 112 bytes."""

GROUP = 200_000
"""Rows of a row group, about."""
WAITING = 512 << 20
"""Bytes of rows that may wait for the disk."""

SOURCES = ("kernel", "user", "rejected")
OUTCOMES = tuple(name for name, _, _ in outcomes())


class ExchangeFile:
    """A file that exchanges are added to while a run goes on; a context manager.

    Stamps become ns since second 0 of the run, other times ns; `first_byte` is null without a response.
    """

    def __init__(self, path: str) -> None:
        """Raises UsageError when the file cannot be written, or pyarrow is not there."""
        self._arrow, parquet = import_parquet()
        self._schema = self._make_schema()
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {os.strerror(error.errno) if error.errno else error}") from error
        self._queue: SimpleQueue[tuple[int, Exchanges] | None] = SimpleQueue()
        self._lock = Lock()
        self._waiting = 0
        """Bytes of rows in the queue."""
        self._failed = False
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
        self._queue.put(None)
        self._thread.join()
        try:
            self._writer.close()
        except OSError as failure:
            self._say(failure)

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
        rows = np.frombuffer(exchanges.rows, ROW)
        zero = exchanges.epoch + exchanges.rows_ahead
        methods, names = ([redact(each[place]) for each in exchanges.endpoints] for place in (0, 1))
        columns = {
            "worker": arrow.array(np.full(len(rows), worker, np.int32)),
            "serial": arrow.array(rows["serial"]),
            "method": self._words(rows["endpoint"], methods),
            "name": self._words(rows["endpoint"], names),
            "outcome": self._words(rows["outcome"], OUTCOMES),
            "stamp": self._words(rows["source"], SOURCES),
            **{name: arrow.array(rows[name]) for name in ("status", "hops", "retries", *TIMES, *BYTES)},
        }
        for name in STAMPS:
            absent = rows[name] == 0 if name == "first_byte" else None
            columns[name] = arrow.array(rows[name].astype(np.int64) - zero, mask=absent)
        cast = [columns[field.name].cast(field.type) for field in self._schema]
        return arrow.Table.from_arrays(cast, schema=self._schema)

    def _words(self, places: Any, words: Any) -> Any:
        arrow = self._arrow
        return arrow.DictionaryArray.from_arrays(places.astype(np.int32), arrow.array(list(words), arrow.string()))
