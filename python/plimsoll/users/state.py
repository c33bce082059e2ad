"""The state of a user: what its tasks and its requests tell each other."""

from __future__ import annotations

from typing import Any, Self

RUNNING = "running"
"""In on_start, a task or on_stop."""

WAITING = "waiting"
"""In wait(), as between two tasks: it may be stopped at once."""

STOPPING = "stopping"
"""Asked to stop after the running task."""


class Pacer:
    """When the next request is due, and the state of the user. A user is one; so is what a session without a user has.

    In slots, because each request reads and writes them: with thousands of users, a look into the dict of one is
    several cache misses (docs/decisions/0089-what-ten-thousand-users-touch.md).
    """

    __slots__ = ("_due", "_free", "_late", "_state", "_yielded")

    _due: int
    """Intended end of the last wait, ns of the monotonic clock; 0 once a request has been sent since."""
    _late: int | None
    """Nanoseconds by which the user woke up after that; reset to 0 with `_due`. None in the open model: `_due` is then
    the arrival's time, and the request is due exactly then."""
    _free: int
    """When the user became free for that arrival, if it had waited for one of max_users: ns, else 0."""
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
        return self
