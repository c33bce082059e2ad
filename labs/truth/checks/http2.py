"""HTTP/2: counts are exact, also on connections that users share, and times are those of the target's schedule.

The target is another one than that of the other checks: a server in Python with the library h2. It answers each request
DELAY after it has arrived, never earlier, and knows how late it was. So no request is faster than DELAY (less the error
of a histogram), and the median exceeds the target's own only by what both ways add: at most half of DELAY.
Requests and connections are those that the target has received.
"""

from collections.abc import Iterator
from functools import partial
from statistics import median

from ..http2_target import Http2Target
from ..lab import Lab, Load
from ..line import Line, exact, milliseconds, within
from ..tolerance import HDR_ERROR, UNIT, Bounds
from .case import Case

DELAY = 0.02
PATH = f"/fixed?ms={DELAY * 1e3:g}"
USERS = 10


def check(lab: Lab) -> Iterator[Case]:
    users = ["-u", str(USERS)]
    loads = (
        ("http2, closed model", users, USERS, 1),
        ("http2, five users per connection", [*users, "--users-per-connection", "5"], USERS // 5, 5),
        ("http2, open model", ["--rate", "100/s", "--max-users", str(USERS)], None, 1),
    )
    for name, load, connections, streams in loads:
        yield Case(name, partial(observe, lab, name, load, connections, streams))


def observe(lab: Lab, case: str, load: list[str], connections: int | None, streams: int) -> Iterator[Line]:
    """connections: those that must have been made, if that is known. streams: most of a connection at a time."""
    target = Http2Target()
    try:
        arguments = [f"http://{target.place}{PATH}", "--http2", *load]
        report = lab.observe(Load(arguments, lab.seconds(10, 2), may_be_invalid=True)).report
    finally:
        target.close()
    row = report.row("GET", PATH)
    yield exact(case, "requests", {"success": target.requests[f"GET {PATH}"]}, row.outcomes())
    yield exact(case, "requests in the total", target.requests.total(), report.total.requests)
    if connections is not None:
        yield exact(case, "connections", connections, target.connections)
        yield exact(case, "streams of a connection", streams, target.most_streams)
    truth = median(target.seconds)
    bounds = Bounds(DELAY * (1 - HDR_ERROR) - UNIT, truth + DELAY / 2)
    yield within(case, "service p50", milliseconds(truth), row.service(0.5), bounds)
