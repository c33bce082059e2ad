"""What comes of the names that workers report: no secrets, and over all workers no more than there may be."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from plimsoll.record import OTHERS, STREAM_ROWS, TracedRequest, frames_of
from plimsoll.redact import redact
from plimsoll.say.names import naming_hint
from plimsoll.say.numbers import counted
from plimsoll.stats.names import name_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from plimsoll.run.transport.messages import EncodedSnapshot

logger = logging.getLogger("plimsoll.run")

Key = tuple[str, str]
"""(method, name)"""

MOST_EXCEPTIONS = 1000
"""Different exceptions of a run. Their tracebacks have 20,000 characters at most."""


class NameLimit:
    """Masks secrets, counts names beyond the first so many as `OTHERS`, and says so once. Exceptions beyond the first
    `MOST_EXCEPTIONS` are counted together. Each worker has a table of
    its own, so together they may have more names than one run.

    Names come in the order of the snapshots that they are in. One that was folded stays so, and one that has a row of
    its own keeps it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._names: dict[Key, None] = {}
        self._own: set[str] = set()
        """Names that have rows of their own."""
        self._warned = False
        self._exceptions: set[str] = set()
        """Those that have rows of their own, by the hash of their frames."""

    def fold(self, snapshot: EncodedSnapshot) -> EncodedSnapshot:
        """The same with as many names as there may be, and without secrets in names and messages."""
        snapshot = _without_secrets(snapshot)
        if snapshot.exceptions:
            snapshot = replace(snapshot, exceptions=[self._folded_exception(*each) for each in snapshot.exceptions])
        seen = dict.fromkeys(
            [(cell[1], cell[2]) for cell in snapshot.intervals] + [(row[0], row[1]) for row in snapshot.failures]
        )
        has_others = seen.pop(OTHERS, 0) is None
        # Rows of streams belong to a name: they need no place of their own, and there are none without it.
        new = [key for key in seen if key not in self._names and key[0] not in STREAM_ROWS]
        room = self._most - len(self._names)
        self._names.update(dict.fromkeys(new[:room]))
        self._own.update(name for _, name in new[:room])
        folded = set(new[room:])
        is_full = len(self._names) >= self._most
        strays = {key for key in seen if is_full and key[0] in STREAM_ROWS and key[1] not in self._own}
        if (has_others or folded) and not self._warned:
            self._warned = True
            self._warn()
        if not (folded or strays):
            return snapshot
        return replace(
            snapshot,
            intervals=[_folded(cell, 1, folded) for cell in snapshot.intervals if (cell[1], cell[2]) not in strays],
            failures=[_folded(row, 0, folded) for row in snapshot.failures if (row[0], row[1]) not in strays],
            parts=[_folded(row, 0, folded) for row in snapshot.parts],
            traced=[TracedRequest(*_folded(row, 0, folded)) for row in snapshot.traced],
        )

    def _folded_exception(self, message: str, traceback: str, count: int) -> tuple[str, str, int]:
        key = hashlib.sha256(frames_of(traceback).encode()).hexdigest()
        if key not in self._exceptions:
            if len(self._exceptions) >= MOST_EXCEPTIONS:
                message = traceback = f"more than {MOST_EXCEPTIONS} different exceptions in this run"
            else:
                self._exceptions.add(key)
        return message, traceback, count

    def _warn(self) -> None:
        logger.warning(
            'this run has more than %s: requests of further ones are counted as "%s". %s',
            counted(self._most, "name"),
            OTHERS[1],
            naming_hint(name_pattern(dict.fromkeys(name for _, name in self._names))),
        )


_plain = lru_cache(maxsize=1 << 14)(redact)
"""The same names come each second."""


def _without_secrets(snapshot: EncodedSnapshot) -> EncodedSnapshot:
    """Before anything is added up, since several names may be one without their secrets."""
    return replace(
        snapshot,
        intervals=[(cell[0], cell[1], _plain(cell[2]), *cell[3:]) for cell in snapshot.intervals],
        failures=[
            (row[0], _plain(row[1]), row[2], redact(row[3]), redact(row[4]), *row[5:]) for row in snapshot.failures
        ],
        exceptions=[(redact(text), redact(trace), count) for text, trace, count in snapshot.exceptions],
        parts=[(row[0], _plain(row[1]), *row[2:]) for row in snapshot.parts],
        traced=[TracedRequest(row[0], _plain(row[1]), *row[2:]) for row in snapshot.traced],
    )


def _folded(row: Sequence[Any], place: int, folded: set[Key]) -> Any:
    """place: of the method; the name follows."""
    if (row[place], row[place + 1]) not in folded:
        return row
    return (*row[:place], *OTHERS, *row[place + 2 :])
