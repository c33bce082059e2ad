"""What a user keeps from its last wait, or its arrival, until its next request.

Locustfiles own the public names of their users, so the package keeps these values under private ones. Tests read and
set them here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from plimsoll.users.user import IterationSource


class Pacing(NamedTuple):
    """All are of the monotonic clock, ns."""

    due: int
    """When the last wait was meant to end, or the arrival was due. 0: a request has been sent since."""
    late: int | None
    """By how much the user woke up later. None: an arrival of the open model."""
    free: int
    """When the user was free for an arrival that had waited for it, else 0."""


def pacing_of(user: Any) -> Pacing:
    return Pacing(user._due, user._late, user._free)


def due_of(user: Any) -> int:
    return pacing_of(user).due


def begin_arrival(user: Any, due: int) -> None:
    """As the open model does: the next request is due then."""
    user._due, user._late = due, None


def end_wait(user: Any, due: int, late: int = 0) -> None:
    """As the closed model does: the next request is due after a wait that ended late by so much."""
    user._due, user._late = due, late


def begin_request(user: Any) -> None:
    """As a session does: what the user does next is not due because of a wait."""
    user._due = user._late = 0


def free_user(user: Any, at: int) -> None:
    """As a pool of max_users does for an arrival that had to wait."""
    user._free = at


def has_yielded(user: Any) -> bool:
    """Whether an exchange has let other users run since the last wait."""
    return bool(user._yielded)


def end_exchange(user: Any, *, yielded: bool = True) -> None:
    """As a session does once it has an answer."""
    user._yielded = yielded


def set_iterations(user: Any, source: IterationSource) -> None:
    """The source gives out the iterations of the user."""
    user._slot = source


def state_of(user: Any) -> str | None:
    """None before the start, then running, waiting or stopping."""
    state: str | None = user._state
    return state
