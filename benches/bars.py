"""The bars for Plimsoll's own cost: each is a ratio or a size with a limit, and passes or fails."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from . import grpc
from .cases import EVENTS, FAST_RATE, MILLION, OPEN_URL, PLIMSOLL_LOGGED, PLIMSOLL_URL, SOCKET_PEERS, SOCKETS
from .results import Key, Results
from .rounds import Mean, Ratio

WRK, SHB, NATIVE = "wrk", "shb", "plimsoll native users"
H2LOAD, HTTP2 = "h2load", "plimsoll native users, HTTP/2"
POST, CALL = grpc.Posts().name, grpc.Calls().name
CALLERS = grpc.Ghz().name, grpc.K6Calls().name
IDLE_KIB = 16.0
NATIVE_KIB = 1.0
MILLION_MIB = 4096.0
"""All of a million native users."""
LAG_MS = 1.0
LOG_US = 1.0
MANY_USERS = 10_000
FEW_USERS = 50


@dataclass(frozen=True)
class Bar:
    """One bar and the measured figure."""

    what: str
    measured: float
    limit: float
    unit: str
    at_least: bool = False
    interval: tuple[float, float] | None = None
    """The 95 % interval, of a figure that was measured in turns."""

    @classmethod
    def of(cls, what: str, found: Mean | Ratio, limit: float, unit: str, at_least: bool = False) -> "Bar":
        return cls(what, found.value, limit, unit, at_least, (found.low, found.high))

    @property
    def holds(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        word = "holds" if self.holds else "MISSES"
        if self.interval and self.interval[0] <= self.limit <= self.interval[1]:
            return f"{word} (limit within the interval)"
        return word


TIMES_WRK: Mapping[str, float] = {
    "plimsoll native users": 0.85,
    "plimsoll trivial HttpUser": 1.25,
    "plimsoll trivial FastHttpUser": 1.25,
    "plimsoll realistic HttpUser": 2.0,
    "plimsoll realistic FastHttpUser": 2.0,
}
TIMES_SHB = 0.95
"""Native users."""
TIMES_H2LOAD = 1.0
"""50 connections with 10 streams each."""
TIMES_POST = 1.3
"""Calls of gRPC, against the same bytes as requests over HTTP/2."""
TIMES_CHEAPER = 5.0
"""Other generators of calls cost at least so many times as much."""
TIMES_SOCKET_PEER = 1.0
"""Of each peer: a message and its echo."""
EVENT_US = 1.0
"""An event of a stream whose events arrive many at a time."""
LARGE_TIMES_WRK = 0.8
"""Native users with responses of 27 kB."""
GROWTH = ("plimsoll native users", "plimsoll trivial HttpUser", "plimsoll trivial FastHttpUser")
"""Their cost grows with the number of users by no more than wrk's in the same round."""
TIMES_GROWTH = 1.0


def bars(results: Results) -> Iterator[Bar]:
    """Every bar with measured figures."""
    yield from _costs(results)
    yield from _open_model(results)
    yield from _users(results)


def _costs(results: Results) -> Iterator[Bar]:
    wrk = WRK, "/small", FEW_USERS
    native, http2 = ((name, "/small", FEW_USERS) for name in (NATIVE, HTTP2))
    for name, limit in TIMES_WRK.items():
        path = "/orders" if "realistic" in name else "/small"
        yield from _ratio(results, f"{name}: CPU per request", (name, path, FEW_USERS), wrk, limit)
    yield from _ratio(results, f"{NATIVE}: CPU per request", native, (SHB, "/small", FEW_USERS), TIMES_SHB)
    yield from _ratio(results, f"{HTTP2}: CPU per request", http2, (H2LOAD, "/small", FEW_USERS), TIMES_H2LOAD)
    call = CALL, grpc.PATH, FEW_USERS
    yield from _ratio(results, f"{CALL}: CPU per call", call, (POST, grpc.PATH, FEW_USERS), TIMES_POST)
    for name in CALLERS:
        if times := results.ratio((name, grpc.PATH, FEW_USERS), call):
            yield Bar.of(f"{CALL}: {name} costs", times, TIMES_CHEAPER, "× as much", at_least=True)
    echo = SOCKETS[-1].name, "/echo", FEW_USERS
    for peer in SOCKET_PEERS:
        other = peer.name, "/echo", FEW_USERS
        yield from _ratio(results, f"{SOCKETS[-1].name}: CPU per round trip", echo, other, TIMES_SOCKET_PEER)
    if event := results.cpu_us(EVENTS.name, "/events", FEW_USERS):
        yield Bar(f"{EVENTS.name}: CPU per event", event, EVENT_US, "µs")
    large = f"{NATIVE}, responses of 27 kB: CPU per request"
    yield from _ratio(results, large, (NATIVE, "/large", FEW_USERS), (WRK, "/large", FEW_USERS), LARGE_TIMES_WRK)
    plain, logged = ((each.name, "/small", FEW_USERS) for each in (PLIMSOLL_URL, PLIMSOLL_LOGGED))
    if rounds := results.by_round(plain, logged):
        # The coordinator writes the file, which is no load on the worker's loop.
        more = Mean.of([with_log.workers_us - without.workers_us for without, with_log in rounds])
        yield Bar.of(f"{PLIMSOLL_LOGGED.name}: CPU per request more in the worker", more, LOG_US, "µs")
    for name in GROWTH:
        yield from _growth(results, name)


def _ratio(results: Results, what: str, one: Key, other: Key, limit: float) -> Iterator[Bar]:
    """Nothing if one of them was not measured."""
    if times := results.ratio(one, other):
        yield Bar.of(what, times, limit, f"× {other[0]}")


def _growth(results: Results, name: str) -> Iterator[Bar]:
    """Nothing if it or wrk was not measured with many users and with few."""
    keys = [(each, "/small", users) for each in (name, WRK) for users in (MANY_USERS, FEW_USERS)]
    if rounds := results.by_round(*keys):
        growths = [
            (many.cpu_us / few.cpu_us, wrk_many.cpu_us / wrk_few.cpu_us) for many, few, wrk_many, wrk_few in rounds
        ]
        what = f"{name}: {MANY_USERS:,} users against {FEW_USERS}"
        yield Bar.of(what, Ratio.of(growths), TIMES_GROWTH, "× wrk's growth")


def _open_model(results: Results) -> Iterator[Bar]:
    if fast := results.open_cost(OPEN_URL, FAST_RATE):
        yield Bar(f"{OPEN_URL} at {FAST_RATE:,}/s: lag p99", fast.lag_p99_ms, LAG_MS, "ms")


def _users(results: Results) -> Iterator[Bar]:
    for name, idle in results.idle.items():
        if name.startswith("plimsoll"):
            yield Bar(f"{name}: memory per user", idle.kib_per_user, IDLE_KIB, "KiB")
    for (name, users), cost in results.scale.items():
        limit = NATIVE_KIB if "native" in name else IDLE_KIB
        yield Bar(f"{name}, {users:,}: memory per user", cost.kib_per_user, limit, "KiB")
        yield Bar(f"{name}, {users:,}: errors", cost.errors, 0.0, "requests")
        if users == MILLION.users:
            yield Bar(f"{name}, {users:,}: memory in all", cost.resident_mb, MILLION_MIB, "MiB")
