"""The result of one trial."""

from dataclasses import dataclass
from textwrap import indent

LONGEST_OUTPUT = 4000
"""Maximum characters of a trial's output to show."""


@dataclass(frozen=True)
class CommandOutcome:
    """How the command of a trial ended."""

    exit_code: int | None
    """None: it did not end."""
    words: str
    """Its output."""


@dataclass(frozen=True)
class Judgement:
    """What one trial tried, and which guarantees it broke."""

    what: str
    """One line."""
    broken: list[str]
    """A sentence for each broken guarantee."""
    words: str
    """The output of the commands that were tried."""
    applied: int = 0
    """Number of failed system calls."""

    def __str__(self) -> str:
        if not self.broken:
            kept = f"kept; {self.applied} calls failed" if self.applied else "kept"
            return f"{self.what}: {kept}"
        return f"{self.what}: BROKEN: {'; '.join(self.broken)}\n{indent(self.words[-LONGEST_OUTPUT:], '    ')}"
