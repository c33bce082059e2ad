"""A loop that waits for files, deadlines and signals, and calls the actions that are registered for them."""

from __future__ import annotations

import selectors
import socket
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.run import interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    class File(Protocol):
        def fileno(self) -> int: ...

    class Writer(Protocol):
        """Has data for a file, which does not always take it."""

        @property
        def has_backlog(self) -> bool: ...
        def flush(self) -> None: ...

    Action = Callable[[], None]


class Loop:
    """Calls actions, one after the other, in the thread that turns it. Due times are stamps in ns."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._due: dict[Action, int] = {}
        self._writers: dict[File, Writer] = {}
        self._posted: deque[Action] = deque()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self.watch(self._wake_reader, self._take_posted)

    def post(self, action: Action) -> None:
        """Call it soon. From any thread, and from signal handlers; in a loop that is closed nothing follows."""
        self._posted.append(action)
        self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # it is full, so the loop will look; or it is closed
            self._wake_writer.send(b"!")

    def _take_posted(self) -> None:
        with suppress(BlockingIOError):
            self._wake_reader.recv(4096)
        while self._posted:
            self._posted.popleft()()

    def watch(self, file: File, action: Action, writer: Writer | None = None) -> None:
        """Whenever the file can be read. An action may still be called once after the file is forgotten.

        writer: is flushed when the file takes data again, as long as it has some.
        """
        self._selector.register(file, selectors.EVENT_READ, action)
        if writer is not None:
            self._writers[file] = writer

    def forget(self, file: File) -> None:
        """Before it is closed. Raises KeyError for a file that is not watched."""
        self._selector.unregister(file)
        self._writers.pop(file, None)

    def at(self, due: int, action: Action) -> None:
        """Once; a due time that the same action had before is replaced."""
        self._due[action] = due

    def cancel(self, action: Action) -> None:
        """Also one that was never due."""
        self._due.pop(action, None)

    def due(self, action: Action) -> int | None:
        return self._due.get(action)

    def turn(self) -> None:
        """Wait until there is something to do, and do it."""
        self._look_for_backlogs()
        timeout = max(0, min(self._due.values()) - now()) / 1e9 if self._due else None
        for key, events in self._selector.select(timeout):
            if events & selectors.EVENT_WRITE and key.fileobj in self._writers:
                self._writers[key.fileobj].flush()
            if events & selectors.EVENT_READ:
                key.data()
        for action, due in list(self._due.items()):
            # Unless an action before it has cancelled or delayed this one.
            if due <= now() and self._due.get(action) == due:
                del self._due[action]
                action()

    def _look_for_backlogs(self) -> None:
        for file, writer in self._writers.items():
            key = self._selector.get_key(file)
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if writer.has_backlog else 0)
            if key.events != wanted:
                self._selector.modify(file, wanted, key.data)

    def close(self) -> None:
        self._selector.close()
        self._wake_reader.close()
        self._wake_writer.close()

    @contextmanager
    def handling_signals(self, action: Action) -> Iterator[None]:
        """Within the block, each signal calls the action, and does nothing else."""

        def take() -> None:
            interrupts.take()
            action()

        with interrupts.passed_to(lambda _: self.post(take), self._wake, every=True):
            if interrupts.take_noted():
                self.post(take)
            try:
                yield
            finally:
                interrupts.may_finish()
