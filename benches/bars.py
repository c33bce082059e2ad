"""The bars for Plimsoll's own cost: each is a ratio or a size with a limit, and passes or fails."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .cases import FAST_RATE, LOGGED_RATE, OPEN_LOGGED, OPEN_URL
from .results import Results

IDLE_KIB = 16.0
NATIVE_KIB = 1.0
LAG_MS = 1.0
LOG_US = 1.0
FLAT = 1.3
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

    @property
    def holds(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


TIMES_WRK: Mapping[str, float] = {
    "plimsoll native users": 1.0,
    "plimsoll trivial HttpUser": 2.0,
    "plimsoll trivial FastHttpUser": 2.0,
    "plimsoll realistic HttpUser": 4.0,
    "plimsoll realistic FastHttpUser": 4.0,
}
LESS_THAN_LOCUST: Mapping[str, float] = {"plimsoll trivial HttpUser": 15.0, "plimsoll trivial FastHttpUser": 15.0}
STAYS_FLAT = ("plimsoll native users", "plimsoll trivial HttpUser", "plimsoll trivial FastHttpUser")


def bars(results: Results) -> Iterator[Bar]:
    """Every bar with measured figures."""
    yield from _costs(results)
    yield from _open_model(results)
    yield from _users(results)


def _costs(results: Results) -> Iterator[Bar]:
    wrk = results.cpu_us("wrk", "/small", FEW_USERS)
    locust = results.cpu_us("locust trivial FastHttpUser", "/small", FEW_USERS)
    for name, limit in TIMES_WRK.items():
        path = "/orders" if "realistic" in name else "/small"
        cost = results.cpu_us(name, path, FEW_USERS)
        if cost and wrk:
            yield Bar(f"{name}: CPU per request", cost / wrk, limit, "× wrk")
    for name, limit in LESS_THAN_LOCUST.items():
        cost = results.cpu_us(name, "/small", FEW_USERS)
        if cost and locust:
            yield Bar(f"{name}: Locust's FastHttpUser costs", locust / cost, limit, "× as much", at_least=True)
    for name in STAYS_FLAT:
        few, many = (results.cpu_us(name, "/small", users) for users in (FEW_USERS, MANY_USERS))
        if few and many:
            yield Bar(f"{name}: {MANY_USERS:,} users against {FEW_USERS}", many / few, FLAT, "×")


def _open_model(results: Results) -> Iterator[Bar]:
    if fast := results.open_cost(OPEN_URL, FAST_RATE):
        yield Bar(f"{OPEN_URL} at {FAST_RATE:,}/s: lag p99", fast.lag_p99_ms, LAG_MS, "ms")
    plain, logged = (results.open_cost(name, LOGGED_RATE) for name in (OPEN_URL, OPEN_LOGGED))
    if plain and logged:
        # The coordinator packs and writes. The table shows its cost, which is no load on the worker's loop.
        more = logged.workers_us - plain.workers_us
        yield Bar(f"{OPEN_LOGGED}: CPU per request more in the worker", more, LOG_US, "µs")


def _users(results: Results) -> Iterator[Bar]:
    for name, idle in results.idle.items():
        if name.startswith("plimsoll"):
            yield Bar(f"{name}: memory per user", idle.kib_per_user, IDLE_KIB, "KiB")
    for (name, users), cost in results.scale.items():
        limit = NATIVE_KIB if "native" in name else IDLE_KIB
        yield Bar(f"{name}, {users:,}: memory per user", cost.kib_per_user, limit, "KiB")
        yield Bar(f"{name}, {users:,}: errors", cost.errors, 0.0, "requests")
