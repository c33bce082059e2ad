"""Open files: each connection needs one at both ends."""

import resource

SPARE = 128
"""Files of a process besides its connections."""


def processes_for(connections: int) -> int:
    """Number of processes needed for this many connections, after raising the limit as far as allowed."""
    return -(-connections // (allowed_files(connections + SPARE) - SPARE))


def allowed_files(wanted: int) -> int:
    """Number of files, up to `wanted`, that this process and its children may open. Raises the limits to that.

    Only a process with CAP_SYS_RESOURCE can exceed the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    for limit in (wanted, hard):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, limit), max(hard, limit)))
        except (ValueError, OSError):
            continue
        return min(wanted, limit)
    return soft
