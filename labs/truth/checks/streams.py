"""The events of a stream: counts are exact, times are those of the target's schedule.

The target sends the first event after FIRST, and the next ones EVERY after one another, counted from the arrival of the
request, never earlier. So no first event and no whole exchange is faster than the schedule (less the error of a
histogram), and the sum of the gaps of a stream is that of the schedule, less the lateness of its first event and plus
that of its last. The target's timers and a busy machine make events late, and the median gap vary: it must be within
half and double of EVERY.
"""

from collections.abc import Iterator
from functools import partial
from math import inf

from ..lab import Lab, Load
from ..line import Line, exact, milliseconds, within
from ..tolerance import HDR_ERROR, UNIT, Bounds
from .case import Case

EVENTS, FIRST, EVERY = 10, 0.05, 0.02
TARGET = f"/events?n={EVENTS}&first_ms={FIRST * 1e3:g}&every_ms={EVERY * 1e3:g}"


def check(lab: Lab) -> Iterator[Case]:
    for name, load in (("events, closed model", ["-u", "5", "-r", "5"]), ("events, open model", ["--rate", "20/s"])):
        yield Case(name, partial(observe, lab, name, load))


def observe(lab: Lab, case: str, load: list[str]) -> Iterator[Line]:
    arguments = [lab.url(TARGET), "--stream", "sse", *load]
    observation = lab.observe(Load(arguments, lab.seconds(10, 2), may_be_invalid=True))
    report, received = observation.report, observation.truth.path(TARGET).received
    request, first, event = (report.row(method, TARGET) for method in ("GET", "first event", "each event"))
    yield exact(case, "requests", {"success": received}, request.outcomes())
    yield exact(case, "requests in the total", received, report.total.requests)
    yield exact(case, "first events", received, first.requests)
    yield exact(case, "events", EVENTS * received, event.requests)
    least = FIRST + (EVENTS - 1) * EVERY
    for name, endpoint, time in (("first event p50", first, FIRST), ("whole exchange p50", request, least)):
        yield within(case, name, milliseconds(time), endpoint.service(0.5), Bounds(time * (1 - HDR_ERROR) - UNIT, inf))
    yield within(case, "gap p50", milliseconds(EVERY), event.service(0.5), Bounds(EVERY / 2, EVERY * 2))
