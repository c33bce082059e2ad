"""A worker that joins a master by itself, over TCP: `plimsoll run --worker`. `plimsoll.run.transport.master` is the
other side."""

from __future__ import annotations

import contextlib
import os
import platform
import random
import signal
import socket
import tarfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.plain_text import without_userinfo
from plimsoll.run.limits import raise_open_files, usable_cpus
from plimsoll.run.transport.admission import MustWaitError
from plimsoll.run.transport.bundle import Archive, Bundle
from plimsoll.run.transport.frames import MAX_FRAME_BYTES, pack
from plimsoll.run.transport.greeting import GREETING_TIMEOUT_S, Channel, greet, tune
from plimsoll.run.transport.join_token import is_loopback
from plimsoll.run.transport.own_folder import OwnFolder
from plimsoll.run.transport.report_rules import ProtocolError
from plimsoll.run.transport.spawning import spawn_worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.transport.spawning import ChildProcess

MASTER_TIMEOUT_S = 300.0
"""Seconds that a worker waits for a master that is not there yet, or was there and may be started again; Locust's tries
60 times for 5 s."""
RETRY_INTERVAL_S = 1.0
CONNECT_TIMEOUT_S = 5.0
JOINED = "joined the master at "
WAITING = "waiting for a master at "
ENDED = "the master has ended"
"""Beginnings of what a worker says of its master. Whoever starts workers knows the first and the last itself."""
END_TIMEOUT_S = 15.0
"""Seconds that a worker may take to end once its master is gone."""


