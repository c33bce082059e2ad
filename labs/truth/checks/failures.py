"""Every way to fail has its own outcome, and the run goes on.

Each user makes one request that fails in a given way and a good one after it, through all the ways in turn. As many
good requests as failing ones must succeed, and each way must have nothing but its own outcome. A request that a kept
connection lost without an answer is sent once more, on a new one: that is reported too.
"""

import socket
from collections.abc import Iterator

from ..lab import Lab, Load
from ..line import Line, exact
from ..plimsoll_run import LOCUSTFILES
from .case import Case
from .counts import UNSENT, sent

USERS = 4
GOOD = "/fixed?ms=0"
WAYS = {
    "/never": "timeout",
    "/status?code=503": "http",
    "/reset?at=before": "reset",
    "/reset?at=head": "reset",
    "/reset?at=body": "reset",
    "/malformed?kind=not-http": "protocol",
    "/endless-header": "protocol",
    "/wrong-length?by=10": "reset",
    "/fixed?ms=0&judged": "assertion",
    "/connect": "connect",
    "/tls": "tls",
}


def check(lab: Lab) -> Iterator[Case]:
    yield Case("failures", lambda: judge(lab))


def judge(lab: Lab) -> Iterator[Line]:
    arguments = ["-f", str(LOCUSTFILES / "mixed.py"), "-H", lab.target.url, "-u", str(USERS), "-r", str(USERS)]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and not listening: nobody else can, as long as it is ours
        environment = (
            ("TRUTH_CLOSED_URL", f"http://127.0.0.1:{closed.getsockname()[1]}"),
            ("TRUTH_TLS_URL", f"https://127.0.0.1:{lab.target.port}"),
        )
        observation = lab.observe(Load(arguments, lab.seconds(8, 3), environment=environment, may_be_invalid=True))
    report, truth = observation.report, observation.truth
    failed = 0
    for target, outcome in WAYS.items():
        endpoint = report.endpoint(target)
        failed += endpoint.requests
        name = f"failures {target}"
        if outcome not in UNSENT:
            yield exact(name, "requests", truth.path(target).received, sent(endpoint) + endpoint.retries)
        yield exact(name, "outcomes", {outcome: endpoint.requests}, endpoint.outcomes())
    good = report.endpoint(GOOD)
    yield exact("failures, the run goes on", "good requests", failed, good.count("success"))
    yield exact("failures, the run goes on", "requests", truth.path(GOOD).received, good.requests)
