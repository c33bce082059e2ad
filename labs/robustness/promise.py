"""The guarantees of a run under a disturbance."""

from dataclasses import dataclass

LEASE_S = 3.0
"""How long workers continue without their coordinator."""
REPORT_S = 2.5
"""Maximum data loss when a process is killed: one second of the run, plus the part of the next one that was not
stored."""


@dataclass(frozen=True)
class Promise:
    """The defaults are those of a run without a disturbance."""

    ends_with: str = "run time"
    """The load ends at most one second after the "run time", or after the "moment" of the disturbance."""
    load_ends_after: float = 0.0
    """Additional time that is allowed, s."""
    loses: tuple[float, float] = (0.0, 0.0)
    """Requests may be missing in the record if they arrived this long before or after the moment, s."""
    may_fail_unsent: bool = False
    """Failed requests may not have reached the target."""
    has_report: bool = True
    """The process survives and reports."""
    exit_codes: frozenset[int] = frozenset({1})
    """Some requests fail on purpose, so a good run ends with 1."""
    is_invalid: bool = False
    """The report and the store say that the run is invalid, and why."""
    has_store: bool = True
    """The store is intact and has the run."""
