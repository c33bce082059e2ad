"""WebSockets: counts are exact, round trips are those of the target's schedule.

The target returns each message DELAY after its arrival, never earlier. So no round trip is faster than that (less the
error of a histogram), and the median exceeds it only by what the target's timers and a busy machine add: at most half
of DELAY. Messages and connections are those that the target has received, in the closed and the open model.
"""

from collections.abc import Iterator
from functools import partial

from ..lab import Lab, Load
from ..line import Line, exact, milliseconds, within
from ..tolerance import HDR_ERROR, UNIT, Bounds
from .case import Case

DELAY = 0.02
QUERY = f"?ms={DELAY * 1e3:g}"
TARGET, MESSAGES = f"/ws{QUERY}", f"/ws/message{QUERY}"


def check(lab: Lab) -> Iterator[Case]:
    loads = (("sockets, closed model", ["-u", "5", "-r", "5"]), ("sockets, open model", ["--rate", "100/s"]))
    for name, load in loads:
        yield Case(name, partial(observe, lab, name, load))


def observe(lab: Lab, case: str, load: list[str]) -> Iterator[Line]:
    url = lab.url(TARGET).replace("http://", "ws://", 1)
    arguments = [url, "--message", '{"n": ${iteration}}', *load]
    observation = lab.observe(Load(arguments, lab.seconds(10, 2), may_be_invalid=True))
    report, truth = observation.report, observation.truth
    opened, received = truth.path(TARGET).received, truth.path(MESSAGES).received
    connect, reply, sent, came = (
        report.row(method, TARGET) for method in ("WS", "WS receive", "message out", "message in")
    )
    yield exact(case, "connections", {"success": opened}, connect.outcomes())
    yield exact(case, "round trips", {"success": received}, reply.outcomes())
    yield exact(case, "messages out", received, sent.requests)
    yield exact(case, "messages in", received, came.requests)
    yield exact(case, "requests in the total", opened + received, report.total.requests)
    bounds = Bounds(DELAY * (1 - HDR_ERROR) - UNIT, DELAY * 1.5)
    yield within(case, "round trip p50", milliseconds(DELAY), reply.service(0.5), bounds)
