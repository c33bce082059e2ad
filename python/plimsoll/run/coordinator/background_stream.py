"""A text stream that never makes its writer wait: a terminal or a pipe that takes nothing must not hold up the run."""

from __future__ import annotations

import io
from collections import deque
from threading import Condition, Thread
from typing import TextIO, cast

MOST_CHARACTERS = 1 << 20
"""That may wait; what comes beyond is left out."""
LAST_WRITE_S = 1.0
"""Seconds that the other side gets at the end to take what waits."""


class BackgroundStream(io.TextIOBase):
    """Writes to a stream from a thread of its own. A context manager: what still waits on leaving goes on being written
    while the process lives."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._texts: deque[str] = deque()
        self._waiting = 0
        """Characters."""
        self._is_over = False
        self._changed = Condition()
        self._thread = Thread(target=self._work, name="output", daemon=True)
        self._thread.start()

    def __enter__(self) -> TextIO:  # type: ignore[override]
        return cast("TextIO", self)

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join(LAST_WRITE_S)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._changed:
            if self._waiting + len(text) <= MOST_CHARACTERS:
                self._texts.append(text)
                self._waiting += len(text)
                self._changed.notify()
        return len(text)

    def flush(self) -> None:
        """The thread flushes after each text."""

    def _work(self) -> None:
        while (text := self._next()) is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):  # nobody reads any more, or it is closed
                pass

    def _next(self) -> str | None:
        with self._changed:
            while not self._texts:
                if self._is_over:
                    return None
                self._changed.wait()
            text = self._texts.popleft()
            self._waiting -= len(text)
            return text
