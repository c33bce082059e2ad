"""The closed model cannot see a freeze as clients from outside would; a run of it must say so.

Ten users with 20 ms of service each make 500 requests/s, as many as the open model of `freeze_open.py`, of the same
target that stands still for 1 s of every 5 s. No more than ten requests meet a freeze, so the percentiles are far
from those of the open model. They agree with the target's record all the same, and the run warns of coordinated
omission.
"""

from collections.abc import Iterator

from ..lab import Lab, Load
from ..line import Line, fact
from . import distributions
from .case import Case

USERS = 10
TARGET = "/fixed?ms=20"
EVERY, LENGTH = 5.0, 1.0
CASE = "freeze, closed model"


def check(lab: Lab) -> Iterator[Case]:
    yield Case(CASE, lambda: judge(lab))


def judge(lab: Lab) -> Iterator[Line]:
    arguments = [lab.url(TARGET), "-u", str(USERS), "-r", str(USERS)]
    load = Load(arguments, lab.seconds(20, 10), probe=True, freeze=(EVERY, LENGTH))
    observation = lab.observe(load)
    yield from distributions.judge(CASE, TARGET, observation)
    warned = observation.report.warned_of_omission
    frozen = f"{len(observation.truth.freezes)} freezes"
    yield fact(CASE, "coordinated omission", frozen, "a warning" if warned else "no warning", "a warning", warned)
