"""Why a cell could not be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.store.redact import redact_options, storable

if TYPE_CHECKING:
    from collections.abc import Sequence


class CellError(Exception):
    """Never leaves `run_cell`: it becomes the result of the cell."""

    def __init__(
        self, message: str, *, command: Sequence[str] = (), ending: str | None = None, log: Sequence[str] = ()
    ) -> None:
        """command: whose fault it is. ending: its exit status or signal, in words. log: the last lines it printed."""
        super().__init__(message)
        self.command = tuple(command)
        self.ending = ending
        self.log = [storable(line) for line in log]

    @property
    def one_line(self) -> str:
        """With the last line of the log, which most often says it. Passwords are masked."""
        message = " ".join(storable(str(self)).split())
        return f"{message}; its last line: {self.log[-1].strip()}" if self.log else message

    def to_dict(self) -> dict[str, Any]:
        """The error as values for JSON."""
        return {
            "message": storable(str(self)),
            "command": [storable(word) for word in redact_options(self.command)],
            "ending": self.ending,
            "log": self.log,
        }
