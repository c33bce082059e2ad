"""The Rust engine as Python sees it. Compared with the binary by `make check`.

All stamps are integer nanoseconds on CLOCK_MONOTONIC, the clock of `time.monotonic_ns()`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import GenericAlias, TracebackType
from typing import Any, Generic, Self, TypeVar, final

from typing_extensions import disjoint_base

from plimsoll.record import CellTuple, FailureTuple, HealthTuple, PartTuple, TotalTuple, TracedTuple

__all__ = [
    "AllowedHosts",
    "Answer",
    "Arrivals",
    "Client",
    "Decoding",
    "Engine",
    "EventReader",
    "GrpcMethod",
    "GrpcReader",
    "GrpcSchema",
    "Headers",
    "Histogram",
    "NativeUsers",
    "Origin",
    "QuickCalls",
    "QuickSettings",
    "Recorder",
    "Reply",
    "Scenario",
    "Shape",
    "SocketRows",
    "SpawnTimes",
    "Stream",
    "Timeouts",
    "WebSocket",
    "__version__",
    "exchange_columns",
    "grpc_body",
    "grpc_codes",
    "grpc_headers",
    "grpc_read",
    "grpc_timeout",
    "held_bodies",
    "is_plain_path",
    "is_trace_sampled",
    "json_text",
    "limit_bodies",
    "now",
    "others",
    "outcomes",
    "stream_rows",
    "toml_lines",
    "trace_parent",
    "websocket_headers",
]

__version__: str
"""Of the package. Its metadata are slower to read."""

def now() -> int:
    """CLOCK_MONOTONIC in ns."""

def limit_bodies(bytes: int) -> None:
    """From now on all bodies of responses in this process's memory may take so many bytes together."""

def held_bodies() -> int:
    """Bytes that they take; those of up to 16 KiB are not counted."""

def others() -> tuple[str, str]:
    """(method, name) of the endpoint that counts the names beyond the limit of a recorder."""

def stream_rows() -> list[str]:
    """The methods of rows that streams add to those of their requests. They are no requests."""

def trace_parent(trace: int) -> int:
    """The parent's id in the header traceparent of a request, of the second half of its trace. Both below 2 ** 64."""

def is_trace_sampled(trace: int, share: float) -> bool:
    """Whether a trace is in the sample of this share, 0…1, by its second half, below 2 ** 64."""

def websocket_headers(protocols: Sequence[str], compression: bool) -> list[tuple[str, str]]:
    """The headers of a request that opens a WebSocket, with a new key."""

def grpc_body(messages: Sequence[bytes], gzip: bool) -> bytes:
    """The body of a call with these messages."""

def grpc_codes() -> list[str]:
    """The names of gRPC's status codes, by number."""

def grpc_headers() -> list[tuple[str, str]]:
    """The headers of every call."""

def grpc_read(reply: Reply, most: int | None = None) -> tuple[int, str, list[bytes]]:
    """Status code, message, and replies of a complete response with the HTTP status 200. Raises ValueError for one that
    is none of gRPC, or whose replies have more than `most` bytes together."""

def grpc_timeout(seconds: float) -> str:
    """The value of grpc-timeout."""

def outcomes() -> list[tuple[str, bool, bool]]:
    """The taxonomy as (name, is a failure, its response time belongs to the latency percentiles)."""

def exchange_columns(packed: bytes, zero: int) -> tuple[int, dict[str, bytes]]:
    """What `Recorder.take_log` handed over, by column: the number of rows, and values by the name of their column.

    Values are little-endian, one after the other: `due`, `sent`, `first_byte`, `arrival`, `read` as int64, ns since the
    stamp `zero`; `serial`, `dns`, `connect`, `tls` (ns), `bytes_out`, `bytes_in`, `bytes_body` as uint64; `status`,
    `hops`, `retries` as uint16; as int32 `endpoint` (its number), `outcome` (its place in `outcomes()`) and `stamp`
    (what stamped `arrival`: 0 the kernel, 1 this program, 2 this program because the kernel's stamp was rejected).
    `has_first_byte` is a bit per row, the lowest first. Raises ValueError for other bytes.
    """

def json_text(value: Any) -> str | None:
    """The same as json.dumps of a value made of plain dicts, lists, tuples, texts, numbers, bools and None.

    None for any other value, keys that are not str, ints of more than 64 bits, NaN, infinity and half surrogate pairs.
    """

def is_plain_path(path: Any) -> bool:
    """Whether quoting does not change a path with its query.

    False for any doubt: dot segments, an empty query, a fragment, a percent sign, a letter outside of ASCII, no str.
    """

