"""While another process keeps every core busy, the report's brackets contain the truth, and no run is invalid.

A report gives for each response time the share that the generator may have added. So the true value, that of a
generator that sends on time, is between the figure minus its share and the figure. The truth is the target's record,
with the schedule's due times if arrivals wait for a user. Its error is what lies outside of that record, as for
distributions (`tolerance.py`). A bracket is correct if it overlaps these bounds. At least 95 % of all brackets must be.

The runs are simple: a few users or arrivals, for a few seconds. None of them may be invalid because of the other
process.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..lab import Lab, Load, Observation
from ..line import Line, fact
from ..neighbour import busy_neighbour
from ..plimsoll_run import INVALID, LOCUSTFILES
from ..tolerance import Bounds, reported_bounds
from .case import Case

CASE = "beside a busy neighbour"
TARGET = "/lognormal?median_ms=5&sigma=0.5&seed=1"
QUANTILES = (0.5, 0.9, 0.95, 0.99)
CONTAINED = 0.95
"""Minimum share of brackets that contain the truth."""


@dataclass(frozen=True)
class Bracket:
    """Of one figure, in s."""

    bounds: Bounds
    """The bounds of the truth."""
    low: float
    high: float

    @property
    def holds(self) -> bool:
        return self.low <= self.bounds.high and self.high >= self.bounds.low


def check(lab: Lab) -> Iterator[Case]:
    yield Case(CASE, lambda: judge(lab))


def judge(lab: Lab) -> Iterator[Line]:
    found: list[Bracket] = []
    codes: list[int] = []
    with busy_neighbour():
        for _ in range(2 if lab.quick else 5):
            for load in loads(lab):
                observation = lab.observe(load)
                codes.append(observation.report.exit_code)
                found += brackets(observation, TARGET)
    held = sum(each.holds for each in found)
    reported = f"{held} of {len(found)}"
    yield fact(CASE, "brackets with the truth", str(len(found)), reported, "≥ 95 %", held >= CONTAINED * len(found))
    wide = sum(each.low < each.high for each in found)
    yield fact(CASE, "figures with a share", "some", f"{wide} of {len(found)}", "≥ 1", wide > 0)
    invalid = codes.count(INVALID)
    yield fact(CASE, "invalid runs", "0", f"{invalid} of {len(codes)}", "equal", invalid == 0)


def loads(lab: Lab) -> Iterator[Load]:
    """Native and Python users, in the closed and in the open model."""
    seconds = lab.seconds(6, 3)
    locustfile = ["-f", str(LOCUSTFILES / "get.py"), "Plain", "-H", lab.target.url]
    for arguments in (
        [lab.url(TARGET), "-u", "10", "-r", "10"],
        [lab.url(TARGET), "--rate", "100/s"],
        [*locustfile, "-u", "5", "-r", "5"],
    ):
        environment = (("TRUTH_TARGET", TARGET),)
        yield Load(arguments, seconds, probe=True, environment=environment, may_be_invalid=True)


def brackets(observation: Observation, target: str) -> list[Bracket]:
    """One per percentile of the response time. No arrival may have waited for a user."""
    truth, endpoint = observation.truth, observation.report.endpoint(target)
    times = truth.path(target).seconds()
    found = []
    for quantile in QUANTILES:
        bounds = reported_bounds(quantile, times, observation.overhead, len(truth.connections), truth.stamp_error)
        high = endpoint.response(quantile)
        found.append(Bracket(bounds, high - endpoint.share(quantile), high))
    return found
