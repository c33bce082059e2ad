"""The Rust engine as Python sees it. Compared with the binary by `make check`.

All stamps are integer nanoseconds on CLOCK_MONOTONIC, the clock of `time.monotonic_ns()`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, final

from plimsoll.record import CellTuple, FailureTuple, HealthTuple

__all__ = [
    "Client",
    "Engine",
    "Headers",
    "Histogram",
    "NativeUsers",
    "Origin",
    "Recorder",
    "Reply",
    "SpawnTimes",
    "now",
    "outcomes",
]

def now() -> int:
    """CLOCK_MONOTONIC in ns."""

def outcomes() -> list[tuple[str, bool, bool]]:
    """The taxonomy as (name, is a failure, its response time belongs to the latency percentiles)."""

@final
class Histogram:
    """Durations in whole microseconds, 1 µs to 1 h, 3 significant digits (HdrHistogram)."""

    def __new__(cls) -> Self: ...
    @staticmethod
    def decode(data: bytes) -> Histogram:
        """From HdrHistogram V2, plain or compressed. Raises ValueError."""
    def encode(self, compressed: bool = True) -> bytes: ...
    def record(self, micros: int, count: int = 1) -> None:
        """Values over 1 h are kept as 1 h."""
    def add(self, other: Histogram) -> None: ...
    def copy(self) -> Histogram: ...
    def value_at(self, quantile: float) -> int:
        """µs at rank ceil(quantile * count): the highest value equivalent to it, never above `max`; 0 when empty."""
    def count_above(self, micros: int) -> int: ...
    def buckets(self) -> list[tuple[int, int]]:
        """(value in µs, count) of each non-empty bucket, ascending."""
    @property
    def count(self) -> int: ...
    @property
    def min(self) -> int: ...
    @property
    def max(self) -> int: ...
    @property
    def mean(self) -> float: ...

@final
class Origin:
    """Where exchanges go, and how it is reached. Immutable; share it between users.

    url: scheme://host[:port] (http, https) or http+unix://%2Fpath%2Fto.sock; path and query are ignored.
    verify: True = system roots, False = no check, str = path of a PEM bundle.
    cert: path of a PEM with key and certificate, or (certificate, key).
    proxy: http://[user:pass@]host:port. source: local IP address to bind.
    Raises ValueError for a malformed URL or unreadable file (message names it).
    """

    def __new__(
        cls,
        url: str,
        *,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
        proxy: str | None = None,
        source: str | None = None,
    ) -> Self: ...
    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def authority(self) -> str:
        """What the Host header says: the port only when it is not the scheme's own."""

@final
class Headers:
    """Header lines, checked and encoded once, sent many times. Raises ValueError for a name or value HTTP forbids."""

    def __new__(cls, items: Iterable[tuple[str | bytes, str | bytes]]) -> Self: ...
    def items(self) -> list[tuple[str, str]]: ...

@final
class Reply:
    """One finished exchange: the stamps, and either a complete response or how it failed."""

    @property
    def outcome(self) -> str:
        """ "success" (a complete response, whatever its status) or a failure kind of the taxonomy."""
    @property
    def error(self) -> str | None:
        """What went wrong, for people; None for a complete response."""
    @property
    def errno(self) -> int | None: ...
    @property
    def status(self) -> int:
        """0 without a response."""
    @property
    def reason(self) -> str: ...
    @property
    def version(self) -> int:
        """10 or 11, as in http.client; 0 without a response."""
    def header(self, name: str) -> str | None:
        """First value, looked up without regard to case."""
    @property
    def headers(self) -> list[tuple[str, str]]: ...
    @property
    def trailers(self) -> list[tuple[str, str]]: ...
    @property
    def body(self) -> bytes:
        """As received, after transfer coding."""
    def decoded(self) -> bytes:
        """The body with Content-Encoding (gzip, deflate, br, zstd) undone.

        Raises ValueError when it is damaged or over the limit.
        """
    @property
    def body_size(self) -> int:
        """Bytes of the decoded body; undoes the coding if it must to know."""
    @property
    def request_head(self) -> bytes:
        """What was sent, up to the blank line."""
    @property
    def due(self) -> int: ...
    @property
    def sent(self) -> int: ...
    @property
    def first_byte(self) -> int: ...
    @property
    def arrival(self) -> int: ...
    @property
    def read(self) -> int: ...
    @property
    def response(self) -> int:
        """arrival - due, ns."""
    @property
    def service(self) -> int:
        """arrival - sent, ns."""
    @property
    def lag(self) -> int:
        """sent - due, ns."""
    @property
    def delay(self) -> int:
        """read - arrival, ns."""
    @property
    def dns(self) -> int:
        """ns spent resolving; 0 on a kept connection. `connect` and `tls` likewise."""
    @property
    def connect(self) -> int: ...
    @property
    def tls(self) -> int: ...
    @property
    def bytes_out(self) -> int: ...
    @property
    def bytes_in(self) -> int: ...
    @property
    def hops(self) -> int: ...
    @property
    def retries(self) -> int: ...
    def after(self, previous: Reply) -> None:
        """Make this the next hop of `previous`: one exchange from its due and sent, bytes added up, hops + 1."""

