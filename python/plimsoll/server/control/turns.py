"""A lock for one who must not wait, and many who may."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class PriorityLock:
    """A lock with priority: the thread in `first` waits for at most one of the others, for any number of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue = threading.Lock()
        """A queue of the other threads: only one of them at a time waits for the lock."""
        self._is_free = threading.Event()
        self._is_free.set()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Hold the lock with priority; for one thread only."""
        self._is_free.clear()
        with self._lock:
            self._is_free.set()
            yield

    @contextmanager
    def other(self) -> Iterator[None]:
        with self._queue:
            self._is_free.wait()
            with self._lock:
                yield
