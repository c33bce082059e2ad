"""The exceptions that users' code let out, counted by the frames of their traceback, whatever they say."""

from __future__ import annotations

from plimsoll.record import frames_of

MOST = 1000
"""Different tracebacks kept between two snapshots; the ones past that are counted together."""


class CaughtExceptions:
    """Counts until they are taken."""

    def __init__(self) -> None:
        self.total = 0
        """Of all times."""
        self._rows: dict[str, tuple[str, str, int]] = {}
        """(message, traceback, count) of the first with these frames."""

    def add(self, message: str, traceback: str) -> None:
        self.total += 1
        key = frames_of(traceback)
        if key not in self._rows and len(self._rows) >= MOST:
            key = message = traceback = f"more than {MOST} different exceptions in a second"
        first_message, first_traceback, count = self._rows.get(key, (message, traceback, 0))
        self._rows[key] = first_message, first_traceback, count + 1

    def take(self) -> list[tuple[str, str, int]]:
        """Hand over and forget: (message, traceback, count)."""
        taken = list(self._rows.values())
        self._rows.clear()
        return taken
