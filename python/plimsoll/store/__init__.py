"""Runs that are kept: the only reader and writer of the database.

`Store.open` → `Store.start_run` → `RunWriter.commit` once a second → `RunWriter.finish`; `Store.run` → `StoredRun`.
"""

from plimsoll.store.reader import StoredRun
from plimsoll.store.store import Store
from plimsoll.store.writer import RunWriter

__all__ = ["RunWriter", "Store", "StoredRun"]
