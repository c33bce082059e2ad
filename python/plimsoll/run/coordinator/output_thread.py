"""Calls an output from a thread of its own, so that a slow receiver does not hold up the run."""

from __future__ import annotations

import logging
import time
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

from plimsoll.outputs.output import OutputError, OutputEvent, OutputRun, OutputSecond
from plimsoll.redact import redact
from plimsoll.run import interrupts
from plimsoll.say.notices import undelivered_text
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.outputs.output import Output

logger = logging.getLogger("plimsoll.run")

WAITING = 120
"""Seconds and events that may wait for an output; what comes beyond is dropped."""
FLUSH_S = 3.0
"""Seconds that an output gets at the end of the run, and again for its last event."""


class OutputThread:
    """Calls one output; no other thread calls it. An exception in the output ends only this output."""

    def __init__(self, name: str, output: Output, *, is_strict: bool = False) -> None:
        """name: for messages. is_strict: a receiver that cannot be reached ends the run, which says so by itself."""
        self.name = name
        self._output = output
        self._is_strict = is_strict
        self._queue: Queue[OutputRun | OutputSecond | OutputEvent | Event | None] = Queue(WAITING)
        """An `Event` asks for a flush, and is set when that is done. None is the end."""
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._dropped = 0
        self._undelivered = ""
        """At the last flush, in words."""
        self._failed = ""
        """Why the output ended by itself."""
        self._unreachable: str | None = None
        """Why its receiver could not be reached at the start."""
        self._is_open = Event()

    def start(self, run: OutputRun) -> None:
        self._queue.put(run)
        self._thread.start()

    def put(self, item: OutputSecond | OutputEvent) -> None:
        try:
            self._queue.put_nowait(item)
        except Full:
            if not self._dropped:
                logger.warning("%s is too slow: %d seconds wait, and more are dropped", self.name, WAITING)
            self._dropped += 1

    def reached(self, deadline: float) -> str | None:
        """Why its receiver cannot be reached before this monotonic time; None: it can be."""
        if not interrupts.wait(self._is_open.wait, max(0.0, deadline - time.monotonic())):
            return "it does not answer"
        return self._unreachable

    def flush(self) -> Callable[[float], str]:
        """Have it deliver what is left. Returns a function that waits for that until a monotonic time, and says what
        was not delivered; "" for nothing."""
        is_done = Event()
        try:
            self._queue.put_nowait(is_done)
        except Full:
            return lambda _: self._not_ended()

        def finish(deadline: float) -> str:
            if not interrupts.wait(is_done.wait, max(0.0, deadline - time.monotonic())):
                return self._not_ended()
            if self._failed:
                return f"{self.name} ended early: {self._failed}"
            dropped = f"{counted(self._dropped, 'message')} dropped because it was too slow" if self._dropped else ""
            missing = "; ".join(filter(None, (self._undelivered, dropped)))
            return f"{self.name}: {missing}" if missing else ""

        return finish

    def _not_ended(self) -> str:
        with self._queue.mutex:
            waiting = sum(isinstance(item, OutputSecond | OutputEvent) for item in self._queue.queue)
        missing = counted(waiting + self._output.unconfirmed, "message")
        return f"{self.name} does not end: {missing} may be missing, because it is too slow"

    def close(self) -> None:
        try:
            self._queue.put_nowait(None)
        except Full:
            return  # it waits for its receiver, and ends with the process
        self._thread.join(0.1)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                if not self._failed:
                    self._call(item)
            except Exception as error:  # an output of another package may raise anything
                self._failed = redact(f"{type(error).__name__}: {error}")
                logger.error("%s ends: %s", self.name, self._failed)
            finally:
                if isinstance(item, Event):
                    item.set()
        self._output.close()

    def _call(self, item: OutputRun | OutputSecond | OutputEvent | Event) -> None:
        match item:
            case OutputRun():
                self._open(item)
            case OutputSecond():
                self._output.second(item)
            case OutputEvent():
                self._output.event(item)
            case _:
                missing = self._output.flush(FLUSH_S / 2)
                self._undelivered = (
                    undelivered_text(missing.messages, redact(missing.reason), missing.spans) if missing else ""
                )

    def _open(self, run: OutputRun) -> None:
        try:
            self._output.open(run)
        except OutputError as error:
            self._unreachable = redact(str(error))
            if not self._is_strict:
                text = "%s cannot be reached: %s; the run goes on, and tries again"
                logger.warning(text, self.name, self._unreachable)
        finally:
            self._is_open.set()
