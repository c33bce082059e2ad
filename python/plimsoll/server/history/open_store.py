"""The store that the page shows: opened on first use, and again when its file was replaced."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from plimsoll.errors import RefError
from plimsoll.store import Store
from plimsoll.store.database import absolute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Identity = tuple[int, int]
MOST_WAITING = 8
"""Requests for a report that wait for their turn."""


class OpenStore:
    """Thread-safe. location: as for `Store.open`."""

    def __init__(self, location: str | None) -> None:
        self._location = absolute(location)
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._identity: Identity | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Within the block a report may be made: one at a time, as that of an hour takes some 100 MB, and two in
        parallel are no faster. Who waits holds no thread. Raises HTTPException when too many wait."""
        if self._waiting >= MOST_WAITING:
            raise HTTPException(503, f"{MOST_WAITING} reports are asked for already: try again later")
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turn.release()

    def get(self) -> Store:
        """Raises StoreError; RefError if there is no store yet."""
        with self._lock:
            identity = self._look()
            if self._store is not None and identity != self._identity:
                # The file was replaced or deleted; open reads of the old one may finish.
                self._store.close()
                self._store = None
            if self._store is None:
                self._store = Store.open(self._location, create=False)
                self._identity = self._look()
            return self._store

    def get_if_there(self) -> Store | None:
        """None if there is no store yet: the first run creates it."""
        try:
            return self.get()
        except RefError:
            return None

    def close(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _look(self) -> Identity | None:
        """The identity of the file; None if it is not a file."""
        if "://" in self._location:
            return None
        try:
            found = Path(self._location).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