@final
class Engine:
    """The reactor. Belongs to one thread. Iterate over it after `poll()`: each step reads one socket."""

    def __new__(
        cls,
        *,
        max_head: int = 65536,
        max_headers: int = 128,
        max_body: int = 1 << 30,
        max_decoded: int = 1 << 30,
    ) -> Self: ...
    def fileno(self) -> int:
        """Readable when `poll()` would find something to do (also for timers)."""
    def poll(self, timeout: float | None = 0.0) -> int:
        """Fetch readiness; number of events. timeout in seconds, None waits."""
    def __iter__(self) -> Iterator[tuple[Any, Reply | None]]: ...
    def __next__(self) -> tuple[Any, Reply | None]:
        """The waiter given to `Client.send` with its finished exchange, or the waiter given to `wake` with None."""
    def wake(self, waiter: Any, due: int) -> int:
        """Hand `waiter` back at `due` (ns), to the precision of the kernel's timers. The id is for `cancel_wake`."""
    def cancel_wake(self, id: int) -> None:
        """Take a wake back. Unknown ids are ignored."""
    def client(self) -> Client:
        """A user's own connections."""
    @property
    def in_flight(self) -> int: ...
    @property
    def connections(self) -> int: ...
    @property
    def kernel_stamps(self) -> bool:
        """Whether arrivals are stamped by the kernel here."""

@final
class Client:
    def send(
        self,
        waiter: Any,
        origin: Origin,
        method: str,
        target: str,
        headers: Headers,
        extra: Mapping[str, str | bytes | None] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        due: int = 0,
        connect_timeout: float = 0.0,
        read_timeout: float = 0.0,
    ) -> int:
        """Send one request; its Reply comes out of the engine with `waiter`. Returns an id for `cancel`.

        target: path and query, already percent-encoded. extra overrides headers without regard to case; None removes
        one; new ones follow in order. A body (also an empty one) sets Content-Length unless Transfer-Encoding or
        Content-Length is given; content_type is added when no Content-Type is there. Host comes first unless given.
        due: 0 = now. Timeouts in seconds, 0 = none; read_timeout limits each wait for bytes, like requests'.
        Raises ValueError when method, target or a header cannot be sent.
        """
    def cancel(self, id: int) -> None:
        """Forget an exchange in flight and close its connection; no Reply follows. Unknown ids are ignored."""
    def close(self) -> None:
        """Close the connections; exchanges in flight are cancelled."""

@final
class Recorder:
    """Folds exchanges into histograms per second, endpoint and outcome.

    epoch: the stamp at which second 0 begins."""

    def __new__(cls, epoch: int) -> Self: ...
    def restart(self, epoch: int) -> None:
        """Forget all that was recorded; second 0 now begins at `epoch`. Endpoints keep their ids."""
    def endpoint(self, method: str, name: str) -> int:
        """The id of (method, name), the same for every call."""
    def exchange(self, endpoint: int, reply: Reply, outcome: str | None = None, message: str | None = None) -> None:
        """Record one exchange. outcome None: the reply's own, with "http" for a status >= 400.
        A failure without a message is filed under the reply's error or its status line."""
    def custom(
        self, endpoint: int, response_ms: float | None, size: int, outcome: str = "success", message: str | None = None
    ) -> None:
        """Record what a custom client timed itself, arrived now. None: counted, not timed."""
    def dropped(self, endpoint: int, due: int) -> None: ...
    def take(self, before: int | None = None) -> tuple[list[CellTuple], list[HealthTuple], list[FailureTuple]]:
        """Hand over and forget the seconds < before (all when None), and the failures since the last call."""

@final
class SpawnTimes:
    """When each of `users` starts, as Locust spawns: max(1, floor(rate)) at once, as often as `rate` allows."""

    def __new__(cls, users: int, rate: float) -> Self:
        """Raises ValueError unless 0 < rate <= 1e9."""
    def due(self, n: int) -> int | None:
        """ns from the start to the n-th user, counted from 0; None past the last."""

@final
class NativeUsers:
    """Closed-loop users in Rust: each repeats one request, without Python."""

    def __new__(
        cls,
        engine: Engine,
        recorder: Recorder,
        origin: Origin,
        method: str,
        target: str,
        headers: Headers,
        body: bytes | None = None,
        name: str | None = None,
        timeout: float = 0.0,
    ) -> Self: ...
    def spawn(self, count: int) -> None: ...
    def stop(self) -> None:
        """No further requests; those in flight finish through `Engine` iteration."""
    @property
    def active(self) -> int: ...
