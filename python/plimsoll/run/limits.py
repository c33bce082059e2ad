"""Limits of a run, and those of this machine that it would run into."""

from __future__ import annotations

import os
import resource

from plimsoll.errors import LimitError

MAX_BODY = 1 << 30
"""Bytes: the largest body of a response, as received. This and the limits below are defaults of options."""
MAX_DECODED_BODY = 64 << 20
"""Bytes: the largest body after decoding. A few KB of gzip may decode to gigabytes."""
MAX_BODY_MEMORY = 1 << 30
"""Bytes of all bodies that the users of one worker hold at the same time."""
MAX_NAMES = 2_000
"""Endpoints that are counted apart."""
MANY = 1 << 20
SPARE = 128
"""Files that a worker opens besides one connection per user."""


def usable_cpus() -> int:
    """How many this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def users_per_process(users: int, processes: int) -> int:
    """The most that one worker hosts."""
    return -(-users // processes)


def share(total: int, index: int, of: int) -> int:
    """What worker `index` of `of` gets of `total`; the shares add up to it. One from `of` on gets nothing."""
    return 0 if index >= of else total // of + (index < total % of)


def share_of(total: int | None, index: int, of: int) -> int | None:
    """The same of a total that may not be there."""
    return None if total is None else share(total, index, of)


def open_files(processes: int) -> int:
    """Users that each of so many processes could have at most: the hard limit of open files, as far as it is one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return processes * (MANY if hard == resource.RLIM_INFINITY else max(1, hard - SPARE))


def raise_open_files() -> None:
    """Allow this process all the open files that it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def ensure_open_files(users: int, processes: int) -> None:
    """Allow this process and its children the files that so many users need, if that may be done.

    Raises LimitError when it may not.
    """
    needed = users_per_process(users, processes) + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    try:
        if hard == resource.RLIM_INFINITY or hard >= needed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        else:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, needed))  # root may
    except (ValueError, OSError) as error:
        raise LimitError(_too_many(users, processes, hard)) from error


def _too_many(users: int, processes: int, hard: int) -> str:
    """What to do about more users than the hard limit of open files allows."""
    each, cpus = max(0, hard - SPARE), usable_cpus()
    if not each:
        return (
            f"{hard:,} open files are the limit of each process, and a worker needs {SPARE} for itself and one per "
            "user; raise `ulimit -n` (LimitNOFILE= of a systemd unit)"
        )
    enough = -(-users // each) if each else 0
    if processes < enough <= cpus:
        return f"{users:,} users need --processes {enough}: {hard:,} open files are the limit of each process"
    which = f"{processes} worker{'s' * (processes > 1)} can have about {_rounded(each * processes):,} users"
    if cpus > processes:
        which += f", and {cpus} workers, one for each CPU, about {_rounded(each * cpus):,}"
    return (
        f"{hard:,} open files are the limit of each process: {which}; raise `ulimit -n` (LimitNOFILE= of a systemd "
        "unit) or use fewer users"
    )


def _rounded(users: int) -> int:
    """Down, to two digits."""
    digits = str(users)
    return int(digits[:2].ljust(len(digits), "0"))
