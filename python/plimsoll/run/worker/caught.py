"""The exceptions that users' code let out, counted by traceback."""

from __future__ import annotations

MOST = 1000
"""Different tracebacks kept between two snapshots; the ones past that are counted together."""


class CaughtExceptions:
    """Counts until they are taken."""

    def __init__(self) -> None:
        self.total = 0
        """Of all times."""
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, message: str, traceback: str) -> None:
        self.total += 1
        key = message, traceback
        if key not in self._counts and len(self._counts) >= MOST:
            key = f"more than {MOST} different exceptions in a second", ""
        self._counts[key] = self._counts.get(key, 0) + 1

    def take(self) -> list[tuple[str, str, int]]:
        """Hand over and forget: (message, traceback, count)."""
        taken = [(message, trace, count) for (message, trace), count in self._counts.items()]
        self._counts.clear()
        return taken
