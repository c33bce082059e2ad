"""A run in the open model measures a freeze as independent clients see it.

500 arrivals/s, and a target that freezes for the last second of every five. One fifth of the arrivals meet a freeze and
wait between 0 and 1 s for its end, uniformly: p90 of the response time is 0.5 s and p99 0.95 s. The report is compared
with two results: this arithmetic (exact to 1 / rate, plus the time that the target needs for the backlog), and the
target's record with the schedule's due times (`arrivals.py`; bounds as for distributions).

With enough users, each arrival is sent at once, and `service` is nearly `response`. With 50 users, arrivals that find
all of them busy wait for one: `response` is the same, and `service` is the target's time for the few requests that
reached it.
"""

import math
from collections.abc import Iterator
from functools import partial

from ..arrivals import TIMER_SLACK, Scheduled
from ..lab import Lab, Load, Observation
from ..line import Line, exact, milliseconds, within
from ..tolerance import Bounds, reported_bounds, value_at, waits_after_freezes, widened
from .case import Case
from .distributions import judge

RATE = 500
TARGET = "/fixed?ms=0"
EVERY, LENGTH = 5.0, 1.0
QUANTILES = (0.9, 0.99)


def check(lab: Lab) -> Iterator[Case]:
    for case, limit in (("freeze, open model", []), ("freeze, open model, 50 users", ["--max-users", "50"])):
        yield Case(case, partial(observe, lab, case, limit))


def observe(lab: Lab, case: str, limit: list[str]) -> Iterator[Line]:
    seconds = lab.seconds(20, 10)
    arguments = [lab.url(TARGET), "--rate", f"{RATE}/s", *limit]
    observation = lab.observe(Load(arguments, seconds, probe=True, freeze=(EVERY, LENGTH)))
    yield exact(case, "arrivals", RATE * round(seconds), observation.truth.path(TARGET).received)
    yield from judge(case, TARGET, observation)
    yield from responses(case, observation)


def responses(case: str, observation: Observation) -> Iterator[Line]:
    """Each percentile against both results."""
    truth, endpoint = observation.truth, observation.report.endpoint(TARGET)
    times = Scheduled(truth.path(TARGET), RATE).responses()
    piled = worked_off(observation)
    for quantile in QUANTILES:
        name, reported = f"response p{quantile * 100:g}", endpoint.response(quantile)
        wait = waits_after_freezes(quantile, LENGTH / EVERY, LENGTH)
        arithmetic = widened(Bounds(wait - 1 / RATE, wait + 1 / RATE + piled))
        yield within(case, f"{name}, by arithmetic", milliseconds(wait), reported, arithmetic)
        bounds = reported_bounds(
            quantile, times, observation.overhead, len(truth.connections), truth.stamp_error + TIMER_SLACK
        )
        yield within(case, f"{name}, by the record", milliseconds(value_at(quantile, times)), reported, bounds)


def worked_off(observation: Observation) -> float:
    """The longest time, s, from the end of a freeze to the response of the last arrival that was due before that
    end."""
    completions = observation.truth.path(TARGET).completions()
    longest = 0.0
    begin = Scheduled(observation.truth.path(TARGET), RATE).start
    for _, end in observation.truth.freezes:
        due = math.floor((end - begin) * RATE) + 1
        if 0 < due <= len(completions):
            longest = max(longest, completions[due - 1] - end)
    return longest
