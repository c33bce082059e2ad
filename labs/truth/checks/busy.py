"""A busy generator changes neither the service times nor the truth of its figures.

Ten users use 5 ms of CPU before every request, so the worker's core is full. `service` must still agree with the
target's record, because the kernel stamps arrivals. (Connections are opened before: only the busy generator knows when
one of them was ready.) The other waits of the users are in lag and delay. Their time is conserved,

    users · run time = Σ response + Σ delay + Σ burning

up to one cycle per user at both ends. Each response percentile has a bracket that contains the truth, and the run
reports how much throughput the generator may have cost. It is valid: it had the requested users.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from ..lab import Lab, Load, Observation
from ..line import Line, fact, milliseconds
from ..plimsoll_run import INVALID, LOCUSTFILES
from . import brackets, distributions
from .case import Case

USERS = 10
TARGET = "/lognormal?median_ms=20&sigma=0.3&seed=1"

CASE = "busy generator"


def check(lab: Lab) -> Iterator[Case]:
    yield Case(CASE, lambda: judge(lab))


def judge(lab: Lab) -> Iterator[Line]:
    burnt = lab.folder / "burnt.json"
    arguments = ["-f", str(LOCUSTFILES / "busy.py"), "-H", lab.target.url, "-u", str(USERS), "-r", str(USERS)]
    environment = (("TRUTH_TARGET", TARGET), ("TRUTH_BURNT", str(burnt)))
    load = Load(arguments, lab.seconds(20, 6), probe=True, environment=environment, may_be_invalid=True)
    observation = lab.observe(load)
    yield from distributions.judge(CASE, TARGET, observation, connections=0)
    yield conserved(observation, burnt)
    for quantile, bracket in zip(brackets.QUANTILES, brackets.brackets(observation, TARGET), strict=True):
        reported = f"{milliseconds(bracket.low)} … {milliseconds(bracket.high)}"
        bounds = f"{milliseconds(bracket.bounds.low)} … {milliseconds(bracket.bounds.high)} ms"
        yield fact(CASE, f"response p{quantile * 100:g}, bracket", bounds, reported, "meets it", bracket.holds)
    found = [each for each in observation.report.unclean if each.startswith("throughput")]
    yield fact(CASE, "throughput", "too low", "; ".join(found) or "clean", "not clean", bool(found))
    code = observation.report.exit_code
    yield fact(CASE, "verdict", "load as asked for", f"exit code {code}", "not 3", code != INVALID)


def conserved(observation: Observation, burnt: Path) -> Line:
    """The sum of the users' times."""
    total, delay = observation.report.total, observation.report.generator["delay_ms"]
    burning = json.loads(burnt.read_text())["seconds"]
    reported = total.mean_response() * total.requests + delay["mean"] / 1e3 * delay["count"] + burning
    truth = USERS * observation.report.document["duration_s"]
    # Any part of each user's first and last cycle may be within the run.
    error = 2 * USERS / total.requests
    holds = abs(reported - truth) <= error * truth
    return fact(CASE, "response + delay + burning", f"{truth:.1f} s", f"{reported:.1f} s", f"±{error:.1%}", holds)
