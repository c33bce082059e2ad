"""A PostgreSQL server of our own: in a private directory, on a free port, gone without a trace afterwards."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import LabError
from .leash import Leashed
from .postgres_programs import programs, readable_copy

ROLE = "lab"
START_SECONDS = 30.0
START_ATTEMPTS = 3


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server; gives its address (lab@127.0.0.1:PORT/postgres, without a scheme) and ends it on leaving.

    Raises LabError when no server can be found or installed, or when it does not start (with the server's words)."""
    server = _started(programs())
    try:
        yield server.address
    finally:
        server.stop()


def _started(folder: Path) -> "PostgresServer":
    """Try a few times: between finding a free port and binding it, another process may take it."""
    for attempts_left in reversed(range(START_ATTEMPTS)):
        server = PostgresServer(folder)
        try:
            server.start()
        except BaseException as error:
            server.stop()
            if attempts_left == 0 or not isinstance(error, LabError):
                raise
        else:
            return server
    raise AssertionError("unreachable: the last attempt returns or raises")


class PostgresServer:
    """One server process and its directory."""

    def __init__(self, programs: Path) -> None:
        """programs: the folder with initdb and postgres. Makes the directory, starts nothing."""
        self._user = unprivileged_user() if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="plimsoll-postgres-"))
        self._programs = readable_copy(programs, self._folder / "programs") if self._user else programs
        self._data = self._folder / "data"
        self._log = self._folder / "log"
        self._process: Leashed | None = None
        self._port = free_port()

    @property
    def address(self) -> str:
        return f"{ROLE}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Make the cluster and wait until the server accepts connections. Raises LabError."""
        if self._user:
            shutil.chown(self._folder, self._user)
        self._initdb()
        with self._log.open("wb") as log:
            self._process = Leashed(
                [str(self._programs / "postgres"), "-D", str(self._data), *self._settings()],
                user=self._user, cwd=self._folder, remove=self._folder, stdout=log, stderr=log,
            )  # fmt: skip
        self._wait_until_ready(self._process)

    def stop(self) -> None:
        """End the server and remove its directory."""
        if self._process:
            self._process.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _initdb(self) -> None:
        # --no-sync: the cluster lives for one run. The server itself syncs its commits as it would in production.
        command = [str(self._programs / "initdb"), "-D", str(self._data), "-U", ROLE, "--auth=trust", "--no-sync"]
        command += ["-E", "UTF8", "--locale=C.UTF-8"]
        group = pwd.getpwnam(self._user).pw_gid if self._user else None
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self._folder,
            user=self._user, group=group, extra_groups=[] if self._user else None,
        )  # fmt: skip
        if done.returncode:
            raise LabError(f"initdb failed:\n{done.stdout}{done.stderr}")

    def _settings(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self._port,
            "unix_socket_directories": "",
            "timezone": "UTC",
        }
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

    def _wait_until_ready(self, process: Leashed) -> None:
        """The last line of postmaster.pid tells the server's state, which pg_ctl waits for too."""
        state_file = self._data / "postmaster.pid"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.returncode is None:
            if state_file.exists() and state_file.read_text().rstrip().endswith("\nready"):
                return
            time.sleep(0.02)
        raise LabError(f"PostgreSQL did not start:\n{self._log.read_text(errors='replace')}")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def unprivileged_user() -> str:
    """Whom PostgreSQL runs as where we are root, as which it refuses to run. Raises LabError."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise LabError("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
