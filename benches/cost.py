"""CPU per request of one generator: measured in the same way for all, with a check of the counts."""

import time
from dataclasses import dataclass

from .echo import EVENTS, Echo
from .errors import BenchError
from .nginx import Nginx
from .others import Others
from .process import Measured
from .subjects import Subject

CONNECT_SECONDS = 60.0


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
    """A window. It begins when this is made.

    At both of its ends, the generator's CPU comes from the kernel and the number of requests from the server. So no
    tool reports on itself. Raises BenchError if a user is missing at one of them."""

    def __init__(self, server: Nginx | Echo, generator: Measured, users: int) -> None:
        self._server, self._generator, self._users = server, generator, users
        self._others = Others(server, generator)
        self._requests, self._cpu, self._clock = self._read()

    def end(self) -> Cost:
        """Raises BenchError if there were no requests, too."""
        generator = self._generator
        received, (cpu, workers), clock = self._read()
        seconds, foreign = clock - self._clock, self._others.seconds()
        requests = received - self._requests
        if not requests:
            raise BenchError(f"no requests within the window:\n{generator.output()}")
        return Cost(
            cpu_us=(cpu - self._cpu[0]) / requests * 1e6,
            workers_us=(workers - self._cpu[1]) / requests * 1e6,
            requests_per_second=requests / seconds,
            peak_mb=generator.peak_resident() / 2**20,
            others_cpus=foreign / seconds,
        )

    def _read(self) -> tuple[int, tuple[float, float], float]:
        """Requests, CPU seconds as of `Measured`, and the time."""
        status = self._server.status()  # first: a busy server may take 0.1 s to answer, with the count of that moment
        if status.connections < self._users:
            message = f"only {status.connections} of {self._users} users are connected"
            raise BenchError(f"{message}:\n{self._generator.output()}")
        return status.requests, self._generator.cpu_seconds(), time.monotonic()


def check_count(name: str, reported: int, received: int, under_way: int) -> None:
    """At the end, at most this many requests may be in flight, which the tool does not count. More is an error."""
    if not reported <= received <= reported + under_way:
        raise BenchError(f"{name} reported {reported} requests, the server received {received}")