def toml_lines(text: str) -> dict[str, int]:
    """Line (from 1) of every key and element of a TOML document, by path: {"phase[1].rate": 12}.

    Raises ValueError for text that is not TOML; its message begins with "line N: ".
    """

@final
class GrpcMethod:
    """A method of a service, and the conversion of its messages."""

    @property
    def name(self) -> str:
        """`package.Service/Method`"""
    @property
    def client_streams(self) -> bool: ...
    @property
    def server_streams(self) -> bool: ...
    def encode(self, json: str) -> bytes:
        """The request with this JSON. Raises ValueError."""
    def decode(self, message: bytes) -> Any:
        """A reply as json.loads would make it of its JSON, with the names of the .proto file. Raises ValueError."""

@final
class GrpcReader:
    """Finds and records the replies in the body of a call whose server streams. arrival: the stamp of these bytes,
    ns."""

    def __new__(cls, reply: Reply, recorder: Recorder | None = None, endpoint: int = 0) -> Self: ...
    def feed(self, bytes: bytes, arrival: int) -> list[bytes]:
        """Replies that end in these bytes. Raises ValueError for what is none."""
    @property
    def is_pending(self) -> bool:
        """Whether there may be more in the bytes so far: `Engine.work_later`, and feed b"". A small reply may become a
        large one."""
    @property
    def is_in_message(self) -> bool:
        """Whether a reply is half decompressed."""
    def end(self, reply: Reply, arrival: int, trailers: bytes) -> tuple[int, str]:
        """Status code and message. The reply gets the stamps and the size of the whole. Raises ValueError for a body
        that is not complete, and without a status."""

@final
class GrpcSchema:
    """Services and message types. descriptor_set: a serialized FileDescriptorSet. Raises ValueError."""

    def __new__(cls, descriptor_set: bytes) -> Self: ...
    @staticmethod
    def from_text(text: str) -> GrpcSchema:
        """From the text of a .proto file, which imports nothing but Google's own files. Raises ValueError."""
    @staticmethod
    def read(files: Sequence[str], roots: Sequence[str]) -> GrpcSchema:
        """From .proto files and descriptor sets, with all that they import from these folders; without any, from the
        folder of each file or from one above it. Raises ValueError with file and line."""
    @property
    def descriptor_set(self) -> bytes: ...
    def pruned(self, services: Sequence[str]) -> GrpcSchema:
        """Only the files that these services need. All of them if that is not known: a service is not there, or a
        message may contain one of any type."""
    def methods(self) -> list[str]:
        """`package.Service/Method` of all methods."""
    def method(self, name: str) -> GrpcMethod:
        """Raises ValueError, which names those that there are."""

@final
class Histogram:
    """Durations in whole microseconds, 1 µs to 1 h, 3 significant digits (HdrHistogram)."""

    def __new__(cls) -> Self: ...
    @staticmethod
    def decode(data: bytes) -> Histogram:
        """From HdrHistogram V2, plain or compressed. Raises ValueError. It is `packed`."""
    def encode(self, compressed: bool = True) -> bytes: ...
    def record(self, micros: int, count: int = 1) -> None:
        """Values over 1 h are kept as 1 h."""
    def add(self, other: Histogram) -> None: ...
    @staticmethod
    def sum(parts: Sequence[Histogram]) -> Histogram:
        """All of them together; several are added faster than one after the other."""
    @staticmethod
    def packed_sums(parts: Sequence[Histogram], sizes: Sequence[int]) -> list[Histogram]:
        """The first `sizes[0]` of them together, the next `sizes[1]`, and so on; each sum is `packed`. Raises
        ValueError for sizes that do not fit."""

    def copy(self) -> Histogram: ...
    def packed(self) -> Histogram:
        """A copy that takes no more memory than its plain bytes until it changes: some 250, not 1.6 to 70 KB. Each
        method reads them anew."""

    def corrected(self, interval: int) -> Histogram:
        """A modelled copy: each value v (µs) also stands for v - interval, v - 2 * interval, … >= interval.

        What a client would have seen that kept to one request per interval (HdrHistogram's correction for coordinated
        omission). Raises ValueError for an interval of 0.
        """
    def value_at(self, quantile: float) -> int:
        """µs at rank ceil(quantile * count): the highest value equivalent to it, never above `max`; 0 when empty."""
    def values_at(self, quantiles: Sequence[float]) -> list[int]:
        """The same of several."""
    @staticmethod
    def table(parts: Sequence[Histogram], quantiles: Sequence[float]) -> bytes:
        """These values of several histograms: those of all for the first quantile, then for the next, each as 64 bits,
        little-endian."""
    def counts_above(self, micros: Sequence[int]) -> list[int]:
        """The number of values above each of these, which ascend."""
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
class AllowedHosts:
    """Which hosts connections may be made to: they must be allowed by each of the lists. Immutable.

    lists: (patterns, where they stand). Patterns are `api.example.com`, `*.example.com` (all names below it),
    `10.0.0.0/8`, `::1`, and `/run/app.sock` for a Unix socket. A name is allowed whatever it resolves to; a network
    allows addresses, whatever name led there. Raises ValueError for what is no pattern.
    """

    def __new__(cls, lists: Sequence[tuple[Sequence[str], str]]) -> Self: ...
    def refusal(self, origin: Origin) -> str | None:
        """Why no connection may be made there: "not allowed: …". Resolves its name, and waits for that; makes no
        connection. A name that cannot be resolved is not refused for that."""

