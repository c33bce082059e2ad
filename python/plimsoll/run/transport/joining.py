"""A worker that joins a master by itself, over TCP: `plimsoll run --worker`. `plimsoll.run.transport.master` is the
other side."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import socket
import tarfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.limits import raise_open_files
from plimsoll.run.transport.bundle import Archive, Bundle
from plimsoll.run.transport.frames import ProtocolError, pack
from plimsoll.run.transport.greeting import GREETING_TIMEOUT_S, Channel, greet, tune
from plimsoll.run.transport.local import spawn_worker
from plimsoll.run.transport.own_folder import OwnFolder

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

PATIENCE_S = 300.0
"""Seconds that a worker waits for a master that is not there yet, or was there and may be started again; Locust's tries
60 times for 5 s."""
RETRY_INTERVAL_S = 1.0
CONNECT_TIMEOUT_S = 5.0
END_TIMEOUT_S = 15.0
"""Seconds that a worker may take to end once its master is gone."""


class JoiningWorker:
    """Has at most one worker process at a time.

    files: the locustfiles on this machine; None: they come from the master. say: prints a line for people.
    """

    def __init__(
        self, host: str, port: int, token: str, files: tuple[str, ...] | None, say: Callable[[str], None]
    ) -> None:
        self._address = (host, port)
        self._token = token
        self._root = Bundle.of(files).root if files is not None else None
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._kept = b""
        """What its last process measured of a run whose master was lost."""

    def run(self, patience: float = PATIENCE_S) -> None:
        """Until the master ends. patience: seconds to wait for it. Raises PlimsollError if it is not there, or does not
        want this worker."""
        raise_open_files()
        while True:
            channel = self._join(patience)
            self._say(f"joined the master at {self._name}")
            with contextlib.closing(channel):
                if self._serve(channel):
                    self._say("the master has ended")
                    return
            kept = f", with what it measured ({len(self._kept):,} bytes)" if self._kept else ""
            self._say(f"the master at {self._name} is gone; trying to join it again for {patience:g} s{kept}")

    def close(self) -> None:
        """Kill its process."""
        if (process := self._process) is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    @property
    def _name(self) -> str:
        host, port = self._address
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def _join(self, patience: float) -> Channel:
        end, has_said = time.monotonic() + patience, False
        while True:
            try:
                return self._greet()
            except (OSError, EOFError) as error:
                why = getattr(error, "strerror", None) or str(error) or "it closes the connection"
            if time.monotonic() >= end:
                raise PlimsollError(
                    f"there is no master at {self._name} (--master-host, --master-port), for {patience:g} s: {why}"
                )
            if not has_said:
                self._say(f"waiting for a master at {self._name}: {why}")
                has_said = True
            time.sleep(RETRY_INTERVAL_S)

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
            match channel.receive():
                case "clock", []:
                    channel.send("clock", now())
                case "start", [index, ticket, archive]:
                    try:
                        self._start(channel, index, ticket, archive, kept)
                    except (OSError, tarfile.TarError) as error:
                        self._say(f"the worker cannot be started: {error}")
                        return False
                case "kill", []:
                    self.close()
                case "quit", []:
                    return True

    def _start(self, channel: Channel, index: int, ticket: bytes, archive: list[Any] | None, kept: Path) -> None:
        place = None
        kept.unlink(missing_ok=True)
        files, folder = self._root or ".", str(Path.cwd())
        if archive is not None:
            place = OwnFolder()
            unpacked = Archive(*archive)
            unpacked.unpack(place.path)
            files, folder = (str(Path(place.path) / each) for each in (unpacked.files, unpacked.folder))
        stream = self._connect()
        with stream:
            stream.settimeout(GREETING_TIMEOUT_S)
            stream.sendall(pack("stream", ticket))
            stream.settimeout(None)
            self._process = spawn_worker(index, stream.fileno(), False, files, folder, str(kept))
        threading.Thread(target=_tell_end, args=(self._process, channel, place), daemon=True).start()


def _tell_end(process: subprocess.Popen[bytes], channel: Channel, place: OwnFolder | None) -> None:
    """place: the folder of its files, which is removed."""
    code = process.wait()
    how = f"exited with code {code}" if code else None
    if code < 0:
        how = f"was killed by {signal.Signals(-code).name}"
    with contextlib.suppress(OSError):
        channel.send("exited", how)
    if place is not None:
        place.close()
