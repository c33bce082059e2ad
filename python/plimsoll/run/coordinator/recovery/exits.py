"""Workers whose stream has ended, until it is known how they ended.

A worker on another machine says that through another connection, which may take a while, and one that wants to harm
never says it. The loop does not stand still for that: orders for the other workers would be late, and their load would
end.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from plimsoll._engine import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.loop import Loop
    from plimsoll.run.transport.handle import WorkerHandle

PATIENCE_NS = 3_000_000_000
"""ns until a machine has said how its worker ended."""
POLL_INTERVAL_NS = 20_000_000


class WorkerExits:
    """then: called with each worker once."""

    def __init__(self, loop: Loop, then: Callable[[WorkerHandle], None]) -> None:
        self._loop = loop
        self._then = then

    def add(self, worker: WorkerHandle) -> None:
        """Nothing more comes from it."""
        self._loop.forget(worker.connection)
        self._look(worker, now() + PATIENCE_NS)

    def _look(self, worker: WorkerHandle, until: int) -> None:
        if worker.has_settled or worker.breach is not None or now() >= until:
            self._then(worker)
        else:
            self._loop.at(now() + POLL_INTERVAL_NS, partial(self._look, worker, until))