@final
class Origin:
    """Where exchanges go, and how it is reached. Immutable; share it between users.

    url: scheme://host[:port] (http, https) or http+unix://%2Fpath%2Fto.sock; path and query are ignored.
    verify: True = system roots, False = no check, str = path of a PEM bundle, or of a directory of such.
    cert: path of a PEM with key and certificate, or (certificate, key).
    proxy: http://[user:pass@]host:port. forwards: for an origin that is a proxy, the URL whose requests it hands on.
    source: local IP address to bind.
    http2: speak HTTP/2 and nothing else, chosen in the handshake of https, from the first byte with http. A client then
    has one connection to the origin.
    Raises ValueError for a malformed URL or unreadable file (message names it).
    """

    def __new__(
        cls,
        url: str,
        *,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
        proxy: str | None = None,
        forwards: str | None = None,
        source: str | None = None,
        http2: bool = False,
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
    def decoding(self) -> Decoding | None:
        """What undoes the Content-Encoding of a body that comes in pieces; None if there is none."""
    @property
    def damaged(self) -> bool:
        """The body's content coding cannot be undone. False for a streamed one, of which that is not known yet."""
    @property
    def body_size(self) -> int:
        """Bytes of the decoded body; undoes the coding if it must to know. Streamed: what Content-Length says, or 0."""
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
        """sent - due, ns, without the wait for a user to be free."""
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
class Stream:
    """The rest of a streamed body. Nothing is read of it but what `read` asks for. Collected: the same as closed."""

    def read(self, waiter: Any) -> bytes | None:
        """The next bytes after transfer coding, as many as are there up to 64 KiB; none when it has ended.

        None when nothing has come: then `waiter` comes out of the engine, with None, when it is worth asking again.
        """
    def websocket(self, reply: Reply, protocols: Sequence[str], compression: bool) -> WebSocket:
        """The connection of a reply with status 101 to a request with `websocket_headers` of the same arguments. This
        stream has nothing more to read then. Raises ValueError for an answer that does not fit."""
    def end_by(self, deadline: int) -> None:
        """Set the stamp, ns, at which the whole exchange fails with a timeout; 0: never."""
    def stop_reading(self) -> None:
        """Forget the waiter."""
    def close(self) -> None:
        """Give up the rest and close the connection, unless the body was read to its end."""
    @property
    def arrival(self) -> int:
        """Stamp of the last piece, ns; 0 before the first one."""
    @property
    def trailers(self) -> bytes:
        """Raw trailer lines, after the end."""
    @property
    def ended(self) -> bool: ...
    @property
    def outcome(self) -> str:
        """ "success", or the kind of failure that it has ended with; see `Reply.outcome`, `error` and `errno`."""
    @property
    def error(self) -> str | None: ...
    @property
    def errno(self) -> int | None: ...

@final
class Decoding:
    """Undoes a Content-Encoding while the body comes in."""

    def push(self, bytes: bytes) -> None:
        """Take in the next bytes of the body."""
    def end(self) -> None:
        """Nothing comes behind them."""
    def pull(self) -> bytes | None:
        """The next bytes of the text, 64 KiB at most; None: no more for now, or at all. b"": let others run, and go on.

        Raises ValueError when the coding is damaged, or the text over the limit.
        """

@final
class Engine:
    """The reactor. Belongs to one thread. Iterate over it after `poll()`: each step reads one socket."""

    def __new__(
        cls,
        *,
        max_head: int = 65536,
        max_headers: int = 128,
        max_body: int = 1 << 30,
        max_decoded: int = 64 << 20,
    ) -> Self: ...
    def limit(self, *, max_body: int, max_decoded: int) -> None:
        """From now on a body may have so many bytes as received, and so many once its content coding is undone."""
    def allow(self, allowed: AllowedHosts) -> None:
        """From now on connections are only made to these hosts; others fail as `connect` with "not allowed: …".

        Kept connections stay. At first connections are made to any host.
        """
    trace: tuple[int, float] | None
    """Written only: the first half, of 64 bits, of the traces that requests carry from now on in a header
    `traceparent`, each another one, and the share, 0…1, that has the flag *sampled*. None, as at first: they carry
    none. A request that has such a header keeps it."""
    connect_backoff: bool
    """Written only: whether a client that could not connect waits before it tries again. Not at first."""
    @property
    def backed_off(self) -> int:
        """ns that clients have waited because of that."""
    @property
    def gathered(self) -> int:
        """ns for which all replies together have waited because the engine slept, to read more of them at a time. Part
        of their delay."""
    def take_retransmissions(self, most: int | None = None) -> int | None:
        """TCP segments that the system has sent again since the last call, or None if it has never said so.

        It is asked when a connection ends. This asks the next `most` open ones too, or all: about 1 µs each.
        """
    def fileno(self) -> int:
        """Readable when `poll()` would find something to do (also for timers)."""
    def poll(self, timeout: float | None = 0.0) -> int:
        """Fetch readiness; number of events. timeout in seconds, None waits."""
    def __iter__(self) -> Iterator[tuple[Any, Reply | None]]: ...
    def __next__(self) -> tuple[Any, Reply | None]:
        """The waiter given to `Client.send` with its finished exchange, or the waiter given to `wake` with None."""
    def deliver(self) -> None:
        """Poll, and call `waiter.switch(reply)` for each step of the iteration. Raises what that raises; the rest comes
        with the next call. Greenlets that make common calls or sleep in `sleep_until` resume one another instead."""
    def wake(self, waiter: Any, due: int) -> int:
        """Hand `waiter` back at `due` (ns), to the precision of the kernel's timers. The id is for `cancel_wake`."""
    def work_later(self, hub: Any, is_first: bool) -> None:
        """Let others run until there is time for more decompression. hub: the greenlet of the loop. is_first: before
        all others, because something is half done that takes memory."""
    def sleep_until(self, hub: Any, due: int) -> None:
        """The running greenlet sleeps until `due` (ns). hub: the greenlet that runs if no other one is due."""
    def cancel_wake(self, id: int) -> None:
        """Take a wake back. Unknown ids are ignored."""
    def set_sources(self, addresses: Sequence[str]) -> None:
        """Clients made from now on, native users' too, get one of these local addresses each, in turn, and keep it.

        Raises ValueError for what is no IP address.
        """
    def client(self, source: str | None = None) -> Client:
        """A user's own connections. source: the local address that they come from, instead of the next one in turn."""
    @property
    def in_flight(self) -> int:
        """Requests without a complete response; those of Python users with `stream=True`: without a head."""
    @property
    def sent(self) -> int:
        """Requests that were given to it so far, those of native users too."""
    @property
    def connections(self) -> int: ...
    @property
    def kernel_stamps(self) -> bool:
        """Whether arrivals are stamped by the kernel here."""

_ResponseT = TypeVar("_ResponseT")

@disjoint_base
class QuickCalls(Generic[_ResponseT]):
    """The verbs of a session. A common call is made without a frame of Python; all others by `request`, which does the
    same. What such a call needs is asked of `_quick_settings`, and kept until `_forget_settings`."""

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self: ...
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...
    request_name: str | None
    """The name of exchanges whose call gives none."""
    def _forget_settings(self) -> None: ...
    def get(self, url: str, **kwargs: Any) -> _ResponseT:
        """Send a GET request. The arguments of all verbs are those of `request`."""
    def post(self, url: str, data: Any = None, json: Any = None, **kwargs: Any) -> _ResponseT:
        """Send a POST request."""
    def put(self, url: str, data: Any = None, **kwargs: Any) -> _ResponseT:
        """Send a PUT request."""
    def patch(self, url: str, data: Any = None, **kwargs: Any) -> _ResponseT:
        """Send a PATCH request."""
    def delete(self, url: str, **kwargs: Any) -> _ResponseT:
        """Send a DELETE request."""

@final
class QuickSettings:
    """What the common calls of a session need."""

    def __new__(
        cls,
        *,
        fast: bool,
        client: Client,
        hub: Any,
        pacer: Any,
        listeners: list[Any],
        recorder: type,
        request: Callable[..., Any],
        response: type[Answer],
        dump: Callable[[Any], str],
        routes: Any,
        root: str,
        prefix: str | None,
        origin: Origin,
        headers: Headers,
        bare: Headers | None = None,
        composes: bool = True,
        only_without_body: bool = False,
        extra: dict[str, str | bytes | None] | None = None,
        timeouts: Timeouts | None = None,
    ) -> Self:
        """fast: compose messages as FastHttpSession, else as HttpSession. hub: the greenlet of gevent's loop. pacer:
        has `_due`, `_late`, `_free` and `_yielded`. listeners: those of the request event. recorder: the type of the
        one that records. request: what the class has under this name, unless a script has replaced it. response: the
        type of responses; dump: writes JSON that `json_text` does not. routes: of the base URL. root: the scheme, host
        and port of `origin`. prefix: the path of the base URL, if it needs no quoting.

        headers: those of each call. bare: all headers of a call without arguments. composes: False leaves calls with
        arguments to `request`. only_without_body: so do calls with a body. extra: headers after those of each call.
        """

@disjoint_base
class Answer:
    """What each request needs of a response. Scripts get a subclass."""

    reply: Reply | None
    """The stamps and the received data. None if the request was not sent."""
    session: Any
    endpoint: tuple[str, str]
    """Method and name of the exchange in reports."""
    error: Exception | None
    """Why there is no response."""
    meta: dict[str, Any] | None
    """`request_meta`, if user code has read it."""
    _manual_result: Any
    _catch_response: bool
    _entered: bool
    status_code: int
    """0 without a response."""
    own_encoding: Any
    """The encoding that user code has assigned; ... if it has not."""
    @property
    def _route(self) -> Any: ...
    @property
    def _body(self) -> Any: ...
    def __new__(
        cls,
        reply: Reply | None = None,
        route: Any = None,
        body: Any = None,
        session: Any = None,
        endpoint: tuple[str, str] | None = None,
    ) -> Self:
        """body: the value of `request.body`."""
    def __init__(
        self,
        reply: Reply | None = None,
        route: Any = None,
        body: Any = None,
        session: Any = None,
        endpoint: tuple[str, str] | None = None,
    ) -> None: ...
    def json(self, **kwargs: Any) -> Any:
        """The body as JSON. Raises the error of the JSON decoder that the session's class uses."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool: ...

@final
class EventReader:
    """Finds and records the events in a streamed body. An event is (name, data, id, retry); retry in ms. arrival: the
    stamp of these bytes, ns."""

    def __new__(cls, reply: Reply, format: str, recorder: Recorder | None = None, endpoint: int = 0) -> Self:
        """format: "sse", "lines" or "llm". endpoint: that of the request; its name is that of the rows. Raises
        ValueError for another format, or endpoint."""
    def feed(self, bytes: bytes, arrival: int) -> list[tuple[str, str, str, int | None]]:
        """The events that end in these bytes. Raises ValueError for one that is too long."""
    def end(self, arrival: int) -> tuple[list[tuple[str, str, str, int | None]], str | None]:
        """The event that ends with the body, if there is one, and why the stream is not what it should be."""

@final
class Timeouts:
    """Limits of time of a request, seconds, 0 = none. total: from sending to the end of the response; of a streamed one
    to its head. connect: for a new connection. idle: for each wait for bytes."""

    def __new__(cls, total: float = 0.0, connect: float = 0.0, idle: float = 0.0) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

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
        free: int = 0,
        stream: bool = False,
        timeouts: Timeouts | None = None,
        since: int = 0,
        continues: bool = False,
    ) -> int:
        """Send one request; its Reply comes out of the engine with `waiter`. Returns an id for `cancel`.

        target: path and query, already percent-encoded. extra overrides headers without regard to case; None removes
        one; new ones follow in order. A body (also an empty one) sets Content-Length unless Transfer-Encoding or
        Content-Length is given; content_type is added when no Content-Type is there. Host comes first unless given.
        due: 0 = now. free: when a user was free for it, if it waited for one: that wait is no lag.
        since: when the total limit began, for a request that follows a redirect; 0 = when it is sent.
        stream: the Reply comes when the head has come, with what came of the body; the rest is behind `Client.stream`.
        continues: the body follows by `write`, and there is no `body`; the headers say how long it is, or that it is
        chunked.
        Raises ValueError when method, target or a header cannot be sent.
        """
    def stream(self, reply: Reply) -> Stream | None:
        """The rest of a streamed reply's body, to be asked for once; None if there is none."""
    def write(self, id: int, bytes: bytes) -> bool:
        """Send the next part of the body of a request that continues. What the peer does not take yet is kept. False:
        no more parts are wanted, because the exchange has ended, or the peer takes no more."""
    def finish_writing(self, id: int) -> None:
        """End the body of a request that continues."""
    def wait_until_written(self, hub: Any, id: int) -> None:
        """Let others run until the socket has taken all parts, or the exchange has ended. hub: of gevent's loop."""
    def abort(self, id: int, message: str) -> Reply | None:
        """End an exchange whose request cannot be completed, and close its connection. Returns its Reply, a failure
        with this message. None if its Reply came or is on its way: if the response is not complete, reading the rest
        of it fails."""
    def cancel(self, id: int) -> tuple[int, int] | None:
        """Forget an exchange in flight and close its connection; no Reply follows.

        Returns the stamps (ns) at which it was due and sent. None if nothing was sent for it, because it waited for the
        end of a back-off, and for an unknown id.
        """
    def close(self) -> None:
        """Close the connections; exchanges in flight are given up."""

@final
class WebSocket:
    """An open WebSocket; from `Stream.websocket`. It answers pings and close frames when it receives."""

    def send(self, message: str | bytes) -> int:
        """Write a text or a binary message; the stamp before it, ns. What the socket does not take is kept, and follows
        when it does: then the waiter of `receive` is handed back, too."""
    @property
    def is_written(self) -> bool:
        """Whether the socket has taken all messages."""
    def receive(
        self, waiter: Any, recorder: Recorder | None = None, rows: SocketRows | None = None
    ) -> list[tuple[str | bytes, int, int, bool]] | None:
        """The messages that end in the next bytes, each with the stamps of its arrival and read, ns, and whether the
        first one is the kernel's; counted in these rows. None: nothing has arrived, and `waiter` is handed back when
        that may have changed. After the end there are none."""
    def hold(self, bytes: int) -> None:
        """Count the memory of the messages that the user has not read. The connection ends if there is none left."""
    @property
    def is_pending(self) -> bool:
        """Whether there may be more messages in the bytes that have arrived: let others run, and `receive` again."""
    def close(self, code: int, reason: str) -> None:
        """Send a close frame. The connection ends with that of the server. Raises ValueError for a code that cannot be
        sent."""
    def hang_up(self) -> None:
        """End the connection at once."""
    @staticmethod
    def reply(
        due: int,
        free: int,
        sent: int,
        arrival: int,
        read: int,
        size: int,
        kernel: bool,
        outcome: str | None = None,
        message: str = "",
    ) -> Reply:
        """A received message of `size` bytes as a Reply with these stamps, ns; due 0: as sent. kernel: the arrival is
        the kernel's stamp. outcome: why there is none."""
    @property
    def protocol(self) -> str | None:
        """The subprotocol that the server chose."""
    @property
    def end(self) -> tuple[str, str, str, int] | None:
        """After the end: the outcome for who waits for a message, that of the end itself, the reason, and the close
        code, 1006 without one."""

@final
class SocketRows:
    """The rows of the WebSockets of one name; from `Recorder.socket_rows`."""

@final
class Recorder:
    """Folds exchanges into histograms per second, endpoint and outcome.

    epoch: the stamp at which second 0 begins."""

    def __new__(cls, epoch: int) -> Self: ...
    def restart(self, epoch: int) -> None:
        """Forget all that was recorded; second 0 now begins at `epoch`. Endpoints keep their ids."""
    def limit_names(self, most: int) -> None:
        """From now on a new name beyond so many is counted under `others()`. There is no limit before."""
    def set_objectives(
        self, *, first_token: float | None = None, time_per_token: float | None = None, time: float | None = None
    ) -> None:
        """What the chat completions of Python users must keep to be good requests, seconds; None: no limit. Raises
        ValueError."""
    def endpoint(self, method: str, name: str) -> int:
        """The id of (method, name), the same for every call; beyond the limit of names that of `others()`."""
    def find(self, method: str, name: str) -> int | None:
        """The id of (method, name), if it has one of its own. The name is not added."""
    @property
    def others(self) -> int | None:
        """The id of `others()`, once a name is among them."""
    def exchange(self, endpoint: int, reply: Reply, outcome: str | None = None, message: str | None = None) -> None:
        """Record one exchange. outcome None: the reply's own, with "http" for a status >= 400.
        A failure without a message is filed under the reply's error or its status line.
        Raises ValueError without an outcome for a damaged reply."""
    def custom(
        self, endpoint: int, response_ms: float | None, size: int, outcome: str = "success", message: str | None = None
    ) -> None:
        """Record what a custom client timed itself, arrived now. None: counted, not timed."""
    def offered(self, due: int) -> None:
        """Count an arrival of the open model in the second of its due time."""
    def unanswered(self, endpoint: int, due: int, sent: int) -> None:
        """Record a request that is given up now, without a response. due, sent: its stamps, ns."""
    def dropped(self, endpoint: int, due: int) -> None:
        """Count an arrival that was never sent: in the second of its due time, and as an exchange of this endpoint."""
    def warm_until(self, stamp: int) -> None:
        """Failures that arrive before this stamp are counted, but their messages are not kept."""
    def log(self, on: bool) -> None:
        """Keep a row of every exchange from now on, for `take_log`."""
    def take_log(self) -> bytes:
        """Hand over and forget these rows, in the order they were recorded, packed for `exchange_columns`."""
    def endpoints(self) -> list[tuple[str, str]]:
        """(method, name) of every endpoint, by its id."""
    def take(self, before: int | None = None) -> tuple[list[CellTuple], list[HealthTuple], list[FailureTuple]]:
        """Hand over and forget the seconds < before (all when None), and the failures since the last call."""
    def take_parts(self) -> list[PartTuple]:
        """Hand over and forget what responses said of the parts of their time, in their headers Server-Timing."""
    def sample_traces(self, share: float | None) -> None:
        """Set the share, 0…1, of exchanges with a trace that are kept besides the slowest and the failed ones. None, as
        at first: no others."""
    def take_traced(self) -> tuple[list[TracedTuple], int]:
        """Hand over and forget exchanges that carry a trace: up to 200 of the sample, 50 others that failed, and the 20
        slowest of the rest. The number is how many of the sample and of those that failed were not kept."""
    @property
    def epoch(self) -> int:
        """The stamp at which second 0 begins."""
    @property
    def since(self) -> int:
        """The stamp since which the sums below count: that of second 0, or of the last `reset_totals`."""
    def total(self, endpoint: int | None = None) -> TotalTuple:
        """The sum of what was recorded so far, handed over or not. endpoint None: of all together, here and below."""
    def latency(self, endpoint: int | None = None) -> Histogram:
        """The response times that `total` has as timed."""
    def recent(self, endpoint: int | None = None) -> list[tuple[int, int, int]]:
        """(second, requests, failures) of each of the last 60 seconds that had any, ascending."""
    def recent_latency(self, endpoint: int | None, since: int) -> Histogram:
        """The response times of the seconds >= since, as far as they are among the last 60."""
    def failures(self) -> list[FailureTuple]:
        """Every failure so far, handed over or not."""
    def reset_totals(self) -> None:
        """These sums begin again, now. What is to be handed over stays as it is."""
    def reset_total(self, endpoint: int | None = None) -> None:
        """`total` and `latency` of one endpoint begin again, or those of all together; the others go on."""
    def absorb(self, endpoint: int, total: TotalTuple, response: Histogram, second: int | None = None) -> None:
        """Add to these sums, and to nothing else, what was recorded elsewhere. second: if all of it was in that one."""
    def socket_rows(self, endpoint: int) -> SocketRows | None:
        """Where messages that arrive on WebSockets of this endpoint, and their ends, are counted; None for names beyond
        the limit."""
    def message_row(self, endpoint: int) -> int | None:
        """Where messages that are sent under the name of this endpoint are counted; None for names beyond the limit."""
    def message_out(self, row: int, sent: int, size: int) -> None:
        """Count a message of `size` bytes that was written at `sent` (ns)."""
    def socket_closed(self, rows: SocketRows, sent: int, arrival: int, outcome: str, message: str) -> None:
        """Record the end of a WebSocket. sent: when this end closed it; the arrival, if the server did. ns."""
    def absorb_failure(
        self, endpoint: int, outcome: str, message: tuple[str, str, bool], seen: tuple[int, int, int]
    ) -> None:
        """The same with failures of one kind. message: three fields of a `FailureTuple`. seen: (count, first, last),
        stamps in ns."""

@final
class SpawnTimes:
    """When each of `users` starts, as Locust spawns: max(1, floor(rate)) at once, as often as `rate` allows."""

    def __new__(cls, users: int, rate: float) -> Self:
        """Raises ValueError unless 0 < rate <= 1e9."""
    def due(self, n: int) -> int | None:
        """ns from the start to the n-th user, counted from 0; None past the last."""

@final
class Shape:
    """A level over time: arrivals per second, or users. Immutable. Times in seconds, levels >= 0 and finite.

    Every constructor raises ValueError for what is out of range, naming the argument.
    """

    @staticmethod
    def constant(level: float, seconds: float | None = None) -> Shape:
        """seconds None: without end."""
    @staticmethod
    def ramp(start: float, end: float, seconds: float) -> Shape: ...
    @staticmethod
    def steps(steps: Sequence[tuple[float, float]]) -> Shape:
        """(seconds, level) one after the other."""
    @staticmethod
    def staircase(start: float, step: float, each: float, count: int, rise: float = 0.0) -> Shape:
        """count levels from `start` on, each held for `each` seconds; from one to the next within `rise` seconds."""
    @staticmethod
    def spike(base: float, peak: float, at: float, hold: float, seconds: float, rise: float = 0.0) -> Shape:
        """base, up to peak from `at` on within `rise`, held, and down again within `rise`, base until `seconds`."""
    @staticmethod
    def sine(mean: float, amplitude: float, period: float, seconds: float | None = None) -> Shape:
        """mean + amplitude * sin(2π t / period); amplitude <= mean."""
    @staticmethod
    def stages(stages: Sequence[tuple[float, float]], start: float = 0.0) -> Shape:
        """(seconds, target): linearly from the level before to each target. A stage of 0 seconds is a jump."""
    @staticmethod
    def replay(times: Sequence[float]) -> Shape:
        """Events at these seconds since the start, in any order; has no other spacing than its own.

        It lasts to the end of the whole second of the last one.
        """
    def level(self, at: float) -> float:
        """0 before 0 and from `seconds` on."""
    @property
    def seconds(self) -> float | None:
        """Its length; None: without end."""
    @property
    def count(self) -> float | None:
        """The integral over its length: arrivals in all. None: without end."""

@final
class Arrivals:
    """Due times of one phase in ns since its start, never decreasing; what worker `index` of `of` gets of them.

    limit: how many there are over all workers. Raises ValueError unless index < of.
    """

    def __new__(
        cls,
        shape: Shape,
        *,
        poisson: bool = False,
        seed: int = 0,
        index: int = 0,
        of: int = 1,
        limit: int | None = None,
    ) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...

@final
class Scenario:
    """What native users do, compiled from a definition in JSON; one per worker. Raises ValueError "field: reason"."""

    def __new__(cls, definition: str, *, index: int = 0, of: int = 1, seed: int = 0) -> Self: ...

@final
class NativeUsers:
    """Users in Rust who play a scenario without Python, in the closed model (`resize`) or the open one (`arrive`).

    max_users: most users at a time in the open model. drop: what finds all of them busy is dropped and counted instead
    of waiting for one. iterations, requests: how many this worker may begin; None = no limit. users_per_connection: so
    many users share their connections.
    """

    def __new__(
        cls,
        engine: Engine,
        recorder: Recorder,
        scenario: Scenario,
        *,
        max_users: int = 10_000,
        drop: bool = False,
        iterations: int | None = None,
        requests: int | None = None,
        users_per_connection: int = 1,
    ) -> Self: ...
    def resize(self, users: int) -> None:
        """Have so many users. New ones begin now; surplus ones end after the iteration they are in."""
    def arrive(self, arrivals: Arrivals, start: int) -> None:
        """Begin an iteration at each due time, counted from the stamp `start`. Several streams add up."""
    def end_arrivals(self, stamp: int) -> None:
        """Arrivals at this stamp or later do not come."""
    def stop(self) -> None:
        """No new iterations and no further arrivals; arrivals that wait, and iterations under way, are carried on."""
    def cut(self) -> None:
        """Cancel what is in flight, counted as cancelled; arrivals that wait are counted as dropped."""
    @property
    def active(self) -> int:
        """Users in an iteration, or (closed) thinking between two."""
    @property
    def users(self) -> int:
        """Users that exist, idle ones included."""
    @property
    def waiting(self) -> int:
        """Arrivals that wait for a user."""
    @property
    def done(self) -> bool:
        """Nothing is under way and nothing more will begin by itself.

        Arrivals, iterations, requests or rows of a feeder have run out, or it was stopped.
        """
    @property
    def authorizing(self) -> int:
        """Users that wait for a token. Their requests are not sent yet."""
    @property
    def ended_feeder(self) -> str | None:
        """The feeder whose rows have run out, so that nothing more begins."""
    @property
    def failure(self) -> str | None:
        """Why the run must end as failed: a feeder that ran out and may not."""
