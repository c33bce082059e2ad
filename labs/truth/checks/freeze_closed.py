"""A run in the closed model cannot measure a freeze as independent clients would see it, and must say so.

Ten users with 20 ms of service each send 500 requests/s, as in the open model of `freeze_open.py`, to the same target,
which freezes for 1 s of every 5 s. At most ten requests meet a freeze, so the percentiles are far from those of the
open model. They still agree with the target's record, and the run warns of coordinated omission.
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
    # With 10 s the second of two freezes may be in the last second, which no pace is computed from.
    load = Load(arguments, lab.seconds(20, 12), probe=True, freeze=(EVERY, LENGTH))
    observation = lab.observe(load)
    yield from distributions.judge(CASE, TARGET, observation)
    warned = observation.report.warned_of_omission
    frozen = f"{len(observation.truth.freezes)} freezes"
    yield fact(CASE, "coordinated omission", frozen, "a warning" if warned else "no warning", "a warning", warned)
