"""Limits of this machine that a run would run into."""

from __future__ import annotations

import resource

from plimsoll.errors import LimitError

MANY = 1 << 20
SPARE = 128
"""Files that a worker opens besides one connection per user."""


def users_per_process(users: int, processes: int) -> int:
    """The most that one worker hosts."""
    return -(-users // processes)


def share(total: int, index: int, of: int) -> int:
    """What worker `index` of `of` gets of `total`; the shares add up to it."""
    return total // of + (index < total % of)


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
    per_process = users_per_process(users, processes)
    needed = per_process + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    try:
        if hard == resource.RLIM_INFINITY or hard >= needed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        else:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, needed))  # root may
    except (ValueError, OSError) as error:
        enough = -(-users // max(1, hard - SPARE))
        advice = f"use --processes {enough}, " if hard > SPARE and enough > processes else ""
        raise LimitError(
            f"{per_process} users in one process need {needed} open files, and the limit is {hard}: {advice}fewer "
            "users, or raise the limit (`ulimit -Hn`, /etc/security/limits.conf, LimitNOFILE= of a systemd unit)"
        ) from error
