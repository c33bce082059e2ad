"""What the processes of a run print, passed on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.loop import Loop
    from plimsoll.run.transport.handle import WorkerHandle


class OutputRelay:
    """take: gets it, in pieces. None: it goes where ours goes, and there is nothing to do."""

    def __init__(self, loop: Loop, take: Callable[[bytes], None] | None) -> None:
        self._loop = loop
        self._take = take

    @property
    def captures(self) -> bool:
        """Processes are to be started with their output captured."""
        return self._take is not None

    def watch(self, process: WorkerHandle) -> None:
        """From now on."""
        if process.output is not None:
            self._loop.watch(process.output, partial(self._pass_on, process))

    def end(self, process: WorkerHandle) -> None:
        """It has exited: pass on the rest."""
        if process.output is not None:
            self._pass_on(process)
            self._close(process)

    def _pass_on(self, process: WorkerHandle) -> None:
        assert process.output is not None and self._take is not None
        if process.output.closed:  # by what was handled before this, in the same turn
            return
        for data in process.read_output():
            if not data:
                self._close(process)
                return
            self._take(data)

    def _close(self, process: WorkerHandle) -> None:
        if process.output is not None and not process.output.closed:
            self._loop.forget(process.output)
            process.output.close()
