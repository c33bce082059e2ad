"""A generator that is too busy spoils neither the service time nor its own verdict.

Ten users burn 5 ms of CPU before every request, so the worker's core is full. `service` must agree with the target's
record all the same, for arrivals are stamped by the kernel. (Connections are made beforehand: only the busy
generator knows when one of them was ready.) What the users wait for besides is in lag and delay: their time is
conserved,

    users · run time = Σ response + Σ delay + Σ burning

up to one cycle per user at either end. And the run calls itself invalid.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from ..lab import Lab, Load, Observation
from ..line import Line, fact
from ..plimsoll_run import INVALID, LOCUSTFILES
from . import distributions
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
    reported = f"exit code {observation.report.exit_code}"
    yield fact(CASE, "verdict", "too busy", reported, "exit code 3", observation.report.exit_code == INVALID)


def conserved(observation: Observation, burnt: Path) -> Line:
    """Where the users' time went."""
    total, delay = observation.report.total, observation.report.generator["delay_ms"]
    burning = json.loads(burnt.read_text())["seconds"]
    reported = total.mean_response() * total.requests + delay["mean"] / 1e3 * delay["count"] + burning
    truth = USERS * observation.report.document["duration_s"]
    # Of its first and of its last cycle each user may have any part within the run.
    error = 2 * USERS / total.requests
    holds = abs(reported - truth) <= error * truth
    return fact(CASE, "response + delay + burning", f"{truth:.1f} s", f"{reported:.1f} s", f"±{error:.1%}", holds)
