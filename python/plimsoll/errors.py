"""Everything that Plimsoll raises for its user to see.

    PlimsollError                 exit code 2 unless it says otherwise; message says what to do
     ├─ UsageError                a flag, an argument or an environment variable
     │   ├─ UnknownOptionError    an option that nobody knows
     │   ├─ NoBaselineError       there is no run yet to compare with
     │   ├─ FieldError            one field of a form
     │   ├─ SeveralFieldsError           several of them
     │   └─ NotNowError           it could be done at another time
     ├─ LocustfileError           the locustfile is missing, broken or empty; shows the user's own line
     ├─ StoreError                the store cannot be opened, read or written
     │   ├─ RefError              what was asked for is not in it, or is several things
     │   └─ ReadOnlyError         it can be read, and not written
     ├─ LimitError                this machine's limits are too low for what was asked
     └─ RunError                  a run that a program asked for could not be made

Faults of the network are outcomes of exchanges, never exceptions of this tree. What existing locustfiles catch
(`CatchResponseError`, `StopUser`, …) lives in `plimsoll.users.exceptions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class PlimsollError(Exception):
    """A message for people, without a traceback."""

    exit_code = 2


class UsageError(PlimsollError):
    """A flag, an argument or an environment variable cannot be used."""


class UnknownOptionError(UsageError):
    """Neither the command line nor the locustfile knows this option. The message is the option."""


class NoBaselineError(UsageError):
    """There is no run yet to compare with: the first run of a branch is reported alone."""


class NotNowError(UsageError):
    """It could be done at another time: a run is in progress, or none is. Answered with 409, other errors with 400."""


class FieldError(UsageError):
    """One field of what was asked for cannot be used."""

    def __init__(self, message: str, field: str) -> None:
        """field: its name in `RunRequest` or `LoadChange`; "arguments.NAME" for one of the locustfile's own."""
        super().__init__(message)
        self.field = field


class SeveralFieldsError(UsageError):
    """Several fields of what was asked for cannot be used."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        """errors: at least one, in the order in which they are printed."""
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)


class LocustfileError(PlimsollError):
    """The locustfile is missing, broken or empty."""


class StoreError(PlimsollError):
    """The store cannot be opened, read or written."""


class RefError(StoreError):
    """The store has nothing of that name, or several things."""


class ReadOnlyError(StoreError):
    """The store can be read, and not written."""


class LimitError(PlimsollError):
    """This machine's limits are too low for what was asked."""


class RunError(PlimsollError):
    """A run that a program asked for could not be made. The message is that of `plimsoll run`."""
