"""A target with its own count of requests, and the command `plimsoll` in a directory of its own."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from plimsoll.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMEOUT_S = 60.0
"""Seconds after which a test gives up, also on a machine that is busy with other things."""

WAITS = {"/slow": 0.3, "/late": 2.0, "/never": 10 * TIMEOUT_S}
"""Seconds by path."""


class CountingTarget:
    """An HTTP server on a free port of 127.0.0.1. It counts what it has read in full, before it answers.

    /fail answers 500, /slow waits for 0.3 s, /late for 2 s, /never for ever, everything else answers 200 at once.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def total(self) -> int:
        with self._lock:
            return sum(self.counts.values())

    def close(self) -> None:
        """May be repeated."""
        # Shut down first: close alone would leave the thread in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        buffer = b""
        with connection:
            try:
                while data := connection.recv(65536):
                    buffer += data
                    while b"\r\n\r\n" in buffer:
                        head, _, buffer = buffer.partition(b"\r\n\r\n")
                        connection.sendall(self._answer(head.split()[1].decode()))
            except OSError:
                return

    def _answer(self, path: str) -> bytes:
        with self._lock:
            self.counts[path] += 1
        if wait := WAITS.get(path.partition("?")[0]):
            time.sleep(wait)
        status = b"500 Internal Server Error" if path.startswith("/fail") else b"200 OK"
        return b"HTTP/1.1 " + status + b"\r\nContent-Length: 5\r\n\r\nhello"


class CommandResult:
    """Exit code, stdout and stderr of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def __repr__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Command:
    """The command `plimsoll`, run in a directory of its own, with no configuration but what a test puts there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = directory / "plimsoll.db"
        own = ("LOCUST_", "PLIMSOLL_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        self.environment |= {"HOME": str(directory), "COLUMNS": "140"}
        # Whether a run is valid depends on what else this machine does; tests of validity say what they expect.
        self.environment["PLIMSOLL_EXIT_CODE_ON_INVALID"] = "0"
        self._processes: list[subprocess.Popen[str]] = []

    def write(self, text: str, name: str = "locustfile.py") -> Path:
        path = self.directory / name
        path.write_text(text)
        return path

    def start(self, *arguments: str, **settings: object) -> subprocess.Popen[str]:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        process: subprocess.Popen[str] = subprocess.Popen(
            [sys.executable, "-c", "from plimsoll.cli import main; main()", *arguments],
            env=self.environment,
            text=True,
            **{"cwd": self.directory, **streams, **settings},  # type: ignore[call-overload]
        )
        self._processes.append(process)
        return process

    def __call__(self, *arguments: str) -> CommandResult:
        """The command in this process, to its end; a run has its workers in processes of their own as ever.

        To start Python and load the package again takes longer than most runs of tests. What a process has for itself,
        such as signals, is tested with `start` or `in_a_process`.
        """
        with self._surroundings(arguments), TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            with _descriptor(1, out), _descriptor(2, err):
                code = _exit_code(arguments)
            return CommandResult(code, _all_of(out), _all_of(err))

    @contextlib.contextmanager
    def _surroundings(self, arguments: tuple[str, ...]) -> Iterator[None]:
        before = Path.cwd(), dict(os.environ), sys.argv
        try:
            os.chdir(self.directory)
            os.environ.clear()
            os.environ.update(self.environment)
            sys.argv = ["plimsoll", *arguments]
            yield
        finally:
            os.chdir(before[0])
            os.environ.clear()
            os.environ.update(before[1])
            sys.argv = before[2]

    def in_a_process(self, *arguments: str, **settings: object) -> CommandResult:
        return self.end(self.start(*arguments, **settings))

    def end(self, process: subprocess.Popen[str]) -> CommandResult:
        out, err = process.communicate(timeout=TIMEOUT_S)
        return CommandResult(process.returncode, out, err)

    def stored(self, reference: str = "last") -> dict[str, Any]:
        """The run as `plimsoll show --json` has it."""
        # In this process: to start another one takes longer than all else that it does.
        done = CliRunner().invoke(main, ["show", reference, "--json", "--store", str(self.store)], prog_name="plimsoll")
        assert done.stdout, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def clean_up(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def _exit_code(arguments: tuple[str, ...]) -> int:
    with (
        os.fdopen(1, "w", closefd=False) as out,
        os.fdopen(2, "w", closefd=False) as err,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main(list(arguments), prog_name="plimsoll")
    assert isinstance(end.value.code, int)
    return end.value.code


@contextlib.contextmanager
def _descriptor(number: int, file: IO[str]) -> Iterator[None]:
    """This descriptor of the process, and so those of the processes that it starts, lead to a file."""
    before = os.dup(number)
    try:
        os.dup2(file.fileno(), number)
        yield
    finally:
        os.dup2(before, number)
        os.close(before)


def _all_of(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def wait_until(condition: Callable[[], object], every_s: float = 0.02) -> None:
    """Returns once the condition holds, whenever that is; fails after `TIMEOUT_S`."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(every_s)
