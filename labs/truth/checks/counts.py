"""The target's counts equal the reported ones, for any behaviour of the target and any end of the run.

Every sent exchange reaches the target, because loopback loses nothing. Exchanges that failed before sending (connect,
tls, dropped) are not counted here. So the tolerance is zero, at the end of the run time and after Ctrl-C in the middle.
Only an exchange that was cut off at once may have been about to connect, and was never sent: each exchange that is
reported as cancelled may or may not have been received.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ..lab import Lab, Load
from ..line import Line, exact, fact
from ..plimsoll_run import LOCUSTFILES, Endpoint
from .case import Case

USERS = 5
CLASSES = {"Plain": "HttpUser", "Fast": "FastHttpUser"}
UNSENT = ("connect", "tls", "dropped")
MB = 1_000_000


@dataclass(frozen=True)
class Behaviour:
    """A path, and the expected outcome of its exchanges."""

    target: str
    outcome: str = "success"
    body: int | None = None
    """Bytes of a decoded body; None: not checked."""
    endless: bool = False
    """Responses never end, so every exchange is cut off, long after it was sent."""


@dataclass(frozen=True)
class Chain:
    """A path that redirects."""

    target: str
    hops: int
    outcome: str = "success"


CHAINS = (Chain("/fixed?ms=5", 0), Chain("/redirect?n=3", 3), Chain("/redirect-loop", 30, "http"))
"""Clients stop after 30 hops."""


@dataclass(frozen=True)
class How:
    """An end of a run."""

    words: str
    finish: float
    """Time limit for requests in flight, s."""
    interrupt: float | None
    """Ctrl-C after this many seconds."""


HOWS = (How("", 10.0, None), How(", Ctrl-C", 10.0, 0.3), How(", Ctrl-C, cut off", 0.0, 0.3))


MALFORMED = (
    "not-http", "version", "status", "no-colon", "nul", "length", "two-lengths", "chunk-size", "chunk-end", "trailer"
)  # fmt: skip
BEHAVIOURS = (
    Behaviour("/fixed?ms=5", body=3),
    Behaviour("/lognormal?median_ms=5&sigma=0.5&seed=1", body=3),
    Behaviour("/bimodal?fast_ms=2&slow_ms=300&share=0.02&seed=1", body=3),
    Behaviour("/drip?bytes=10&every_ms=5", body=10),
    Behaviour("/bytes?n=1024", body=1024),
    Behaviour("/bytes?n=1000000", body=MB),
    Behaviour("/bytes?n=100000000", body=100 * MB),
    Behaviour("/chunked?n=10000&trailers=1", body=10_000),
    Behaviour("/close-delimited?n=10000", body=10_000),
    Behaviour("/keep-alive?requests=3"),
    Behaviour("/keep-alive?requests=3&silent=1"),
    # Native users decode a body only if a step needs it.
    Behaviour("/gzip?n=10000"),
    Behaviour("/br?n=10000"),
    Behaviour("/zstd?n=10000"),
    Behaviour("/interim", body=3),
    Behaviour("/cookies"),
    Behaviour("/wrong-length?by=-10", body=1000),
    Behaviour("/status?code=503", "http"),
    Behaviour("/reset?at=before", "reset"),
    Behaviour("/reset?at=head", "reset"),
    Behaviour("/reset?at=body", "reset"),
    Behaviour("/wrong-length?by=10", "reset"),
    Behaviour("/endless-header", "protocol"),
    *(Behaviour(f"/malformed?kind={kind}", "protocol") for kind in MALFORMED),
    Behaviour("/never", "unanswered", endless=True),
)

QUICK = {
    "/fixed?ms=5",
    "/gzip?n=10000",
    "/bytes?n=1000000",
    "/close-delimited?n=10000",
    "/keep-alive?requests=3",
    "/keep-alive?requests=3&silent=1",
    "/reset?at=head",
    "/malformed?kind=chunk-size",
    "/never",
}


def check(lab: Lab) -> Iterator[Case]:
    for behaviour in BEHAVIOURS:
        if not lab.quick or behaviour.target in QUICK:
            for how in HOWS[2:] if behaviour.endless else HOWS:
                yield Case(f"counts {behaviour.target}{how.words}", partial(compare, lab, behaviour, how))
    for user in CLASSES:
        for chain in CHAINS:
            yield Case(f"counts {chain.target}, {CLASSES[user]}", partial(python_users, lab, chain, user))
        yield Case(f"counts /cookies, {CLASSES[user]}", partial(cookies_come_back, lab, user))


def compare(lab: Lab, behaviour: Behaviour, how: How) -> Iterator[Line]:
    """The target's count and the run's; the outcomes; the bytes."""
    seconds = None if how.interrupt else 1
    crowded = [lab.url(behaviour.target), *crowd()]
    observation = lab.observe(Load(crowded, seconds, how.finish, how.interrupt, may_be_invalid=True))
    path = observation.truth.path(behaviour.target)
    report = observation.report
    endpoint = report.endpoint(behaviour.target) if how.finish else report.total
    name = f"counts {behaviour.target}{how.words}"
    unsure = 0 if behaviour.endless else endpoint.unanswered
    yield received(name, path.received, sent(endpoint), unsure)
    counted = {
        outcome: count for outcome, count in endpoint.outcomes().items() if outcome != "unanswered" or not unsure
    }
    ended = sent(endpoint) - unsure
    yield exact(name, "outcomes", {behaviour.outcome: ended} if ended else {}, counted)
    if behaviour.body is not None:
        yield exact(name, "bytes of bodies", behaviour.body * endpoint.count("success"), endpoint.body_bytes)


def received(name: str, truth: int, reported: int, unsure: int) -> Line:
    """unsure: reported exchanges that may not have been sent; at most one per user."""
    if unsure == 0:
        return exact(name, "requests", truth, reported)
    holds = reported - unsure <= truth <= reported and unsure <= USERS
    return fact(name, "requests", f"{truth:,}", f"{reported:,}", f"{unsure} cut off", holds)


def sent(endpoint: Endpoint) -> int:
    """Exchanges that must have reached the target."""
    return sum(count for outcome, count in endpoint.outcomes().items() if outcome not in UNSENT)


def python_users(lab: Lab, chain: Chain, user: str) -> Iterator[Line]:
    """The same for Python users, whose client follows redirects: one exchange for a chain."""
    target = chain.target
    arguments = ["-f", str(LOCUSTFILES / "get.py"), user, "-H", lab.target.url, *crowd()]
    observation = lab.observe(Load(arguments, 1, environment=(("TRUTH_TARGET", target),), may_be_invalid=True))
    endpoint = observation.report.endpoint(target)
    name = f"counts {target}, {CLASSES[user]}"
    yield exact(name, "outcomes", {chain.outcome: endpoint.requests}, endpoint.outcomes())
    all_of_them = sum(path.received for path in observation.truth.paths.values())
    yield exact(name, "requests with hops", all_of_them, endpoint.requests * (chain.hops + 1))


def cookies_come_back(lab: Lab, user: str) -> Iterator[Line]:
    """Each user sends its cookie with every request but the first."""
    arguments = ["-f", str(LOCUSTFILES / "cookies.py"), user, "-H", lab.target.url, *crowd()]
    observation = lab.observe(Load(arguments, 1, may_be_invalid=True))
    path = observation.truth.path("/cookies")
    requests = observation.report.endpoint("/cookies").requests
    name = f"counts /cookies, {CLASSES[user]}"
    yield exact(name, "requests", path.received, requests)
    yield exact(name, "with a cookie", path.cookies, requests - USERS)


def crowd() -> list[str]:
    return ["-u", str(USERS), "-r", str(USERS)]
