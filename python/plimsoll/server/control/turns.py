"""A lock for one who must not wait, and many who may."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class PriorityLock:
    """Whoever is `first` waits for one of the others at most, however many there are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue = threading.Lock()
        """Of the others, of whom one at a time may want the lock."""
        self._is_free = threading.Event()
        self._is_free.set()

    @contextmanager
    def first(self) -> Iterator[None]:
        """For one thread."""
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
