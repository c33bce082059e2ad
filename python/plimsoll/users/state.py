"""The state of a user: what its tasks and its requests tell each other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from plimsoll._engine import now

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

RUNNING = "running"
"""In on_start, a task or on_stop."""

WAITING = "waiting"
"""In wait(), as between two tasks: it may be stopped at once."""

STOPPING = "stopping"
"""Asked to stop after the running task."""


class ReplyWaits:
    """The times in which a user waits for the target, while something else waits for this user."""

    __slots__ = ("_open", "_since", "spans")

    def __init__(self, until: int = 0) -> None:
        """until: the stamp before which all time counts, ns."""
        self.spans: list[tuple[int, int]] = [(0, until)] if until else []
        """From and to, ns; ascending, without overlaps."""
        self._open = 0
        """Requests under way: greenlets of one user may wait at the same time."""
        self._since = 0

    def begin(self, at: int) -> None:
        if not self._open:
            self._since = at
        self._open += 1

    def end(self, at: int) -> None:
        self._open -= 1
        if not self._open and at > self._since:
            self.spans.append((self._since, at))

    def within(self, start: int, stop: int) -> int:
        """How much of this time they were, ns."""
        spans = [*self.spans, (self._since, stop)] if self._open else self.spans
        return sum(max(0, min(end, stop) - max(begin, start)) for begin, end in spans)


class Pacer:
    """When the next request is due, and the state of the user. A user is one; so is what a session without a user has.

    In slots, because each request reads and writes them: with thousands of users, a look into the dict of one is
    several cache misses (docs/performance.md).
    """

    __slots__ = ("_due", "_free", "_late", "_state", "_waits", "_yielded")

    _due: int
    """Intended end of the last wait, ns of the monotonic clock; 0 once a request has been sent since."""
    _late: int | None
    """Nanoseconds by which the user woke up after that; reset to 0 with `_due`. None in the open model: `_due` is then
    the arrival's time, and the request is due exactly then."""
    _free: int
    """When the user would have been free for that arrival without lateness of our own, if the arrival had waited for
    replies of the target to users: ns, else 0."""
    _waits: ReplyWaits | None
    """Set while an arrival of the open model waits for this user to start; else None."""
    _yielded: bool
    """An exchange has let other users run since the last wait."""
    _state: str | None
    """None before the start, then one of the above."""

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        # Not in __init__: a class of users may have its own, without calling ours.
        self = super().__new__(cls)
        self._due = self._late = self._free = 0
        self._yielded = False
        self._state = None
        self._waits = None
        return self


def noted(pacer: Pacer, wait: Callable[[], T]) -> Callable[[], T]:
    """The same wait for something of the target; it is noted if an arrival waits for this user to start."""
    waits = pacer._waits
    return wait if waits is None else partial(_noted, waits, wait)


def _noted(waits: ReplyWaits, wait: Callable[[], T]) -> T:
    waits.begin(now())
    try:
        return wait()
    finally:
        waits.end(now())
