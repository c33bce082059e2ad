"""The limits of this machine: a file that no option, variable or configuration file of a user can loosen.

An administrator writes it. It cannot be named anywhere else; who may write there may loosen it.
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import UsageError
from plimsoll.load.guard_rails import NO_RAILS, Cap, GuardRails, HostPatterns

LIMITS_FILE = Path("/etc/plimsoll/limits.toml")


def machine_rails() -> GuardRails:
    """What the file says; nothing if there is none.

    Raises UsageError for a file that cannot be read or understood: then nothing is allowed.
    """
    file = LIMITS_FILE
    try:
        os.lstat(file)
    except FileNotFoundError:
        return NO_RAILS
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}; it limits every run of this machine") from error
    # Only here: pydantic takes a while to import.
    from plimsoll.load.limits_model import read_limits

    table, path = read_limits(file), str(file)

    def cap(value: float | None) -> Cap | None:
        return None if value is None else Cap(float(value), path)

    return GuardRails(
        hosts=(HostPatterns(tuple(table.allow_hosts), path),) if table.allow_hosts else (),
        max_rate=cap(table.max_rate),
        max_users=cap(table.max_users),
        max_run_time=cap(table.max_run_time),
        identify_file=path if table.require_identify else "",
    )
