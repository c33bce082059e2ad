"""The workers of a placer, from their start to their end."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError
from plimsoll.run import interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.run.placers.placer import MasterAddress, Placer
    from plimsoll.run.transport.master import Master

LIMIT_S = 180
"""Seconds for all workers to join, unless `--expect-workers-max-wait` says: a node may have to fetch an image first."""
LOOK_INTERVAL_S = 1.0
MOST_WORKERS = 10_000
"""Workers that may join until it is known how many were started."""


@contextmanager
def placed(
    placer: Placer, master: Master, address: MasterAddress, limit: float, say: Callable[[str], None]
) -> Iterator[None]:
    """Within the block the workers of a placer are there; they end with it. limit: seconds for all of them to join.
    say: prints a line. Raises PlimsollError if they do not come, or a signal ends the wait."""
    watch = _Watch(placer, say)
    try:
        try:
            with interrupts.orderly():
                # Some may join before all have been started.
                master.expect(MOST_WORKERS)
                count = placer.start(address)
                master.expect(count)
                say(f"waiting for {_workers(count)}, for {limit:g} s")
                _wait(placer, master, count, limit, say)
        except KeyboardInterrupt:
            raise PlimsollError("stopped before it had begun") from None
        watch.start()
        yield
    finally:
        # What runs elsewhere must end in any case; a second signal ends the command at once.
        with interrupts.passed_to(lambda is_first: None if is_first else interrupts.hurry()):
            watch.end()
            # First the workers, of their own accord: the placer would count them as failed.
            master.close()
            try:
                placer.close()
            except PlimsollError as error:
                say(str(error))
            for line in placer.look().news:
                say(line)


def _wait(placer: Placer, master: Master, count: int, limit: float, say: Callable[[str], None]) -> None:
    end, said = time.monotonic() + limit, ""
    while len(master.ready) < count:
        placement = placer.look()
        for line in placement.news:
            say(line)
        if placement.failure:
            raise PlimsollError(placement.failure)
        if placement.waiting and placement.waiting != said:
            said = placement.waiting
            say(said)
        if time.monotonic() >= end:
            why = f": {said}" if said else ""
            raise PlimsollError(
                f"{len(master.ready)} of {_workers(count)} have joined within {limit:g} s "
                f"(--expect-workers-max-wait){why}"
            )
        master.await_change(LOOK_INTERVAL_S)


class _Watch:
    """Looks at the workers while a run goes on."""

    def __init__(self, placer: Placer, say: Callable[[str], None]) -> None:
        self._placer = placer
        self._say = say
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _look(self) -> None:
        failure, is_over = "", False
        while not is_over:
            # Also once the run is over: what has ended it may not be said yet.
            is_over = self._is_over.wait(LOOK_INTERVAL_S)
            placement = self._placer.look()
            for line in placement.news:
                self._say(line)
            if placement.failure and placement.failure != failure:
                self._say(placement.failure)
            failure = placement.failure


def _workers(count: int) -> str:
    return f"{count} worker{'s' * (count > 1)}"
