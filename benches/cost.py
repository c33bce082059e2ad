"""CPU per request of one generator: measured in the same way for all, with a check of the counts."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .echo import EVENTS, Echo
from .errors import BenchError
from .nginx import Nginx
from .others import Others
from .process import Measured
from .subjects import Load, Subject

CONNECT_SECONDS = 60.0
SETTLE_SECONDS = 1.0
MARGIN_SECONDS = 3
USERS_STARTED_PER_SECOND = 2_000
"""Maximum time until all users have started."""


@dataclass(frozen=True)
class Case:
    """One line of the table: generator, response and users."""

    subject: Subject
    path: str
    users: int
    """Connections, for HTTP/2."""
    streams: int = 0
    """Requests of a connection at a time, with HTTP/2; 0: HTTP/1.1."""

    @property
    def is_echo(self) -> bool:
        """Whether the server is `echo`, and the count that of messages or events; else nginx, and requests."""
        return self.path in ("/echo", "/events")

    @property
    def under_way(self) -> int:
        """How many may be under way, which the generator does not count."""
        return self.users * (EVENTS if self.path == "/events" else max(1, self.streams))


@dataclass(frozen=True)
class Cost:
    """The result of one measurement."""

    cpu_us: float
    """CPU time per request in µs: user and system, all processes of the generator."""
    workers_us: float
    """The part of it in child processes of the generator; 0 if there are none."""
    requests_per_second: float
    peak_mb: float
    """Highest resident memory of all its processes, in MiB."""
    others_cpus: float
    """CPUs used by unrelated work during the measurement."""


def measure(server: Nginx | Echo, case: Case, window: float) -> Cost:
    """Run the case once, and measure `window` seconds from its middle.

    At both ends of the window, the generator's CPU comes from the kernel and the number of requests from the server.
    So startup and shutdown do not count, and no tool reports on itself. Raises BenchError if the generator fails, if
    it does not have all users at both ends, or if its own final count is not the server's.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        seconds = round(window + SETTLE_SECONDS + MARGIN_SECONDS + case.users / USERS_STARTED_PER_SECOND)
        url = server.url_of(case.path, http2=bool(case.streams))
        load = Load(url, case.path, case.users, seconds, Path(folder), case.streams)
        before = server.status().requests
        with Measured(case.subject.command(load), load.environment) as generator:
            wait_for_connections(server, generator, case.users)
            time.sleep(SETTLE_SECONDS)
            cost = weigh(server, generator, case.users, window)
            output = generator.finish()
        reported = case.subject.reported(load, output)
        check_count(case.subject.name, reported, server.status().requests - before, case.under_way)
        return cost


def wait_for_connections(
    server: Nginx | Echo, generator: Measured, users: int, seconds: float = CONNECT_SECONDS
) -> None:
    """Wait until every user has its connection. Raises BenchError after `seconds`."""
    deadline = time.monotonic() + seconds
    while server.status().connections < users:
        generator.tree()  # raises if it has ended
        if time.monotonic() > deadline:
            raise BenchError(f"{server.status().connections} of {users} users connected:\n{generator.output()}")
        time.sleep(0.05)


def weigh(server: Nginx | Echo, generator: Measured, users: int, window: float) -> Cost:
    weighing = Weighing(server, generator, users)
    time.sleep(window)
    return weighing.end()


class Weighing:
    """A window. It begins when this is made."""

    def __init__(self, server: Nginx | Echo, generator: Measured, users: int) -> None:
        self._server, self._generator, self._users = server, generator, users
        self._others = Others(server, generator)
        self._cpu, self._requests, self._clock = generator.cpu_seconds(), server.status().requests, time.monotonic()

    def end(self) -> Cost:
        """Raises BenchError if a user is missing, or if there were no requests."""
        generator = self._generator
        (cpu, workers), status, clock = generator.cpu_seconds(), self._server.status(), time.monotonic()
        seconds, foreign = clock - self._clock, self._others.seconds()
        if status.connections < self._users:
            message = f"only {status.connections} of {self._users} users at the end of the window"
            raise BenchError(f"{message}:\n{generator.output()}")
        requests = status.requests - self._requests
        if not requests:
            raise BenchError(f"no requests within the window:\n{generator.output()}")
        return Cost(
            cpu_us=(cpu - self._cpu[0]) / requests * 1e6,
            workers_us=(workers - self._cpu[1]) / requests * 1e6,
            requests_per_second=requests / seconds,
            peak_mb=generator.peak_resident() / 2**20,
            others_cpus=foreign / seconds,
        )


def check_count(name: str, reported: int, received: int, under_way: int) -> None:
    """At the end, at most this many requests may be in flight, which the tool does not count. More is an error."""
    if not reported <= received <= reported + under_way:
        raise BenchError(f"{name} reported {reported} requests, the server received {received}")
