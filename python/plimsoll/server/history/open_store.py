"""The store that the page shows: opened on first use, and again when its file was replaced."""

from __future__ import annotations

import threading
from pathlib import Path

from plimsoll.errors import RefError
from plimsoll.store import Store
from plimsoll.store.database import absolute

Identity = tuple[int, int]


class OpenStore:
    """Thread-safe. location: as for `Store.open`."""

    def __init__(self, location: str | None) -> None:
        self._location = absolute(location)
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._identity: Identity | None = None

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
