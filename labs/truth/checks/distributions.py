"""p50, p90, p99 and p99.9 of the service time equal those of the target's record, within the theoretical bounds.

`tolerance.py` derives the bounds: at least the target's time; at most that plus the overhead that an independent client
measured in the same seconds. If the samples are too few, p99.9 has no upper bound.
"""

from collections.abc import Iterator
from functools import partial

from ..lab import Lab, Load, Observation
from ..line import Line, exact, fact, milliseconds, within
from ..plimsoll_run import LOCUSTFILES
from ..tolerance import reported_bounds, value_at
from .case import Case

QUANTILES = (0.5, 0.9, 0.99, 0.999)
USERS = 20
CASES = (
    ("fixed", "/fixed?ms=5"),
    ("lognormal", "/lognormal?median_ms=5&sigma=0.5&seed=1"),
    ("bimodal", "/bimodal?fast_ms=5&slow_ms=1200&share=0.02&seed=1"),
)
BUSY = "/fixed?ms=0"
STALLED = "/keep-alive?requests=1"


def check(lab: Lab) -> Iterator[Case]:
    seconds = lab.seconds(20, 4)
    crowd = ["-u", str(USERS), "-r", str(USERS)]
    for name, target in CASES:
        native = Load([lab.url(target), *crowd], seconds, probe=True)
        arguments = ["-f", str(LOCUSTFILES / "get.py"), "Plain", "-H", lab.target.url, *crowd]
        python = Load(arguments, seconds, probe=True, environment=(("TRUTH_TARGET", target),))
        for case, load in ((f"{name}, native users", native), (f"{name}, HttpUser", python)):
            yield Case(case, partial(observe, lab, case, target, load))
    # A target at its limit answers one request after another. The engine then sleeps now and then, to read several
    # replies at once, and none of that may be in a service time.
    load = Load([lab.url(BUSY), "-u", "50", "-r", "1000"], lab.seconds(5, 2), probe=True, may_be_invalid=True)
    yield Case("full speed, native users", partial(observe, lab, "full speed, native users", BUSY, load))
    # Every request opens a connection, and for one second none is accepted. The kernel still completes the handshakes,
    # and the waiting times of these requests are in the record, so they must be in the report.
    load = Load([lab.url(STALLED), "--rate", "200/s"], lab.seconds(10, 5), probe=True, stall=1.0)
    yield Case("accept stall", partial(observe, lab, "accept stall", STALLED, load))


def observe(lab: Lab, case: str, target: str, load: Load) -> Iterator[Line]:
    yield from judge(case, target, lab.observe(load))


def judge(case: str, target: str, observation: Observation, connections: int | None = None) -> Iterator[Line]:
    """Counts first: percentiles are comparable only for the same exchanges.

    connections: exchanges that opened a connection; None: at most as many as the target counted."""
    path, endpoint = observation.truth.path(target), observation.report.endpoint(target)
    yield exact(case, "requests", path.received, endpoint.requests)
    yield from stamps(case, observation)
    times = path.seconds()
    made = len(observation.truth.connections) if connections is None else connections
    for quantile in QUANTILES:
        bounds = reported_bounds(quantile, times, observation.overhead, made, observation.truth.stamp_error)
        truth = milliseconds(value_at(quantile, times))
        yield within(case, f"service p{quantile * 100:g}", truth, endpoint.service(quantile), bounds)


def stamps(case: str, observation: Observation) -> Iterator[Line]:
    """Both sides use kernel stamps."""
    generator, truth = observation.report.generator, observation.truth
    ours = generator["user_stamps"] + generator["rejected_stamps"]
    reported, true = f"{ours} not the kernel's", f"{truth.user_stamps} not the kernel's"
    yield fact(case, "stamps", true, reported, "none", ours == 0 and truth.user_stamps == 0)
