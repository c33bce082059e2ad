"""What the workers of a run on a cluster measured, on its way from the link of a lost coordinator to the process that
continues the run.

By then the workers have ended and the cluster is free. The link waits at a socket that only this user can open, in a
folder of its own. It greets as a worker that joins does (`plimsoll.run.transport.greeting`), and says

    kept DATA OFFSET ERROR · complete        from it: for each worker what `kept` has written, and how its clock was
    quit                                     to it, once the run goes on: nothing is needed of it any more

If the connection ends without that, the link waits again.
"""

from __future__ import annotations

import contextlib
import glob
import os
import platform
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError
from plimsoll.run.transport.clock import ClockEstimate
from plimsoll.run.transport.frames import MAX_REPORT_BYTES
from plimsoll.run.transport.greeting import Channel, Hello, admit, greet
from plimsoll.run.transport.joining import MASTER_TIMEOUT_S
from plimsoll.run.transport.kept import KeptSeconds
from plimsoll.run.transport.own_folder import PREFIX, OwnFolder
from plimsoll.run.transport.report_rules import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    WorkersPart = tuple[bytes, ClockEstimate]
    """What a worker has kept, as it wrote it, and its clock as the coordinator had it."""

BACKLOG = 8
SEARCH_S = 5.0
"""Seconds in which a link that has just lost its coordinator opens its socket."""
READY_TIMEOUT_S = 60.0
"""Seconds that its workers, and Ray, may take to end."""
POLL_INTERVAL_S = 0.1
NO_TOKEN = ""
"""Who can open the socket is this user."""


class HandoverServer:
    """The link's side. run: its id. Raises PlimsollError if there cannot be such a socket."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._folder = OwnFolder()
        self._listener = socket.socket(socket.AF_UNIX)
        path = Path(self._folder.path) / run
        try:
            self._listener.bind(str(path))
            path.chmod(0o600)
            self._listener.listen(BACKLOG)
        except OSError as error:
            self.close()
            raise PlimsollError(f"what the workers have measured cannot be kept at {path}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def serve(self, parts: Sequence[WorkersPart], timeout: float = MASTER_TIMEOUT_S) -> None:
        """Until the run goes on, or nobody has come for so many seconds."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            self._listener.settimeout(left)
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                return
            with contextlib.closing(Channel(connection)) as channel:
                if _hand_over(channel, parts, timeout):
                    return
            end = time.monotonic() + timeout

    def close(self) -> None:
        self._listener.close()
        self._folder.close()


def _hand_over(channel: Channel, parts: Sequence[WorkersPart], timeout: float) -> bool:
    """Whether the run goes on."""
    with contextlib.suppress(OSError, EOFError, ProtocolError, PlimsollError, TypeError, ValueError):
        greet(channel, platform.node(), NO_TOKEN, has_files=False)
        channel.connection.settimeout(timeout)
        for data, clock in parts:
            channel.send("kept", data, clock.offset, clock.error)
        channel.send("complete")
        return channel.receive() == ("quit", [])
    return False


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What has come of one worker, if anything has."""

    kept: KeptSeconds | None = None
    clock: ClockEstimate | None = None

    def estimate(self) -> ClockEstimate | None:
        """Of its clock."""
        return self.clock


class HandoverClient:
    """The side of the process that continues the run. workers: what has come of them, by index."""

    def __init__(self, channel: Channel, run: str) -> None:
        """Raises PlimsollError, OSError, EOFError, ProtocolError, ValueError."""
        self._channel = channel
        self.workers: dict[int, HandedOver] = {}
        admit(channel, Hello.of(channel.receive()), NO_TOKEN)
        while (frame := channel.receive(MAX_REPORT_BYTES)) != ("complete", []):
            _, (data, offset, error) = frame
            kept = KeptSeconds.read(data)
            if kept is not None and kept.run == run and kept.last >= self._last_of(kept.worker):
                self.workers[kept.worker] = HandedOver(kept, ClockEstimate(offset, error))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def _last_of(self, worker: int) -> int:
        """Of several that had the same place, one after the other, the last counts."""
        known = self.workers.get(worker)
        return known.kept.last if known is not None and known.kept is not None else -1

    def release(self) -> None:
        """The run goes on: the other side may end."""
        with contextlib.suppress(OSError):
            self._channel.send("quit")


def fetch(run: str, search: float = SEARCH_S) -> HandoverClient | None:
    """From the link that waits for somebody to continue this run; None if there is none on this machine. search:
    seconds in which it may come. Raises PlimsollError if it does not give anything to this process."""
    end = time.monotonic() + search
    while True:
        for path in _sockets(run):
            # One whose process has ended refuses.
            with contextlib.suppress(OSError, EOFError, ProtocolError, TypeError, ValueError):
                return _connected(path, run)
        if time.monotonic() >= end:
            return None
        time.sleep(POLL_INTERVAL_S)


def _connected(path: Path, run: str) -> HandoverClient:
    channel = Channel(socket.socket(socket.AF_UNIX))
    try:
        channel.connection.settimeout(READY_TIMEOUT_S)
        channel.connection.connect(str(path))
        return HandoverClient(channel, run)
    except BaseException:
        channel.close()
        raise


def _sockets(run: str) -> Iterator[Path]:
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{glob.escape(run)}"):
        # Others can make a folder with such a name, too.
        with contextlib.suppress(OSError):
            if path.parent.lstat().st_uid == os.getuid():
                yield path
