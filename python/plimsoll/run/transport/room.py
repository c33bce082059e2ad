"""Where workers can begin while a run goes on, whatever carries their messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.transport.handle import WorkerHandle
    from plimsoll.run.transport.kept import KeptSeconds


@dataclass(frozen=True, slots=True)
class Room:
    """For one more worker, on a machine of the run or on one that has come later.

    reserve: takes it for the worker of this index. Returns what starts the worker: that may take a while, and raises
    PlimsollError or OSError.
    """

    host: str
    reserve: Callable[[int], Callable[[], WorkerHandle]]


class Site(Protocol):
    """All machines of a run."""

    def rooms(self) -> list[Room]:
        """Those that are there now. A machine whose worker has failed has none."""
        ...

    def take_kept(self) -> list[KeptSeconds]:
        """What machines have kept of workers whose coordinator could not be reached, each once."""
        ...
