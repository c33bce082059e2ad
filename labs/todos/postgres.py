"""PostgreSQL servers for the lab: in private directories, on free ports, removed afterwards."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from plimsoll.experiment.ports import free_port
from plimsoll.run.supervised.process import Process

from .errors import LabError
from .postgres_programs import counts_statements, programs, readable_copy

ROLE = "lab"
START_SECONDS = 30.0
START_ATTEMPTS = 3


@dataclass(frozen=True)
class Cluster:
    """The addresses of the servers without a scheme: lab@127.0.0.1:PORT/postgres."""

    primary: str
    replica: str | None


@contextmanager
def running_postgres(replica: bool = False, port: int = 0, replica_port: int = 0) -> Iterator[Cluster]:
    """Start a server, and optionally a streaming replica; both end on exit. Port 0 chooses a free one.

    Raises LabError if no server is found or can be installed, or if one does not start (with the server's message)."""
    folder = programs()
    with ExitStack() as stack:
        primary = _started(folder, port=port)
        stack.callback(primary.stop)
        if not replica:
            yield Cluster(primary.address, None)
            return
        standby = _started(folder, primary, replica_port)
        stack.callback(standby.stop)
        yield Cluster(primary.address, standby.address)


def _started(folder: Path, primary: "PostgresServer | None" = None, port: int = 0) -> "PostgresServer":
    """Try several times: another process may take the free port first."""
    for attempts_left in reversed(range(START_ATTEMPTS)):
        server = PostgresServer(folder, port)
        try:
            server.start(primary)
        except BaseException as error:
            server.stop()
            if attempts_left == 0 or not isinstance(error, LabError):
                raise
        else:
            return server
    raise AssertionError("unreachable: the last attempt returns or raises")


class PostgresServer:
    """One server process and its directory."""

    def __init__(self, programs: Path, port: int = 0) -> None:
        """programs: the folder with initdb, pg_basebackup and postgres. port: 0 takes a free one. Makes the directory,
        starts nothing."""
        self._user = unprivileged_user() if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="plimsoll-postgres-"))
        self._programs = readable_copy(programs, self._folder / "programs") if self._user else programs
        self._data = self._folder / "data"
        self._log = self._folder / "log"
        self._process: Process | None = None
        self._port = port or free_port()
        self._counts_statements = counts_statements(programs)

    @property
    def address(self) -> str:
        return f"{ROLE}@127.0.0.1:{self._port}/postgres"

    def start(self, primary: "PostgresServer | None" = None) -> None:
        """Make a new cluster, or a streaming copy of the primary's, and wait until the server accepts connections.
        Raises LabError."""
        if self._user:
            shutil.chown(self._folder, self._user)
        # --no-sync: the cluster lives for one run. The server itself syncs its commits as it would in production.
        if primary is None:
            self._run("initdb", "-U", ROLE, "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        else:
            source = ["-h", "127.0.0.1", "-p", str(primary._port), "-U", ROLE]
            # A unique slot name: a failed attempt may have left one behind.
            slot = ["--create-slot", "--slot", f"replica_{self._port}"]
            self._run(
                "pg_basebackup", *source, *slot, "--write-recovery-conf", "-X", "stream", "-c", "fast", "--no-sync"
            )
        # SIGINT is PostgreSQL's fast shutdown.
        self._process = Process(
            [*as_user(self._user), str(self._programs / "postgres"), "-D", str(self._data), *self._settings()],
            output=self._log, cwd=self._folder, ask=signal.SIGINT, last=["rm", "-rf", str(self._folder)],
        )  # fmt: skip
        self._wait_until_ready(self._process)
        if primary is None and self._counts_statements:
            with psycopg.connect(f"postgresql://{self.address}", autocommit=True) as connection:
                connection.execute("CREATE EXTENSION pg_stat_statements")

    def stop(self) -> None:
        """End the server and remove its directory."""
        if self._process:
            self._process.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *options: str) -> None:
        """Run a PostgreSQL program that makes the data directory, as the server's user. Raises LabError."""
        command = [str(self._programs / program), "-D", str(self._data), *options]
        group = pwd.getpwnam(self._user).pw_gid if self._user else None
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self._folder,
            user=self._user, group=group, extra_groups=[] if self._user else None,
        )  # fmt: skip
        if done.returncode:
            raise LabError(f"{program} failed:\n{done.stdout}{done.stderr}")

    def _settings(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self._port,
            "unix_socket_directories": "",
            "timezone": "UTC",
        }
        if self._counts_statements:
            settings["shared_preload_libraries"] = "pg_stat_statements"
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

    def _wait_until_ready(self, process: Process) -> None:
        """The last line of postmaster.pid is the server's state, which pg_ctl uses too. It is "ready" when connections
        are accepted: for a replica, once it has caught up with its copy."""
        state_file = self._data / "postmaster.pid"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            if state_file.exists() and state_file.read_text().rstrip().endswith("\nready"):
                return
            time.sleep(0.02)
        raise LabError(f"PostgreSQL did not start:\n{self._log.read_text(errors='replace')}")


def as_user(name: str | None) -> list[str]:
    """The prefix of a command that another user must run; empty for the current user."""
    if name is None:
        return []
    group = pwd.getpwnam(name).pw_gid
    return ["setpriv", f"--reuid={name}", f"--regid={group}", "--clear-groups"]


def unprivileged_user() -> str:
    """The user for PostgreSQL if this process is root: PostgreSQL does not run as root. Raises LabError."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise LabError("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
