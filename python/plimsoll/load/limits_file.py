"""The limits of this machine: a file that no option, variable or configuration file of a user can loosen.

An administrator writes it. It cannot be named anywhere else; who may write there may loosen it.
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import UsageError
from plimsoll.load.guard_rails import NO_RAILS, GuardRails

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

    return read_limits(file)
