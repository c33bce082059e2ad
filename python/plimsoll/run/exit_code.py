"""The exit code of a run."""

from __future__ import annotations

THRESHOLD_FAILED = 1
LISTENER_FAILED = 2
UNCLEAN = 3


def exit_code(
    *,
    invalid: bool = False,
    on_invalid: int = 3,
    unclean: bool = False,
    chosen: int | None,
    threshold_failed: bool = False,
    threshold_within_share: bool = False,
    failures: bool,
    on_error: int,
    listener_failed: bool,
) -> int:
    """The first that applies: on_invalid, if the load was not the load asked for; 3 for unclean figures; the code that
    the user's own code chose, also if that is 0; 1 after a threshold that failed; on_invalid after one whose limit is
    within the generator's share; on_error after failures or exceptions, also if that is 0; 2 after an event listener
    that failed.

    unclean: the generator has too large a share in a figure, and the run was to be strict about that.
    """
    if invalid and on_invalid:
        return on_invalid
    if unclean:
        return UNCLEAN
    if chosen is not None:
        return chosen
    if threshold_failed:
        return THRESHOLD_FAILED
    if threshold_within_share and on_invalid:
        return on_invalid
    if failures:
        return on_error
    return LISTENER_FAILED if listener_failed else 0