class JoiningWorker:
    """Has at most one worker process at a time.

    files: the locustfiles on this machine; None: they come from the master. say: prints a line for people. check:
    called with the locustfiles that have come from the master; raises PlimsollError if this worker cannot use them.
    """

    def __init__(
        self,
        host: str,
        port: int,
        token: str,
        files: tuple[str, ...] | None,
        say: Callable[[str], None],
        check: Callable[[tuple[str, ...]], None] | None = None,
    ) -> None:
        self._check = check
        self._address = (host, port)
        self._token = token
        self._root = Bundle.of(files).root if files is not None else None
        self._say = say
        self._process: ChildProcess | None = None
        self._brought: Archive | None = None
        """The files of the run, from the master."""
        self._kept = b""
        """What its last process measured of a run whose master was lost."""

    def run(self, timeout: float = MASTER_TIMEOUT_S) -> None:
        """Until the master ends. timeout: seconds to wait for it. Raises PlimsollError if it is not there, or does not
        want this worker."""
        raise_open_files()
        while True:
            channel = self._join(timeout)
            self._say(f"{JOINED}{self._name}")
            with contextlib.closing(channel):
                if self._serve(channel):
                    self._say(ENDED)
                    return
            kept = f", with what it measured ({len(self._kept):,} bytes)" if self._kept else ""
            self._say(f"the master at {self._name} is gone; trying to join it again for {timeout:g} s{kept}")

    def close(self) -> None:
        """Kill its process."""
        if (process := self._process) is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    @property
    def _hint(self) -> str:
        """For a master that is there, and listens for its own machine alone."""
        if is_loopback(self._address[0]):
            return ""
        return "; a master takes workers of other machines only with --master-bind-host and a token"

    @property
    def _name(self) -> str:
        host, port = self._address
        return without_userinfo(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")

    def _join(self, timeout: float) -> Channel:
        end, has_said = time.monotonic() + timeout, False
        while True:
            pause = RETRY_INTERVAL_S
            try:
                return self._greet()
            except MustWaitError as error:
                pause, end = error.seconds + random.random() * RETRY_INTERVAL_S, end + error.seconds
                why = f"a wrong token came from this address, which must wait for {error} now"
            except (OSError, EOFError) as error:
                why = getattr(error, "strerror", None) or str(error) or "it closes the connection"
                why += self._hint
            if time.monotonic() >= end:
                raise PlimsollError(
                    f"there is no master at {self._name} (--master-host, --master-port), for {timeout:g} s: {why}"
                )
            if not has_said:
                self._say(f"{WAITING}{self._name}: {why}")
                has_said = True
            time.sleep(pause)

    def _greet(self) -> Channel:
        channel = Channel(self._connect())
        try:
            greet(channel, platform.node(), self._token, has_files=self._root is not None)
            channel.send("kept", self._kept)
        except (ProtocolError, TypeError, ValueError) as error:
            channel.close()
            raise UsageError(f"what answers at {self._name} is no master of Plimsoll") from error
        except BaseException:
            channel.close()
            raise
        return channel

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(self._address, CONNECT_TIMEOUT_S)
        tune(connection)
        connection.settimeout(None)
        return connection

    def _serve(self, channel: Channel) -> bool:
        """Carry out what the master says; returns whether it has ended, and was not only lost."""
        has_ended = False
        with OwnFolder() as folder:
            kept = Path(folder.path) / "kept"
            with contextlib.suppress(OSError, EOFError, ProtocolError):
                has_ended = self._carry_out(channel, kept)
            end = time.monotonic() + END_TIMEOUT_S
            while self._process is not None and self._process.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            self.close()
            if kept.exists():
                self._kept = kept.read_bytes()
        return has_ended

    def _carry_out(self, channel: Channel, kept: Path) -> bool:
        """kept: the file for what a process measured, if the master is lost."""
        while True:
            match channel.receive(MAX_FRAME_BYTES):
                case "clock", []:
                    channel.send("clock", now())
                case "measure", []:
                    channel.send("measured", *_capacity())
                case "files", [bytes(data), str(files), str(folder), [*locustfiles]]:
                    self._brought = Archive(data, files, folder, tuple(map(str, locustfiles)))
                case "start", [int(index), bytes(ticket), bool(is_brought)]:
                    try:
                        self._start(channel, index, ticket, self._brought if is_brought else None, kept)
                    except (OSError, tarfile.TarError, ValueError) as error:
                        self._say(f"the worker cannot be started: {error}")
                        return False
                case "kill", []:
                    self.close()
                case "quit", []:
                    return True
                case _:
                    raise ProtocolError("a message that no master sends")

    def _start(self, channel: Channel, index: int, ticket: bytes, archive: Archive | None, kept: Path) -> None:
        """Raises OSError, TarError; ValueError for files that would be elsewhere."""
        place = None
        kept.unlink(missing_ok=True)
        files, folder = self._root or ".", str(Path.cwd())
        if archive is not None:
            place = OwnFolder()
            archive.unpack(place.path)
            files, folder = (_below(place.path, each) for each in (archive.files, archive.folder))
            if self._check is not None:
                try:
                    self._check(tuple(str(_inside(files, each)) for each in archive.locustfiles))
                except BaseException:
                    place.close()
                    raise
        stream = self._connect()
        with stream:
            stream.settimeout(GREETING_TIMEOUT_S)
            stream.sendall(pack("stream", ticket))
            stream.settimeout(None)
            self._process = spawn_worker(index, stream.fileno(), False, files, folder, str(kept))
        threading.Thread(target=_tell_end, args=(self._process, channel, place), daemon=True).start()


def _capacity() -> list[Any]:
    """Values of `CAPACITY`; takes some seconds."""
    # Only here: no run needs it.
    from plimsoll.run.calibration import CAPACITY, calibrate

    measured = {"cpus": usable_cpus(), **calibrate()}
    return [measured[name] for name in CAPACITY]


def _below(place: str, name: str) -> str:
    """A folder in the place. Raises ValueError if it is elsewhere."""
    path = _inside(place, name)
    path.mkdir(parents=True, exist_ok=True)
    return str(path)


def _inside(place: str, name: str) -> Path:
    """Raises ValueError if it is elsewhere."""
    path = Path(place, name).resolve()
    if not path.is_relative_to(Path(place).resolve()):
        raise ValueError("the master names a place outside that of its files")
    return path


def _tell_end(process: ChildProcess, channel: Channel, place: OwnFolder | None) -> None:
    """place: the folder of its files, which is removed."""
    code = process.wait()
    with contextlib.suppress(OSError):
        channel.send("exited", code or None)
    if place is not None:
        place.close()
