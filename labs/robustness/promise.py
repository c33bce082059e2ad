"""What a run promises under a disturbance."""

from dataclasses import dataclass

LEASE_S = 3.0
"""How long workers go on without their coordinator."""
REPORT_S = 2.5
"""The most that a process which is killed takes along: a second of the run, and what of the next it had not stored."""


@dataclass(frozen=True)
class Promise:
    """The defaults are those of a run that nothing happens to."""

    ends_with: str = "run time"
    """The load ends a second after the "run time", or after the "moment" of the disturbance."""
    load_ends_after: float = 0.0
    """s that it may take longer."""
    loses: tuple[float, float] = (0.0, 0.0)
    """Requests may be missing from the record that arrived so many s before the moment, to so many after it."""
    may_fail_unsent: bool = False
    """Failed requests may not have reached the target."""
    has_report: bool = True
    """The process lives to report."""
    exit_codes: frozenset[int] = frozenset({1})
    """Some requests fail by design, so a good run ends with 1."""
    has_store: bool = True
    """The store is whole, and has the run."""
