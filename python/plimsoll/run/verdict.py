"""The exit code of a run."""

from __future__ import annotations

INVALID = 3
LISTENER_FAILED = 2


def exit_code(*, lost_workers: bool, chosen: int | None, failures: bool, on_error: int, listener_failed: bool) -> int:
    """The first that applies: a worker was lost, so the numbers are not those of the plan (3); the code that the
    user's own code chose; on_error after failures or exceptions; an event listener failed (2); 0.
    """
    if lost_workers:
        return INVALID
    if chosen is not None:
        return chosen
    if failures:
        return on_error
    return LISTENER_FAILED if listener_failed else 0
