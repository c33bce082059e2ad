"""The limits of this machine: a file that no option, variable or configuration file of a user can loosen.

An administrator writes it. Its path is fixed; whoever can write the file can loosen the limits.
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import UsageError
from plimsoll.load.guard_rails import NO_RAILS, Cap, GuardRails, HostPatterns

LIMITS_FILE = Path("/etc/plimsoll/limits.toml")


def machine_rails() -> GuardRails:
    """The limits in the file; none without a file.

    Raises UsageError for an unreadable or invalid file: then nothing is allowed.
    """
    file = LIMITS_FILE
    try:
        os.lstat(file)
    except FileNotFoundError:
        return NO_RAILS
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}; it limits every run of this machine") from error
    # Imported here because importing pydantic is slow.
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
