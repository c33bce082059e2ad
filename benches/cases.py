"""The measurements: each generator at the same load, some also with larger responses and more users."""

from . import grpc
from .cost import Case
from .memory import IdleCase
from .open_model import Arrivals, OpenCase
from .scale import Paced, ScaleCase
from .subjects import K6, H2load, LocustRun, Native, Oha, PlimsollRun, Shb, Subject, Tungstenite, Wrk

USERS = 50
MORE_USERS = (1_000, 10_000)

STREAMS = 10
"""Requests of a connection at a time, with HTTP/2."""

WRK = Wrk()
NATIVE = Native()
HTTP2 = (H2load(), Native("plimsoll native users, HTTP/2"))
GRPC = (grpc.Posts(), grpc.Calls(), grpc.Ghz(), grpc.K6Calls())
SOCKET_PEERS = (Tungstenite(), K6("k6, WebSocket", "k6-socket.js", "ws_msgs_received"))
SOCKETS = (*SOCKET_PEERS, Native("plimsoll native users, WebSocket"))
EVENTS = Native("plimsoll native users, events")
PLIMSOLL_URL = PlimsollRun("plimsoll run URL")
PLIMSOLL_LOGGED = PlimsollRun("plimsoll run URL --log-exchanges", logged=True)
PLIMSOLL_TRIVIAL = (
    PlimsollRun("plimsoll trivial HttpUser", "trivial.py", "TrivialHttp"),
    PlimsollRun("plimsoll trivial FastHttpUser", "trivial.py", "TrivialFast"),
)
PLIMSOLL_REALISTIC = (
    PlimsollRun("plimsoll realistic HttpUser", "realistic.py", "RealisticHttp"),
    PlimsollRun("plimsoll realistic FastHttpUser", "realistic.py", "RealisticFast"),
)
LOCUST_TRIVIAL = (
    LocustRun("locust trivial HttpUser", "trivial.py", "TrivialHttp"),
    LocustRun("locust trivial FastHttpUser", "trivial.py", "TrivialFast"),
)
LOCUST_REALISTIC = (
    LocustRun("locust realistic HttpUser", "realistic.py", "RealisticHttp"),
    LocustRun("locust realistic FastHttpUser", "realistic.py", "RealisticFast"),
)

IDLE = (
    IdleCase(PlimsollRun("plimsoll idle user, never connected", "idle.py", "IdleNew"), 10_000),
    IdleCase(PlimsollRun("plimsoll idle user, connected", "idle.py", "IdleConnected"), 10_000),
    IdleCase(LocustRun("locust idle user, never connected", "idle.py", "IdleNew"), 2_000),
    IdleCase(LocustRun("locust idle user, connected", "idle.py", "IdleConnected"), 2_000),
)

PACED = (
    (Paced("plimsoll HttpUser", "PacedHttp"), (10_000, 50_000)),
    (Paced("plimsoll FastHttpUser", "PacedFast"), (10_000, 50_000)),
    (Paced("plimsoll native users", None), (100_000,)),
)
SCALE = tuple(ScaleCase(subject, users) for subject, counts in PACED for users in counts)
MILLION = ScaleCase(Paced("plimsoll native users", None), 1_000_000)
"""Apart from the others, because they take ten minutes."""

OPEN_URL = "plimsoll run URL"
FAST_RATE = 50_000
OPEN = (
    *(OpenCase(Arrivals(OPEN_URL, rate)) for rate in (1_000, 10_000, 20_000, FAST_RATE)),
    *(OpenCase(Arrivals("plimsoll trivial HttpUser", rate, "TrivialHttp")) for rate in (1_000, 5_000)),
    *(OpenCase(Arrivals("plimsoll trivial FastHttpUser", rate, "TrivialFast")) for rate in (1_000, 5_000)),
)


def groups(quick: bool) -> dict[str, list[Case]]:
    """What is measured in turns: by title, the cases in the order of the first round. Costs are only compared within a
    group. quick: only the 100-byte response at 50 users."""
    trivial: list[Subject] = [WRK, Shb(), Oha(), K6(), NATIVE, PLIMSOLL_URL, *PLIMSOLL_TRIVIAL, *LOCUST_TRIVIAL]
    realistic: list[Subject] = [*PLIMSOLL_REALISTIC, *LOCUST_REALISTIC]
    small = [Case(subject, "/small", USERS) for subject in (*trivial, PLIMSOLL_LOGGED)]
    small += [Case(subject, "/orders", USERS) for subject in realistic]
    found = {
        "small replies": small,
        "HTTP/2": [Case(subject, "/small", USERS, STREAMS) for subject in HTTP2],
        "gRPC": [Case(subject, grpc.PATH, USERS, STREAMS) for subject in GRPC],
        "messages and events": [
            *(Case(subject, "/echo", USERS) for subject in SOCKETS),
            Case(EVENTS, "/events", USERS),
        ],
    }
    if not quick:
        scaling: list[Subject] = [WRK, NATIVE, *PLIMSOLL_TRIVIAL]
        small += [Case(subject, "/small", users) for users in MORE_USERS for subject in scaling]
        found["large replies"] = [Case(subject, "/large", USERS) for subject in trivial]
    return found


def open_cases(quick: bool) -> list[OpenCase]:
    """quick: only the highest rate."""
    return [case for case in OPEN if not quick or case.subject.rate == FAST_RATE]


def scale_cases(quick: bool) -> list[ScaleCase]:
    """quick: none, because starting so many users takes long."""
    return [] if quick else list(SCALE)
