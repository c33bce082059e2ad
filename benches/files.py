"""Open files, of which every connection is one, at either end."""

import resource

SPARE = 128
"""Files that a process needs besides its connections."""


def processes_for(connections: int) -> int:
    """Over how many processes so many connections must be spread, with the limit raised as far as that is allowed."""
    return -(-connections // (allowed_files(connections + SPARE) - SPARE))


def allowed_files(wanted: int) -> int:
    """How many files, up to `wanted`, this process and what it starts may open; raises the limits to that.

    Beyond the hard limit only a process with CAP_SYS_RESOURCE gets."""
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
