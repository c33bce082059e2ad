"""The exceptions that users' code let out, counted by the frames of their traceback, whatever they say."""

from __future__ import annotations

from plimsoll.record import frames_of

MOST = 1000
"""Different tracebacks kept between two snapshots; the ones past that are counted together."""
LONGEST_MESSAGE = 2_000
"""Characters of a message, and of what stands below the frames of a traceback, as of a failure."""
LONGEST_TRACEBACK = 20_000
"""Characters of the frames of a traceback; of a longer one the outermost and the innermost frames are kept."""


class CaughtExceptions:
    """Counts until they are taken."""

    def __init__(self) -> None:
        self.total = 0
        """Of all times."""
        self._rows: dict[str, tuple[str, str, int]] = {}
        """(message, traceback, count) of the first with these frames."""

    def add(self, message: str, traceback: str) -> None:
        self.total += 1
        frames = frames_of(traceback)
        key = _shortened(frames)
        message, traceback = message[:LONGEST_MESSAGE], key + traceback[len(frames) :][:LONGEST_MESSAGE]
        if key not in self._rows and len(self._rows) >= MOST:
            key = message = traceback = f"more than {MOST} different exceptions in a second"
        first_message, first_traceback, count = self._rows.get(key, (message, traceback, 0))
        self._rows[key] = first_message, first_traceback, count + 1

    def take(self) -> list[tuple[str, str, int]]:
        """Hand over and forget: (message, traceback, count)."""
        taken = list(self._rows.values())
        self._rows.clear()
        return taken


def _shortened(frames: str) -> str:
    """Whole lines of both ends, and in between how much is left out; indented as frames are."""
    if len(frames) <= LONGEST_TRACEBACK:
        return frames
    half = LONGEST_TRACEBACK // 2
    outer = frames[: frames.rfind("\n", 0, half) + 1]
    inner = frames[-half:].partition("\n")[2]
    left_out = len(frames) - len(outer) - len(inner)
    return f"{outer}  ({left_out} characters of this traceback are left out)\n{inner}"
