"""What a placer is: it starts workers that join a master, and says when one is gone.

A worker is `plimsoll run --worker`, on whatever machine, by whatever means. How it joins, gets its files, is lost,
comes back or is replaced is in `plimsoll.run.transport`, once for all placers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MASTER_WAIT_S = 120
"""Seconds that a placed worker looks for its master. If the command is killed, its workers have ended after that."""
REFUSED = 2
"""The exit code of a worker that no further attempt would help: no master, another version, a wrong token."""


def worker_words(host: str, port: int, workers: int, wait: int = MASTER_WAIT_S) -> list[str]:
    """What follows `plimsoll`: workers that join the master there. wait: seconds that they look for it."""
    return [
        "run", "-f", "-", "--worker", "--master-host", host, "--master-port", str(port), "--processes", str(workers),
        "--master-max-wait", str(wait),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class MasterAddress:
    """Where workers join, and the token that they need for it."""

    host: str | None
    """As `--master-host` says; None: the placer finds an address by which its workers reach this machine."""
    port: int
    token: str = field(repr=False)
    joined: Callable[[], int] = lambda: 0
    """How many workers have joined."""


@dataclass(frozen=True, slots=True)
class Placement:
    """How workers that were started are doing."""

    news: tuple[str, ...] = ()
    """Lines for people about what has happened since the last look, and what workers have printed."""
    waiting: str = ""
    """Why workers have not joined yet; "" if nothing is known."""
    failure: str = ""
    """Why workers will not come; "" as long as they may."""


class Placer(ABC):
    """Starts workers. Each method is called from one thread at a time, and returns within a minute or two."""

    @abstractmethod
    def start(self, master: MasterAddress) -> int:
        """Start the workers; how many will join. Raises PlimsollError, which names the machine and what to do."""

    @abstractmethod
    def look(self) -> Placement:
        """How they are doing; about once a second, and once after `close` for what they printed last. A worker that has
        ended may be started again here."""

    @abstractmethod
    def close(self) -> None:
        """End what is left of them, and remove what was made for them. The master is closed. May be repeated. Raises
        PlimsollError that says what is left, and how to remove it."""


@dataclass(frozen=True, slots=True)
class PlacerKind:
    """A row of the registry."""

    example: str
    help: str
    make: Callable[[str], Placer]
    """From what stands after the name and a colon. Raises UsageError. Starts nothing."""
